/** Files of backups: streams with a digest, and what must be on disk. */

import { closeSync, createReadStream, fsyncSync, openSync } from "node:fs";

/** Larger pieces are not faster, and several of them wait in each stream. */
const PIECE_BYTES = 64 * 1024;

export async function* readPieces(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield* createReadStream(file, { highWaterMark: PIECE_BYTES });
}

export type Written = { bytes: number; sha256: string };

export const digestFile = (file: string): Promise<Written> => digestPieces(readPieces(file));

export async function digestPieces(pieces: AsyncIterable<Uint8Array>): Promise<Written> {
  const hasher = new Bun.CryptoHasher("sha256");
  let bytes = 0;
  for await (const piece of pieces) {
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

/** Passes the pieces on, and says how many bytes have passed. */
export async function* countPieces(
  pieces: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void | Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0;
  for await (const piece of pieces) {
    yield piece;
    bytes += piece.byteLength;
    await onBytes(bytes);
  }
}

export function streamOf(
  pieces: AsyncGenerator<Uint8Array, void, undefined>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const next = await pieces.next();
      if (next.done === true) controller.close();
      else controller.enqueue(new Uint8Array(next.value));
    },
    async cancel() {
      await pieces.return();
    },
  });
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
