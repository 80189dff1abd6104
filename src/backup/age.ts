/** Encryption of backups in the format of age (https://age-encryption.org/v1). */

import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { streamOf } from "./files.ts";
import { BackupError } from "./refusal.ts";

/** `identity` is the private half, `recipient` the public one. */
type KeyPair = { identity: string; recipient: string };

export async function generateKeyPair(): Promise<KeyPair> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Returns the recipient; throws BackupError if the text is none. */
export function parseRecipient(text: string): string {
  try {
    new Encrypter().addRecipient(text);
    return text;
  } catch {
    throw new BackupError(`"${text}" is not the public half of a key of age (age1…).`);
  }
}

/** Reads a key file as age-keygen writes it: one identity, with comments. */
export function parseIdentity(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  const [identity = "", ...more] = lines.filter((line) => line !== "" && !line.startsWith("#"));
  try {
    if (more.length > 0) throw new Error("several keys");
    new Decrypter().addIdentity(identity);
    return identity;
  } catch {
    throw new BackupError(
      "The file of the recovery key must have one line AGE-SECRET-KEY-1….",
      "It is what mailstead backup init has shown.",
    );
  }
}

export function encryptStream(
  plain: ReadableStream<Uint8Array>,
  recipients: readonly string[],
): Promise<ReadableStream<Uint8Array>> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return encrypter.encrypt(plain);
}

const CHUNK_BYTES = 64 * 1024;
const TAG_BYTES = 16;
const NONCE_BYTES = 16;
/** The header of a backup for two keys has about 400 bytes. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Decrypts a file that is read once. An error names it, and the part of it that was changed. */
export async function* decryptStream(
  name: string,
  encrypted: AsyncGenerator<Uint8Array, void, undefined>,
  identity: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  const { pieces, beginning, failure } = observe(encrypted);
  let plain: ReadableStream<Uint8Array>;
  try {
    plain = await decrypter.decrypt(streamOf(pieces()));
  } catch (error) {
    throw (
      failure() ??
      new BackupError(
        `${name} cannot be decrypted: its header is damaged, or it is for another recovery key.`,
        null,
        error,
      )
    );
  }
  let bytes = 0;
  try {
    for await (const piece of plain) {
      bytes += piece.byteLength;
      yield piece;
    }
  } catch (error) {
    const chunk = Math.floor(bytes / CHUNK_BYTES);
    const from = headerBytes(beginning()) + NONCE_BYTES + chunk * (CHUNK_BYTES + TAG_BYTES);
    throw (
      failure() ??
      new BackupError(
        `${name} is damaged: the 64 KiB from byte ${from} on were changed or cut off.`,
        "Use another backup, or another copy of this one.",
        error,
      )
    );
  }
}

/** Keeps the beginning of the pieces that pass, and the error that their source throws. */
function observe(source: AsyncGenerator<Uint8Array, void, undefined>) {
  let start = Buffer.alloc(0);
  let thrown: unknown = null;
  return {
    beginning: () => start,
    failure: () => thrown,
    async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        for await (const piece of source) {
          const missing = MAX_HEADER_BYTES - start.byteLength;
          if (missing > 0) start = Buffer.concat([start, piece.subarray(0, missing)]);
          // With one chunk at a time, all chunks before a damaged one have been read when it fails:
          // an error discards what waits in a stream.
          for (let at = 0; at < piece.byteLength; at += CHUNK_BYTES) {
            yield piece.subarray(at, at + CHUNK_BYTES);
          }
        }
      } catch (error) {
        thrown = error;
        throw error;
      }
    },
  };
}

/** The header ends with the line of its code of authentication, `--- …`. */
function headerBytes(start: Buffer): number {
  const last = start.indexOf("\n--- ");
  return start.indexOf("\n", last + 1) + 1;
}
