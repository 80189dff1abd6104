/** Key pairs for DKIM and the TXT records that publish them (RFC 6376 §3.6.1, RFC 8463 §4). */

import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
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
  return {
    algorithm: "ed25519-sha256",
    privateKey: pair.privateKey.export(PRIVATE_FORMAT),
    publicKey: bareEd25519(pair.publicKey),
  };
}

/** The record contains the bare key (RFC 8463 §4), which is the end of its ASN.1 form. */
function bareEd25519(publicKey: KeyObject): string {
  return publicKey.export(PUBLIC_FORMAT).subarray(-ED25519_KEY_BYTES).toString("base64");
}

/** Reads a private key. Throws if the bytes are not a key. */
export function readPrivateKey(der: Buffer): KeyObject {
  return createPrivateKey({ key: der, ...PRIVATE_FORMAT });
}

/** RFC 8301 §3.2: shorter keys are not verified; verifiers need not support longer ones. */
const SHORTEST_RSA_BITS = 1024;
const LONGEST_RSA_BITS = 4096;

/** An imported private key, with the forms in which a record may publish it. */
export type ForeignKey = Omit<DkimKeyPair, "publicKey"> & { publicKeys: readonly string[] };

/** Reads a private key in PEM: PKCS #8, or PKCS #1 of RSA. */
export function readPemKey(
  pem: string,
): { ok: true; key: ForeignKey } | { ok: false; reason: string } {
  if (/^(?:-----BEGIN ENCRYPTED|Proc-Type: ?4,ENCRYPTED)/m.test(pem)) {
    return { ok: false, reason: "must be a key without a passphrase; decrypt it first" };
  }
  const key = parsePem(pem);
  if (key === null) {
    return {
      ok: false,
      reason: "must be one private key in PEM, from its -----BEGIN to its -----END",
    };
  }
  const privateKey = key.export(PRIVATE_FORMAT);
  const publicKey = createPublicKey(key);
  if (key.asymmetricKeyType === "ed25519") {
    const publicKeys = [bareEd25519(publicKey)];
    return { ok: true, key: { algorithm: "ed25519-sha256", privateKey, publicKeys } };
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
  if (key.asymmetricKeyType !== "rsa") {
    return { ok: false, reason: "must be a key of RSA or Ed25519" };
  }
  if (bits < SHORTEST_RSA_BITS || bits > LONGEST_RSA_BITS) {
    const range = `${SHORTEST_RSA_BITS} to ${LONGEST_RSA_BITS}`;
    return { ok: false, reason: `must be a key of RSA with ${range} bits, but it has ${bits}` };
  }
  // A record may have either form (RFC 6376 §3.6.1, and its erratum 3017).
  const publicKeys = (["spki", "pkcs1"] as const).map((type) =>
    publicKey.export({ type, format: "der" }).toString("base64"),
  );
  return { ok: true, key: { algorithm: "rsa-sha256", privateKey, publicKeys } };
}

const PEM_BLOCK =
  /-----BEGIN ((?:[A-Z]{1,10} )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;
const LINE = /.{1,64}/g;

/** Environment variables and JSON often have a key in one line, or with `\n` in place of line breaks. */
function parsePem(pem: string): KeyObject | null {
  const [block, second] = pem.replaceAll("\\n", "\n").matchAll(PEM_BLOCK);
  if (block === undefined || second !== undefined) return null;
  const [, type = "", content = ""] = block;
  const lines = content.replaceAll(/\s/g, "").match(LINE) ?? [];
  const key = [`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`, ""].join("\n");
  try {
    return createPrivateKey({ key, format: "pem" });
  } catch {
    return null; // The text is no key. The caller says so.
  }
}

/** The form of a key that a TXT record publishes for signatures like ours; null if it does not. */
export function publishedForm(
  record: string,
  { algorithm, publicKeys }: Pick<ForeignKey, "algorithm" | "publicKeys">,
): string | null {
  const tags = readTags(record);
  const allows = (tag: string, names: readonly string[]) =>
    tags
      .get(tag)
      ?.toLowerCase()
      .split(":")
      .some((name) => names.includes(name)) ?? true;
  if (!allows("h", ["sha256"]) || !allows("s", ["*", "email"])) return null;
  return publicKeys.find((publicKey) => publishesKey(record, algorithm, publicKey)) ?? null;
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
