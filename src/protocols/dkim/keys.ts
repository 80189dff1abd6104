/** Key pairs for DKIM and the TXT records that publish them (RFC 6376 §3.6.1, RFC 8463 §4). */

import { createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { DkimAlgorithm } from "./sign.ts";

export type DkimKeyPair = {
  algorithm: DkimAlgorithm;
  /** PKCS #8, DER. */
  privateKey: Buffer;
  /** The p= tag: base64. */
  publicKey: string;
};

const RSA_BITS = 2048;
const ED25519_KEY_BYTES = 32;
const PRIVATE_FORMAT = { type: "pkcs8", format: "der" } as const;
const PUBLIC_FORMAT = { type: "spki", format: "der" } as const;

const generate = promisify(generateKeyPair);

/** An RSA-2048 and an Ed25519 pair, made on other threads; RSA takes about a tenth of a second. */
export function generateDkimKeys(): Promise<DkimKeyPair[]> {
  return Promise.all([generateRsa(), generateEd25519()]);
}

async function generateRsa(): Promise<DkimKeyPair> {
  const pair = await generate("rsa", { modulusLength: RSA_BITS });
  return {
    algorithm: "rsa-sha256",
    privateKey: pair.privateKey.export(PRIVATE_FORMAT),
    publicKey: pair.publicKey.export(PUBLIC_FORMAT).toString("base64"),
  };
}

async function generateEd25519(): Promise<DkimKeyPair> {
  const pair = await generate("ed25519");
  // RFC 8463 §4: the bare key, which is the end of its ASN.1 form.
  const bare = pair.publicKey.export(PUBLIC_FORMAT).subarray(-ED25519_KEY_BYTES);
  return {
    algorithm: "ed25519-sha256",
    privateKey: pair.privateKey.export(PRIVATE_FORMAT),
    publicKey: bare.toString("base64"),
  };
}

/** Throws if the bytes hold no key. */
export function readPrivateKey(der: Buffer): KeyObject {
  return createPrivateKey({ key: der, ...PRIVATE_FORMAT });
}

const KEY_TYPES: Readonly<Record<DkimAlgorithm, string>> = {
  "rsa-sha256": "rsa",
  "ed25519-sha256": "ed25519",
};

/** The TXT record that publishes a key. */
export function dkimRecord(algorithm: DkimAlgorithm, publicKey: string): string {
  return `v=DKIM1; k=${KEY_TYPES[algorithm]}; p=${publicKey}`;
}

/** Whether a TXT record publishes exactly this key, however it is spaced. */
export function publishesKey(record: string, algorithm: DkimAlgorithm, publicKey: string): boolean {
  const tags = readTags(record);
  return (
    (tags.get("v") ?? "DKIM1") === "DKIM1" &&
    (tags.get("k") ?? "rsa") === KEY_TYPES[algorithm] &&
    tags.get("p") === publicKey
  );
}

/** Whether a TXT record claims to be a DKIM key at all. */
export function isDkimRecord(record: string): boolean {
  return readTags(record).has("p");
}

/** RFC 6376 §3.2, with the white space that panels like to add inside values taken out. */
function readTags(record: string): Map<string, string> {
  return new Map(
    record.split(";").flatMap((part) => {
      const equals = part.indexOf("=");
      if (equals === -1) return [];
      const value = part.slice(equals + 1).replace(/\s+/g, "");
      return [[part.slice(0, equals).trim(), value] as const];
    }),
  );
}
