/** Files of backups: streams with a digest, and what must be on disk. */

import { closeSync, createReadStream, fsyncSync, openSync } from "node:fs";

const PIECE_BYTES = 1024 * 1024;

export function readPieces(file: string): AsyncIterable<Uint8Array> {
  return createReadStream(file, { highWaterMark: PIECE_BYTES });
}

export type Written = { bytes: number; sha256: string };

export async function digestFile(file: string): Promise<Written> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const piece of readPieces(file)) {
    hasher.update(piece);
    bytes += piece.byteLength;
  }
  return { bytes, sha256: hasher.digest("hex") };
}

/** Writes the pieces with bounded memory, and resolves when they are on disk. */
export async function writePieces(
  file: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Written> {
  const hasher = new Bun.CryptoHasher("sha256");
  const writer = Bun.file(file).writer({ highWaterMark: PIECE_BYTES });
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      hasher.update(piece);
      bytes += piece.byteLength;
      await writer.write(piece);
      await writer.flush();
    }
  } finally {
    await writer.end();
  }
  syncPath(file);
  return { bytes, sha256: hasher.digest("hex") };
}

/** Brings a file, or the names in a folder, to disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
