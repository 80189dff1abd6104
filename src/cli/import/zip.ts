/**
 * Reads files of a ZIP archive (APPNOTE.TXT 6.3.10 of PKWARE): its central directory is found from the
 * end, and each wanted file is inflated alone, so that the large files of an account export are not read.
 */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { inflateRawSync } from "node:zlib";
import { UsageError } from "../command.ts";

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 65_535;
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;
/** A field with this value stands in an extension for archives larger than 4 GiB. */
const IN_ZIP64 = 0xffff_ffff;
const [STORED, DEFLATED] = [0, 8];
const IS_ENCRYPTED = 1;

type Wanted = { isWanted: (name: string) => boolean; maxBytes: number };
type Entry = {
  name: string;
  flags: number;
  method: number;
  packed: number;
  size: number;
  at: number;
};

export function* readZip(
  path: string,
  { isWanted, maxBytes }: Wanted,
): Generator<{ name: string; bytes: Uint8Array }> {
  const file = openSync(path, "r");
  try {
    for (const entry of entriesOf(file, path)) {
      if (!isWanted(entry.name)) continue;
      if (entry.size > maxBytes) throw unreadable(path, `${entry.name} is too large`);
      yield { name: entry.name, bytes: inflate(file, path, { entry, maxBytes }) };
    }
  } finally {
    closeSync(file);
  }
}

function entriesOf(file: number, path: string): Entry[] {
  const { size } = fstatSync(file);
  const tail = readAt(file, path, {
    at: Math.max(0, size - END_BYTES - MAX_COMMENT_BYTES),
    end: size,
  });
  let end = tail.length - END_BYTES;
  while (end >= 0 && tail.readUInt32LE(end) !== END_SIGNATURE) end--;
  if (end < 0) throw unreadable(path, "it is no ZIP archive");
  const [bytes, at] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (at === IN_ZIP64 || bytes > MAX_DIRECTORY_BYTES) throw unreadable(path, "it is too large");
  const directory = readAt(file, path, { at, end: at + bytes });
  const entries: Entry[] = [];
  for (let i = 0; i + ENTRY_BYTES <= directory.length;) {
    if (directory.readUInt32LE(i) !== ENTRY_SIGNATURE) throw unreadable(path, "it is damaged");
    const nameEnd = i + ENTRY_BYTES + directory.readUInt16LE(i + 28);
    entries.push({
      name: directory.toString("utf8", i + ENTRY_BYTES, nameEnd),
      flags: directory.readUInt16LE(i + 8),
      method: directory.readUInt16LE(i + 10),
      packed: directory.readUInt32LE(i + 20),
      size: directory.readUInt32LE(i + 24),
      at: directory.readUInt32LE(i + 42),
    });
    i = nameEnd + directory.readUInt16LE(i + 30) + directory.readUInt16LE(i + 32);
  }
  return entries;
}

function inflate(
  file: number,
  path: string,
  { entry, maxBytes }: { entry: Entry; maxBytes: number },
): Uint8Array {
  const { name, flags, method, packed, size, at } = entry;
  if ((flags & IS_ENCRYPTED) !== 0) throw unreadable(path, `${name} is encrypted`);
  if (packed > maxBytes || at === IN_ZIP64) throw unreadable(path, `${name} is too large`);
  const local = readAt(file, path, { at, end: at + LOCAL_BYTES });
  if (local.readUInt32LE(0) !== LOCAL_SIGNATURE) throw unreadable(path, "it is damaged");
  const start = at + LOCAL_BYTES + local.readUInt16LE(26) + local.readUInt16LE(28);
  const bytes = readAt(file, path, { at: start, end: start + packed });
  if (method === STORED) return bytes;
  if (method !== DEFLATED) throw unreadable(path, `${name} has an unknown compression`);
  try {
    const inflated = inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) });
    if (inflated.length === size) return inflated;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  throw unreadable(path, `${name} is damaged`);
}

function readAt(file: number, path: string, { at, end }: { at: number; end: number }): Buffer {
  if (end > fstatSync(file).size) throw unreadable(path, "it is cut off");
  const bytes = Buffer.alloc(end - at);
  for (let read = 0; read < bytes.length;) {
    const more = readSync(file, bytes, read, bytes.length - read, at + read);
    if (more === 0) throw unreadable(path, "it is cut off");
    read += more;
  }
  return bytes;
}

function unreadable(path: string, reason: string): UsageError {
  return new UsageError(`${path} cannot be read: ${reason}; unzip it and name the folder instead`);
}
