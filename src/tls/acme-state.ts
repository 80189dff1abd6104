/**
 * The stored state of the certificate that a CA issues over ACME: the account, the certificate with
 * its private key, and the last failure. It is sealed as a whole, and in the database, so that a
 * backup has it as well.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readInstallationValue, storeInstallationValue } from "../db/installation-values.ts";
import type { Db } from "../db/open.ts";
import { deriveKey, seal, unseal } from "../lib/crypto.ts";

const AcmeState = Type.Object({
  /** The CA that the account and the certificate are of. */
  directory: Type.String(),
  /** Private key of the account, in PEM. */
  accountKey: Type.String(),
  certificate: Type.Union([
    Type.Null(),
    Type.Object({ cert: Type.String(), key: Type.String(), names: Type.Array(Type.String()) }),
  ]),
  /** When the CA was asked for renewal information, and the time for the renewal that was chosen. */
  renewal: Type.Union([
    Type.Null(),
    Type.Object({
      askedAt: Type.Number(),
      startMs: Type.Union([Type.Null(), Type.Number()]),
      renewAt: Type.Union([Type.Null(), Type.Number()]),
    }),
  ]),
  /** The tries that have failed since the last certificate. */
  failure: Type.Union([
    Type.Null(),
    Type.Object({ count: Type.Number(), retryAt: Type.Number(), message: Type.String() }),
  ]),
});

export type AcmeState = Static<typeof AcmeState>;

const keyOf = (secret: string) => deriveKey(secret, "acme");

/** Null if nothing is stored, or if the secret is another one. */
export function readAcmeState(db: Pick<Db, "sqlite">, secret: string): AcmeState | null {
  const stored = readInstallationValue(db, "acme");
  return stored === null ? null : openAcmeState(keyOf(secret), Buffer.from(stored, "base64"));
}

/** Null if the key is another one. */
export function openAcmeState(key: Uint8Array, sealed: Uint8Array): AcmeState | null {
  const opened = unseal(key, sealed);
  if (opened === null) return null;
  const state: unknown = JSON.parse(opened.toString());
  return Value.Check(AcmeState, state) ? state : null;
}

/** Part of a change. */
export function storeAcmeState(db: Pick<Db, "sqlite">, secret: string, state: AcmeState): void {
  storeInstallationValue(db, "acme", sealAcmeState(keyOf(secret), state).toString("base64"));
}

export const sealAcmeState = (key: Uint8Array, state: AcmeState): Buffer =>
  seal(key, Buffer.from(JSON.stringify(state)));
