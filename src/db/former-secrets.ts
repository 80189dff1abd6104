/**
 * Secrets of the installations that projects came from. With them the links and addresses in mail that
 * was sent there still open, for the mails of these projects only (core/signed-ids.ts).
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { deriveKey, seal, unseal } from "../lib/crypto.ts";
import { readInstallationValue, storeInstallationValue } from "./installation-values.ts";
import type { Db } from "./open.ts";

const FormerSecrets = Type.Array(Type.Object({ projectId: Type.String(), secret: Type.String() }));
export type FormerSecret = Static<typeof FormerSecrets>[number];

/** Every link that is wrong is compared with the keys of each. */
export const MAX_FORMER_SECRETS = 100;

export function readFormerSecrets(db: Pick<Db, "sqlite">, secret: string): FormerSecret[] {
  const stored = readInstallationValue(db, "former_secrets");
  if (stored === null) return [];
  const opened = unseal(keyOf(secret), Buffer.from(stored, "base64"));
  if (opened === null) return [];
  const value: unknown = JSON.parse(opened.toString());
  return Value.Check(FormerSecrets, value) ? value : [];
}

/** Part of a change, or before the writer is used. */
export function storeFormerSecrets(
  db: Pick<Db, "sqlite">,
  secret: string,
  former: readonly FormerSecret[],
): void {
  const sealed = seal(keyOf(secret), Buffer.from(JSON.stringify(former)));
  storeInstallationValue(
    db,
    "former_secrets",
    former.length === 0 ? null : sealed.toString("base64"),
  );
}

const keyOf = (secret: string): Buffer => deriveKey(secret, "former-secrets");
