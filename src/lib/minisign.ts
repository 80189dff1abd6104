/**
 * Signatures of files in the format of minisign (https://jedisct1.github.io/minisign/): Ed25519 over the
 * BLAKE2b-512 digest of the content, and a second signature over the first one and the trusted comment.
 * Debian's program `minisign` reads and writes the same files. Three things are refused: signatures in the
 * legacy format without a digest, secret keys with a password, and other algorithms.
 */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from "node:crypto";
import { withoutControls } from "./control-characters.ts";

/** A signature or a key that cannot be used. The message is a sentence about the faulty part. */
export class MinisignError extends Error {}

/** The content itself, or its digest, which a caller computes while it reads a long file. */
type Signed = Uint8Array | { blake2b512: Uint8Array };

/** Both keys are the texts of their files. */
type MinisignKeyPair = { publicKey: string; secretKey: string };

const MAX_TEXT = 16 * 1024;
const MAX_COMMENT_BYTES = 8 * 1024;
const UNTRUSTED = "untrusted comment: ";
const TRUSTED = "trusted comment: ";
/** The algorithm of keys; as that of a signature, it means the legacy format. */
const ED25519 = "Ed";
const PREHASHED_ED25519 = "ED";
const CHECKSUM = "B2";
const NO_PASSWORD = "\0\0";
const WITH_SCRYPT = "Sc";
const KEY_ID_BYTES = 8;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const DIGEST_BYTES = 64;
/** The salt and the two limits of scrypt; zero without a password. */
const SCRYPT_BYTES = 32 + 8 + 8;
/** The seed, the public key and a checksum, which is zero without a password. */
const SECRET_KEY_BYTES = 6 + SCRYPT_BYTES + KEY_ID_BYTES + KEY_BYTES + KEY_BYTES + 32;

/**
 * Throws MinisignError unless the signature was made for this content by the owner of the public key, which
 * is the text of its file or only its base64 line.
 */
export function verifyMinisign(
  content: Signed,
  signature: string,
  publicKey: string,
): { trustedComment: string } {
  const key = readPublicKey(publicKey);
  const given = readSignature(signature);
  if (!given.keyId.equals(key.id)) {
    throw new MinisignError(
      `The signature was made with the key ${keyName(given.keyId)}, not with ${keyName(key.id)}.`,
    );
  }
  if (!verify(null, digestOfSigned(content), key.key, given.signature)) {
    throw new MinisignError(
      "The signature does not fit the content: one of the two was changed after it was signed.",
    );
  }
  const whole = Buffer.concat([given.signature, Buffer.from(given.trustedComment)]);
  if (!verify(null, whole, key.key, given.globalSignature)) {
    throw new MinisignError("The trusted comment of the signature was changed.");
  }
  return { trustedComment: given.trustedComment };
}

/** Returns the text of the signature file. */
export function signMinisign(
  content: Signed,
  secretKey: string,
  { trustedComment }: { trustedComment: string },
): string {
  const bytes = Buffer.byteLength(trustedComment);
  if (bytes > MAX_COMMENT_BYTES || withoutControls(trustedComment) !== trustedComment) {
    throw new MinisignError(
      `The trusted comment must be one line of at most ${MAX_COMMENT_BYTES} bytes.`,
    );
  }
  const { id, key } = readSecretKey(secretKey);
  const signature = sign(null, digestOfSigned(content), key);
  const whole = Buffer.concat([signature, Buffer.from(trustedComment)]);
  const packed = Buffer.concat([Buffer.from(PREHASHED_ED25519), id, signature]);
  return textOfLines([
    `${UNTRUSTED}signature made with the key ${keyName(id)}`,
    packed.toString("base64"),
    `${TRUSTED}${trustedComment}`,
    sign(null, whole, key).toString("base64"),
  ]);
}

/** Makes a key pair whose secret key has no password. */
export function generateMinisignKeys(): MinisignKeyPair {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d = "", x = "" } = privateKey.export({ format: "jwk" });
  const [seed, point] = [Buffer.from(d, "base64url"), Buffer.from(x, "base64url")];
  const id = randomBytes(KEY_ID_BYTES);
  const packedSecret = Buffer.concat([
    Buffer.from(ED25519 + NO_PASSWORD + CHECKSUM),
    Buffer.alloc(SCRYPT_BYTES),
    id,
    seed,
    point,
    Buffer.alloc(32),
  ]);
  const packedPublic = Buffer.concat([Buffer.from(ED25519), id, point]);
  return {
    publicKey: textOfLines([
      `${UNTRUSTED}minisign public key ${keyName(id)}`,
      packedPublic.toString("base64"),
    ]),
    secretKey: textOfLines([
      `${UNTRUSTED}minisign secret key ${keyName(id)} without a password`,
      packedSecret.toString("base64"),
    ]),
  };
}

function digestOfSigned(content: Signed): Uint8Array {
  if (content instanceof Uint8Array) return createHash("blake2b512").update(content).digest();
  const { blake2b512 } = content;
  if (blake2b512.byteLength === DIGEST_BYTES) return blake2b512;
  throw new MinisignError(`The digest must have ${DIGEST_BYTES} bytes.`);
}

type NamedKey = { id: Buffer; key: KeyObject };

function readPublicKey(text: string): NamedKey {
  const lines = linesOf(text, "public key");
  const line = lines.length === 1 ? lines[0] : lineAfter(lines, 0, UNTRUSTED, "public key");
  const packed = decode(line, 2 + KEY_ID_BYTES + KEY_BYTES, "public key");
  requireAlgorithm(packed, ED25519, "public key");
  const x = packed.subarray(2 + KEY_ID_BYTES).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return { id: packed.subarray(2, 2 + KEY_ID_BYTES), key };
}

function readSecretKey(text: string): NamedKey {
  const lines = linesOf(text, "secret key");
  const line = lineAfter(lines, 0, UNTRUSTED, "secret key");
  const packed = decode(line, SECRET_KEY_BYTES, "secret key");
  requireAlgorithm(packed, ED25519, "secret key");
  const password = packed.toString("latin1", 2, 4);
  if (password === WITH_SCRYPT) {
    throw new MinisignError(
      "The secret key has a password. Remove it with minisign -C -W, or sign with minisign -S.",
    );
  }
  if (password !== NO_PASSWORD || packed.toString("latin1", 4, 6) !== CHECKSUM) {
    throw new MinisignError("The secret key has an unknown form.");
  }
  const rest = packed.subarray(6 + SCRYPT_BYTES);
  const [seed, point] = [
    rest.subarray(KEY_ID_BYTES, KEY_ID_BYTES + KEY_BYTES),
    rest.subarray(KEY_ID_BYTES + KEY_BYTES, KEY_ID_BYTES + 2 * KEY_BYTES),
  ];
  const [d, x] = [seed.toString("base64url"), point.toString("base64url")];
  const key = createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d, x }, format: "jwk" });
  if (createPublicKey(key).export({ format: "jwk" }).x !== x) {
    throw new MinisignError("The secret key is damaged: its halves do not belong together.");
  }
  return { id: rest.subarray(0, KEY_ID_BYTES), key };
}

function readSignature(text: string) {
  const lines = linesOf(text, "signature");
  const packedBytes = 2 + KEY_ID_BYTES + SIGNATURE_BYTES;
  const packed = decode(lineAfter(lines, 0, UNTRUSTED, "signature"), packedBytes, "signature");
  if (packed.toString("latin1", 0, 2) === ED25519) {
    throw new MinisignError("The signature has the legacy format. Sign without the flag -l.");
  }
  requireAlgorithm(packed, PREHASHED_ED25519, "signature");
  const globalLine = lineAfter(lines, 2, TRUSTED, "signature");
  return {
    keyId: packed.subarray(2, 2 + KEY_ID_BYTES),
    signature: packed.subarray(2 + KEY_ID_BYTES),
    trustedComment: (lines[2] ?? "").slice(TRUSTED.length),
    globalSignature: decode(globalLine, SIGNATURE_BYTES, "signature"),
  };
}

type Part = "public key" | "secret key" | "signature";

function linesOf(text: string, part: Part): string[] {
  if (text.length > MAX_TEXT) {
    throw new MinisignError(`The ${part} is longer than ${MAX_TEXT} characters.`);
  }
  return text
    .trimEnd()
    .split("\n")
    .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** Returns the line after the comment at `index`. */
function lineAfter(lines: readonly string[], index: number, comment: string, part: Part) {
  if (lines[index]?.startsWith(comment) === true) return lines[index + 1];
  throw new MinisignError(
    `The ${part} is not a file of minisign: line ${index + 1} must begin with "${comment}".`,
  );
}

function decode(line: string | undefined, bytes: number, part: Part): Buffer {
  const decoded = Buffer.from(line ?? "", "base64");
  if (decoded.byteLength === bytes && decoded.toString("base64") === line) return decoded;
  throw new MinisignError(`The ${part} is damaged: a line must be ${bytes} bytes in base64.`);
}

function requireAlgorithm(packed: Buffer, wanted: string, part: Part): void {
  if (packed.toString("latin1", 0, 2) === wanted) return;
  throw new MinisignError(`The ${part} has an unknown algorithm: only Ed25519 is known.`);
}

/** The id as minisign shows it: a little-endian number in hexadecimal digits. */
function keyName(id: Buffer): string {
  return Buffer.from(id.toReversed()).toString("hex").toUpperCase();
}

const textOfLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
