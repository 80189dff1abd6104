/** Makes ZIP archives, also wrong ones. */

import { crc32, deflateRawSync } from "node:zlib";

/** `size` is what the directory says instead of the length. */
export type ZipMember = {
  name: string;
  text: string;
  method?: number;
  flags?: number;
  size?: number;
};

export function zipArchive(members: readonly ZipMember[]): Buffer {
  const files: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const { name, text, method = 8, flags = 0, size = Buffer.byteLength(text) } of members) {
    const data = method === 0 ? Buffer.from(text) : deflateRawSync(text);
    const [local, entry] = [Buffer.alloc(30), Buffer.alloc(46)];
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(name.length, 26);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(flags, 8);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(crc32(text), 16);
    entry.writeUInt32LE(data.length, 20);
    entry.writeUInt32LE(size, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    files.push(local, Buffer.from(name), data);
    entries.push(entry, Buffer.from(name));
    at += local.length + name.length + data.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...files, directory, end]);
}
