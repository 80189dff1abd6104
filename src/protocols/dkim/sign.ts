/**
 * Signs messages with DKIM (RFC 6376, RFC 8463; docs/delivery.md#C4): relaxed/relaxed, one
 * signature per key, without l=. The headers named here are signed once more than they occur, so
 * that adding another one on the way breaks the signature (RFC 6376 §8.15).
 *
 * 1. `canonical.ts` splits the message and canonicalises headers and body.
 * 2. The body is hashed once, and a DKIM-Signature field with an empty b= is built for each key.
 * 3. Each key signs the headers with its field, and the field with the signature is put in front.
 *
 * `keys.ts` generates the keys and writes their TXT records.
 */

import { type KeyObject, sign } from "node:crypto";
import { allocateWithTailroom } from "../mime/tailroom.ts";
import { fieldName, relaxedBody, relaxedField, splitMessage } from "./canonical.ts";

export type DkimAlgorithm = "rsa-sha256" | "ed25519-sha256";

export type SigningKey = {
  algorithm: DkimAlgorithm;
  /** The public key is published at `<selector>._domainkey.<domain>`. */
  selector: string;
  privateKey: KeyObject;
};

export type Signer = {
  /** Value of the d= tag: the domain of From. */
  domain: string;
  keys: readonly SigningKey[];
};

const ALWAYS_SIGNED = [
  "from",
  "to",
  "cc",
  "subject",
  "date",
  "reply-to",
  "message-id",
  "mime-version",
  "content-type",
  "list-unsubscribe",
  "list-unsubscribe-post",
] as const;

/** Headers that are signed only if present, so that they may be added later (RFC 6376 §5.4.1). */
const SIGNED_IF_PRESENT = ["feedback-id", "list-id", "in-reply-to", "references"] as const;

const LINE_LENGTH = 78;

/** The header field of a key without its signature, and the text that the key signs. */
type Unsigned = { key: SigningKey; field: string; data: Buffer };

/**
 * Returns the message with a DKIM-Signature header in front for each key, in the order of the keys, in
 * memory with room behind it (../mime/tailroom.ts).
 * Throws if a key cannot sign. RSA signatures are made on another thread.
 */
export async function signMessage(
  message: Uint8Array,
  signer: Signer,
  at: Date,
): Promise<Uint8Array> {
  const signed = unsignedFields(message, signer, at).map(async ({ key, field, data }) => {
    const isSlow = key.algorithm === "rsa-sha256";
    const signature = isSlow ? await signRsaElsewhere(key.privateKey, data) : signHere(key, data);
    return withSignature(field, signature);
  });
  return withFields(message, await Promise.all(signed));
}

/** Like `signMessage`, all on this thread: an RSA signature takes more than half a millisecond. */
export function signMessageSync(message: Uint8Array, signer: Signer, at: Date): Uint8Array {
  const signed = unsignedFields(message, signer, at).map(({ key, field, data }) =>
    withSignature(field, signHere(key, data)),
  );
  return withFields(message, signed);
}

function unsignedFields(message: Uint8Array, { domain, keys }: Signer, at: Date): Unsigned[] {
  const { fields, body } = splitMessage(message);
  const { names, text } = signedHeaders(fields);
  const bodyHash = hashBody(body);
  return keys.map((key) => {
    const field = unsignedField({ key, domain, names, bodyHash, at });
    return { key, field, data: Buffer.from(text + relaxedField(field), "latin1") };
  });
}

function withFields(message: Uint8Array, fields: readonly string[]): Uint8Array {
  const header = fields.join("");
  const signed = allocateWithTailroom(header.length + message.byteLength);
  signed.write(header, "latin1");
  signed.set(message, header.length);
  return signed;
}

/** Returns the names for h= and the canonical text of these headers. */
function signedHeaders(fields: readonly string[]): { names: string[]; text: string } {
  const byName = new Map<string, string[]>();
  for (const field of fields) {
    const name = fieldName(field);
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [field]);
    else same.push(field);
  }
  const present = SIGNED_IF_PRESENT.filter((name) => byName.has(name));
  const names: string[] = [];
  let text = "";
  for (const name of [...ALWAYS_SIGNED, ...present]) {
    // Fields of the same name are signed from the last to the first (RFC 6376 §5.4.2).
    const same = byName.get(name) ?? [];
    for (const field of same.toReversed()) text += `${relaxedField(field, name)}\r\n`;
    for (let i = 0; i <= same.length; i++) names.push(name);
  }
  return { names, text };
}

function hashBody(body: Buffer): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const block of relaxedBody(body)) hash.update(block);
  return hash.digest("base64");
}

/** Builds the header field with an empty b= at its end (RFC 6376 §3.5, §3.7). */
function unsignedField(parts: {
  key: SigningKey;
  domain: string;
  names: readonly string[];
  bodyHash: string;
  at: Date;
}): string {
  const { key, domain, names, bodyHash, at } = parts;
  const [first = "", ...others] = names;
  return foldPieces([
    "DKIM-Signature: v=1;",
    ` a=${key.algorithm};`,
    " c=relaxed/relaxed;",
    ` d=${domain};`,
    ` s=${key.selector};`,
    ` t=${Math.floor(at.getTime() / 1000)};`,
    ` h=${first}`,
    ...others.map((name) => `:${name}`),
    ";",
    ` bh=${bodyHash};`,
    " b=",
  ]);
}

/** Folds at 78 characters, only between pieces. */
function foldPieces(pieces: readonly string[]): string {
  let text = "";
  let length = 0;
  for (const piece of pieces) {
    const isBroken = length > 0 && length + piece.length > LINE_LENGTH;
    const added = isBroken ? ` ${piece.trimStart()}` : piece;
    text += isBroken ? `\r\n${added}` : added;
    length = isBroken ? added.length : length + added.length;
  }
  return text;
}

/** Adds the signature. White space in b= is ignored (RFC 6376 §3.5), so it is folded anywhere. */
function withSignature(unsigned: string, signature: Buffer): string {
  const value = signature.toString("base64");
  const lastLine = unsigned.length - (unsigned.lastIndexOf("\n") + 1);
  const free = Math.max(0, LINE_LENGTH - lastLine);
  const rest = value.slice(free).replace(/.{1,77}/g, "\r\n $&");
  return `${unsigned}${value.slice(0, free)}${rest}\r\n`;
}

/** The callback form makes the signature on another thread. */
function signRsaElsewhere(privateKey: KeyObject, data: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign("sha256", data, privateKey, (error, signature) => {
      if (error === null) resolve(signature);
      else reject(error);
    });
  });
}

function signHere({ algorithm, privateKey }: SigningKey, data: Buffer): Buffer {
  if (algorithm === "rsa-sha256") return sign("sha256", data, privateKey);
  // Ed25519 signs the SHA-256 of the data (RFC 8463 §3).
  return sign(null, new Bun.CryptoHasher("sha256").update(data).digest(), privateKey);
}
