/** Reads messages from files: .eml, mbox, Maildir folders, and folders of .eml files. */

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describeError } from "../../lib/log.ts";
import { beginsWithFrom, splitMbox, withCrlf } from "./mbox.ts";

const MAX_BYTES = 50 * 1024 * 1024;
const TOO_LARGE = "the message is larger than 50 MiB";

/** A message, or the reason why it cannot be imported. `name` is its file, with its number in it. */
export type Found = { name: string; raw: Buffer } | { name: string; fault: string };

/** The messages of all files in their order. A file that cannot be read is one fault. */
export async function* readMailFiles(paths: readonly string[]): AsyncGenerator<Found> {
  for (const path of paths) {
    try {
      const stats = statSync(path);
      if (stats.isDirectory()) yield* readFolder(path);
      else if (stats.isFile()) yield* readFile(path);
      else yield { name: path, fault: "it is neither a file nor a folder" };
    } catch (error) {
      yield { name: path, fault: faultOf(error) };
    }
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "no file or folder has this name",
  EACCES: "the permission to read it is missing",
};

function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return describeError(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return FAULTS[code] ?? error.message;
}

async function* readFolder(path: string): AsyncGenerator<Found> {
  const maildir = ["cur", "new"].map((name) => join(path, name)).filter((each) => existsSync(each));
  const folders = maildir.length > 0 ? maildir : [path];
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && (maildir.length > 0 || entry.name.endsWith(".eml")))
      .map(({ name }) => ({ folder, name })),
  );
  if (files.length === 0) yield { name: path, fault: "the folder has no messages" };
  // The names in a Maildir begin with the time of arrival.
  for (const { folder, name } of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    yield* readMailFiles([join(folder, name)]);
  }
}

async function* readFile(path: string): AsyncGenerator<Found> {
  const file = Bun.file(path);
  if (file.size === 0) return yield { name: path, fault: "the file is empty" };
  if (beginsWithFrom(await file.slice(0, 5).bytes())) return yield* readMbox(path);
  if (file.size > MAX_BYTES) return yield { name: path, fault: TOO_LARGE };
  yield checked(path, await withCrlf(await file.bytes()));
}

const BYTE_ORDER_MARK = Buffer.from("\ufeff");
const BLANKS: ReadonlySet<number | undefined> = new Set(Buffer.from(" \t\r\n"));

/** Bytes before the header: a byte order mark and empty lines, which editors and pages write. */
function leadingBytes(file: Buffer): number {
  const hasMark = file.subarray(0, BYTE_ORDER_MARK.byteLength).equals(BYTE_ORDER_MARK);
  let at = hasMark ? BYTE_ORDER_MARK.byteLength : 0;
  while (BLANKS.has(file[at])) at++;
  return at;
}

async function* readMbox(path: string): AsyncGenerator<Found> {
  let number = 0;
  for await (const message of splitMbox(Bun.file(path).stream(), MAX_BYTES)) {
    const name = `${path}, message ${++number}`;
    yield message === null ? { name, fault: TOO_LARGE } : checked(name, message);
  }
}

/** A message begins with a header field (RFC 5322 §2.2). */
function checked(name: string, file: Buffer): Found {
  const raw = file.subarray(leadingBytes(file));
  const [line = ""] = raw.toString("latin1", 0, 1000).split("\r\n", 1);
  const isField = /^[!-9;-~]{1,200}[ \t]*:/.test(line);
  return isField ? { name, raw } : { name, fault: "it does not begin with a header field" };
}
