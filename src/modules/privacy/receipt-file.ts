/**
 * The file `erasures.ndjson` in the data folder: the receipts of completed erasures, one a line. A
 * restore of a backup brings erased persons back and the receipts of that time; the file is not a part
 * of the backup and stays. At its start, the server erases each person who is in the file and not in
 * the receipts of the database. The file has digests only.
 */

import {
  appendFileSync,
  createReadStream,
  existsSync,
  fstatSync,
  fsyncSync,
  closeSync,
  openSync,
  readSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { App } from "../../core/app.ts";
import { ERASED_STANDINGS } from "../../db/schema/erasures.ts";
import { Nullable } from "../../http/envelope.ts";
import { OneOf } from "../../http/validation.ts";

const NAME = "erasures.ndjson";
const OWNER_ONLY = 0o600;
const LONGEST_LINE = 1_000;
const LINE_FEED = 10;

const StoredReceipt = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  /** The digest of the address. */
  digest: Type.String(),
  /**
   * The digest of the contact's id, because the backup may have another address of it; absent without a
   * contact.
   */
  contactDigest: Type.Optional(Type.String()),
  standing: Nullable(OneOf(ERASED_STANDINGS)),
  requestedAt: Type.Integer(),
});
export type StoredReceipt = Static<typeof StoredReceipt>;

/**
 * Appends a receipt and syncs the file. Nothing is written for a database in memory. A line that a crash
 * cut off is ended first: otherwise both would be one line, which cannot be read.
 */
export function appendReceipt({ folder }: Pick<App, "folder">, receipt: StoredReceipt): void {
  if (folder === null) return;
  const file = openSync(join(folder, NAME), "a+", OWNER_ONLY);
  try {
    const end = isCutOff(file) ? "\n" : "";
    appendFileSync(file, `${end}${JSON.stringify(receipt)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function isCutOff(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] !== LINE_FEED;
}

/** The receipts of the file. A line that a crash cut off, or that is none, is left out. */
export async function* readReceipts({
  folder,
}: Pick<App, "folder">): AsyncGenerator<StoredReceipt> {
  if (folder === null || !existsSync(join(folder, NAME))) return;
  const lines = createInterface({ input: createReadStream(join(folder, NAME)) });
  for await (const line of lines) {
    const receipt = line.length > LONGEST_LINE ? null : parse(line);
    if (receipt !== null) yield receipt;
  }
}

function parse(line: string): StoredReceipt | null {
  try {
    const value: unknown = JSON.parse(line);
    return Value.Check(StoredReceipt, value) ? value : null;
  } catch {
    return null; // A line that is no JSON is expected after a crash.
  }
}
