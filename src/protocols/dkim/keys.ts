/** Key pairs for DKIM and the TXT records that publish them (RFC 6376 §3.6.1, RFC 8463 §4). */

import { createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import type { DkimAlgorithm } from "./sign.ts";

export type DkimKeyPair = {
  algorithm: DkimAlgorithm;
  /** PKCS #8, DER. */
  privateKey: Buffer;
  /** Value of the p= tag, in base64. */
  publicKey: string;
};

const RSA_BITS = 2048;
const ED25519_KEY_BYTES = 32;
const PRIVATE_FORMAT = { type: "pkcs8", format: "der" } as const;
const PUBLIC_FORMAT = { type: "spki", format: "der" } as const;

const generate = promisify(generateKeyPair);

/** Generates an RSA-2048 and an Ed25519 key pair on other threads. RSA takes about 100 ms. */
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
  // The record contains the bare key (RFC 8463 §4), which is the end of its ASN.1 form.
  const bare = pair.publicKey.export(PUBLIC_FORMAT).subarray(-ED25519_KEY_BYTES);
  return {
    algorithm: "ed25519-sha256",
    privateKey: pair.privateKey.export(PRIVATE_FORMAT),
    publicKey: bare.toString("base64"),
  };
}

/** Reads a private key. Throws if the bytes are not a key. */
export function readPrivateKey(der: Buffer): KeyObject {
  return createPrivateKey({ key: der, ...PRIVATE_FORMAT });
}

const KEY_TYPES: Readonly<Record<DkimAlgorithm, string>> = {
  "rsa-sha256": "rsa",
  "ed25519-sha256": "ed25519",
};

/** Returns the TXT record that publishes a key. */
export function dkimRecord(algorithm: DkimAlgorithm, publicKey: string): string {
  return `v=DKIM1; k=${KEY_TYPES[algorithm]}; p=${publicKey}`;
}

/** Whether a TXT record publishes exactly this key; white space in it is ignored. */
export function publishesKey(record: string, algorithm: DkimAlgorithm, publicKey: string): boolean {
  const tags = readTags(record);
  return (
    (tags.get("v") ?? "DKIM1") === "DKIM1" &&
    (tags.get("k") ?? "rsa") === KEY_TYPES[algorithm] &&
    tags.get("p") === publicKey
  );
}

/** Whether a TXT record is a DKIM key record, of any key. */
export function isDkimRecord(record: string): boolean {
  return readTags(record).has("p");
}

/** Reads tags (RFC 6376 §3.2). White space that DNS control panels add inside values is removed. */
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
