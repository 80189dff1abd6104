/**
 * Signs messages (DKIM, RFC 6376; Ed25519 by RFC 8463; docs/delivery.md#C4): relaxed/relaxed, one
 * signature per key, no l=. The headers named here are signed once more than they occur, so that
 * nobody can add another on the way (RFC 6376 §8.15).
 */

import { type KeyObject, sign } from "node:crypto";
import { fieldName, relaxedBody, relaxedField, splitMessage } from "./canonical.ts";

export type DkimAlgorithm = "rsa-sha256" | "ed25519-sha256";

export type SigningKey = {
  algorithm: DkimAlgorithm;
  /** Where the public key is found: `<selector>._domainkey.<domain>`. */
  selector: string;
  privateKey: KeyObject;
};

export type Signer = {
  /** The d= tag: the domain of From. */
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

/** RFC 6376 §5.4.1: worth protecting, but their absence promises nothing. */
const SIGNED_IF_PRESENT = ["feedback-id", "list-id", "in-reply-to", "references"] as const;

const LINE_LENGTH = 78;

/**
 * The message with a DKIM-Signature header in front for each key, the first key's on top. Throws if
 * a key cannot sign. RSA runs on a thread of the platform's pool, so the event loop goes on.
 */
export async function signMessage(
  message: Uint8Array,
  { domain, keys }: Signer,
  at: Date,
): Promise<Uint8Array> {
  const { fields, body } = splitMessage(message);
  const { names, text } = signedHeaders(fields);
  const bodyHash = hashBody(body);
  const headers = await Promise.all(
    keys.map(async (key) => {
      const unsigned = unsignedField({ key, domain, names, bodyHash, at });
      const data = Buffer.from(text + relaxedField(unsigned), "latin1");
      return withSignature(unsigned, await signData(key, data));
    }),
  );
  return Buffer.concat([Buffer.from(headers.join(""), "latin1"), message]);
}

/** The h= names and the canonical text of what they name. */
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
    // RFC 6376 §5.4.2: of several, the last one is the first to be signed.
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

/** The header field with an empty b= at its end (RFC 6376 §3.5, §3.7). */
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

/** Lines of at most 78 characters, broken only between pieces. */
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

/** White space inside b= does not count (RFC 6376 §3.5): the value is folded where lines are full. */
function withSignature(unsigned: string, signature: Buffer): string {
  const value = signature.toString("base64");
  const lastLine = unsigned.length - (unsigned.lastIndexOf("\n") + 1);
  const room = Math.max(0, LINE_LENGTH - lastLine);
  const rest = value.slice(room).replace(/.{1,77}/g, "\r\n $&");
  return `${unsigned}${value.slice(0, room)}${rest}\r\n`;
}

function signData(key: SigningKey, data: Buffer): Promise<Buffer> {
  return key.algorithm === "rsa-sha256"
    ? signRsa(key.privateKey, data)
    : signEd25519(key.privateKey, data);
}

/** With a callback the signature is made on another thread. */
function signRsa(privateKey: KeyObject, data: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign("sha256", data, privateKey, (error, signature) => {
      if (error === null) resolve(signature);
      else reject(error);
    });
  });
}

/** RFC 8463 §3: what is signed is the SHA-256 of the data. So fast that a thread would slow it. */
async function signEd25519(privateKey: KeyObject, data: Buffer): Promise<Buffer> {
  const digest = new Bun.CryptoHasher("sha256").update(data).digest();
  return sign(null, digest, privateKey);
}
