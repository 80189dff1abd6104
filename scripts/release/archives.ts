/**
 * Archives that depend on nothing but their entries: the same bytes on every machine and at any time.
 *
 * tar in the format ustar (POSIX.1-1988, with the magic of POSIX.1-2001) and `ar` as Debian packages use
 * it (deb(5)). Entries are sorted, missing folders are added, and all have one time.
 */

/** A file, a symbolic link (`link`) or a folder (neither). Owner and group are root unless given. */
export type Entry = {
  /** Without a leading slash; at most 100 bytes. */
  path: string;
  mode?: number;
  content?: Uint8Array | string;
  link?: string;
  owner?: number;
};

const BLOCK = 512;
const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;
const [TYPE_FILE, TYPE_LINK, TYPE_FOLDER] = ["0", "2", "5"] as const;

/** `prefix` stands before each path: "./" in Debian packages. `seconds` is the Unix time of all entries. */
export function tarArchive(
  entries: readonly Entry[],
  { seconds, prefix = "" }: { seconds: number; prefix?: string },
): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (const entry of withFolders(entries)) {
    const content = bytesOfContent(entry.content ?? "");
    blocks.push(tarHeader(entry, prefix, content.byteLength, seconds), content);
    blocks.push(new Uint8Array(-content.byteLength & (BLOCK - 1)));
  }
  blocks.push(new Uint8Array(2 * BLOCK));
  return Buffer.concat(blocks);
}

/** Sorted, so that a folder stands before its content, and with the folders that are not among them. */
function withFolders(entries: readonly Entry[]): Entry[] {
  const all = new Map(entries.map((entry) => [entry.path, entry]));
  if (all.size < entries.length) throw new Error("two entries of an archive have the same path");
  for (const { path } of entries) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (!all.has(folder)) all.set(folder, { path: folder });
    }
  }
  return [...all.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function tarHeader(entry: Entry, prefix: string, size: number, seconds: number): Uint8Array {
  const { path, link, owner = 0 } = entry;
  const isFolder = entry.content === undefined && link === undefined;
  const name = `${prefix}${path}${isFolder ? "/" : ""}`;
  const mode = entry.mode ?? (isFolder ? FOLDER_MODE : link === undefined ? FILE_MODE : 0o777);
  const header = Buffer.alloc(BLOCK);
  const field = (offset: number, bytes: number, text: string) => {
    if (Buffer.byteLength(text) > bytes) throw new Error(`too long for an archive: ${text}`);
    header.write(text, offset);
  };
  const octal = (offset: number, bytes: number, value: number) =>
    field(offset, bytes, `${value.toString(8).padStart(bytes - 1, "0")}\0`);
  field(0, 100, name);
  octal(100, 8, mode);
  octal(108, 8, owner);
  octal(116, 8, owner);
  octal(124, 12, size);
  octal(136, 12, seconds);
  field(156, 1, isFolder ? TYPE_FOLDER : link === undefined ? TYPE_FILE : TYPE_LINK);
  field(157, 100, link ?? "");
  field(257, 8, "ustar\x0000");
  field(265, 32, owner === 0 ? "root" : "");
  field(297, 32, owner === 0 ? "root" : "");
  // The checksum counts its own field as spaces.
  const sum = header.reduce((total, byte) => total + byte, 8 * 32);
  field(148, 8, `${sum.toString(8).padStart(6, "0")}\0 `);
  return header;
}

export function arArchive(
  members: readonly { name: string; content: Uint8Array }[],
  seconds: number,
): Uint8Array {
  const blocks: Uint8Array[] = [Buffer.from("!<arch>\n")];
  for (const { name, content } of members) {
    const fields = [name.padEnd(16), String(seconds).padEnd(12), "0     0     100644  "];
    blocks.push(Buffer.from(`${fields.join("")}${String(content.byteLength).padEnd(10)}\`\n`));
    blocks.push(content, Buffer.from(content.byteLength % 2 === 0 ? "" : "\n"));
  }
  return Buffer.concat(blocks);
}

export const bytesOfContent = (content: Uint8Array | string): Uint8Array =>
  typeof content === "string" ? Buffer.from(content) : content;
