/**
 * The archive of a backup: a tar file (POSIX ustar) with the manifest, the secret and the database, in
 * this order, so that it can be written and read in one pass. `tar` opens it as well.
 */

import { BackupError } from "./refusal.ts";

const BLOCK_BYTES = 512;
/** The largest size that the field has as octal digits: 8 GiB. Larger ones are written in base 256. */
const MAX_OCTAL = 0o77777777777;
const OWNER_ONLY = "0000600";

type Member = { name: string; bytes: number; content: AsyncIterable<Uint8Array> };

export async function* writeArchive(members: readonly Member[]): AsyncGenerator<Uint8Array> {
  for (const { name, bytes, content } of members) {
    yield headerOf(name, bytes);
    let written = 0;
    for await (const piece of content) {
      written += piece.byteLength;
      yield piece;
    }
    if (written !== bytes) throw new Error(`${name} has ${written} bytes instead of ${bytes}`);
    yield new Uint8Array(paddingOf(bytes));
  }
  yield new Uint8Array(2 * BLOCK_BYTES);
}

function headerOf(name: string, bytes: number): Uint8Array {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100, "latin1");
  header.write(OWNER_ONLY, 100, "latin1");
  header.write("0000000", 108, "latin1");
  header.write("0000000", 116, "latin1");
  writeSize(header, bytes);
  header.write("00000000000", 136, "latin1");
  header.write("0", 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  header.write(`${checksumOf(header).toString(8).padStart(6, "0")}\x00 `, 148, "latin1");
  return header;
}

function writeSize(header: Buffer, bytes: number): void {
  if (bytes <= MAX_OCTAL) {
    header.write(bytes.toString(8).padStart(11, "0"), 124, "latin1");
    return;
  }
  header.writeUInt8(0x80, 124);
  header.writeBigUInt64BE(BigInt(bytes), 128);
}

/** The sum of all bytes of the header, with spaces in place of the checksum. */
function checksumOf(header: Buffer): number {
  return header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0);
}

const paddingOf = (bytes: number): number => (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;

/** Reads the bytes of a source in pieces of the lengths that the reader wants. */
function readBytes(source: AsyncGenerator<Uint8Array, void, undefined>) {
  let rest: Uint8Array = new Uint8Array();

  /** At most `limit` bytes; empty at the end of the source. */
  async function take(limit: number): Promise<Uint8Array> {
    while (rest.byteLength === 0) {
      const next = await source.next();
      if (next.done === true) return rest;
      rest = next.value;
    }
    const taken = rest.subarray(0, limit);
    rest = rest.subarray(taken.byteLength);
    return taken;
  }

  async function* pieces(bytes: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let left = bytes; left > 0;) {
      const piece = await take(left);
      if (piece.byteLength === 0)
        throw new BackupError("The archive of the backup ends too early.");
      left -= piece.byteLength;
      yield piece;
    }
  }

  const takeAll = async (bytes: number): Promise<Buffer> =>
    Buffer.concat(await Array.fromAsync(pieces(bytes)));

  return { take, pieces, takeAll };
}

/** Reads members in order. Each must be read to its end before the next one. */
export function readArchive(source: AsyncGenerator<Uint8Array, void, undefined>) {
  const { take, pieces, takeAll } = readBytes(source);

  async function begin(name: string): Promise<number> {
    const header = await takeAll(BLOCK_BYTES);
    const found = header.subarray(0, 100).toString("latin1").split("\0", 1)[0];
    const sum = Number.parseInt(header.subarray(148, 154).toString("latin1"), 8);
    if (found === name && sum === checksumOf(header)) return sizeOf(header);
    throw new BackupError(`The archive of the backup has no member ${name} where it should be.`);
  }

  return {
    /** Reads a member that is short. */
    async text(name: string, maxBytes: number): Promise<string> {
      const bytes = await begin(name);
      if (bytes > maxBytes) throw new BackupError(`The ${name} of the backup is too long.`);
      const content = await takeAll(bytes);
      await takeAll(paddingOf(bytes));
      return content.toString("utf8");
    },

    async *content(name: string): AsyncGenerator<Uint8Array, void, undefined> {
      const bytes = await begin(name);
      yield* pieces(bytes);
      await takeAll(paddingOf(bytes));
    },

    /** Reads the end, which also shows that nothing was cut off. */
    async end(): Promise<void> {
      const end = await takeAll(2 * BLOCK_BYTES);
      const more = await take(1);
      if (more.byteLength === 0 && end.every((byte) => byte === 0)) return;
      throw new BackupError("The archive of the backup has more than it should have.");
    },
  };
}

function sizeOf(header: Buffer): number {
  if (header.readUInt8(124) === 0x80) return Number(header.readBigUInt64BE(128));
  return Number.parseInt(header.subarray(124, 135).toString("latin1"), 8);
}
