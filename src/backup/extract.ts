/**
 * Opens a backup: decrypts it into a folder, and compares it with its manifest. In order: the digest of
 * the file, the decryption, the digest of the database, its integrity, and the rows of each table.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openForReading } from "../db/open-stored.ts";
import { missingMigrations } from "../db/migrate.ts";
import { decryptStream } from "./age.ts";
import { readArchive } from "./archive.ts";
import { digestPieces, streamOf, syncPath, writePieces } from "./files.ts";
import {
  type Contents,
  countAllRows,
  type Manifest,
  MANIFEST_NAME,
  MAX_MANIFEST_BYTES,
  parseContents,
} from "./manifest.ts";
import { BackupError } from "./refusal.ts";

const MAX_SECRET_BYTES = 4096;
const MAX_FAULTS = 5;
/** The check of indexes needs some pages again; more memory than this makes it no faster. */
const VERIFY_CACHE_KIB = 16 * 1024;

/** The encrypted file, which can be read several times, and the manifest beside it; null if there is none. */
export type FoundBackup = {
  /** Path or address of the encrypted file. */
  file: string;
  read: () => AsyncGenerator<Uint8Array, void, undefined>;
  manifest: Manifest | null;
};

/** Compares the encrypted file with the manifest beside it, which needs no key. */
export async function verifyDigest({ read, manifest }: FoundBackup): Promise<boolean> {
  if (manifest === null) return false;
  const { sha256 } = await digestPieces(read());
  return sha256 === manifest.sha256;
}

/** Writes `mailstead.db` and `secret` of a backup into a folder, and verifies them. */
export async function extractBackup(
  { file, read, manifest }: FoundBackup,
  identity: string,
  folder: string,
): Promise<Contents> {
  const unzipped = unzip(decryptStream(file, read(), identity));
  const archive = readArchive(unzipped);
  const contents = parseContents(await archive.text(MANIFEST_NAME, MAX_MANIFEST_BYTES));
  const secret = await archive.text("secret", MAX_SECRET_BYTES);
  const database = join(folder, "mailstead.db");
  const written = await writePieces(database, archive.content("mailstead.db"));
  await archive.end();
  writeFileSync(join(folder, "secret"), secret, { mode: 0o600, flush: true });
  if (written.sha256 !== contents.databaseSha256 || written.bytes !== contents.databaseBytes) {
    throw new BackupError(`The database in ${file} is not the one that its manifest names.`);
  }
  if (manifest !== null && JSON.stringify(manifest.contents) !== JSON.stringify(contents)) {
    throw new BackupError(`The manifest beside ${file} is not the one inside of it.`);
  }
  verifyDatabase(database, contents);
  syncPath(folder);
  return contents;
}

/** Names an error of the compression, which the encryption has not found. */
async function* unzip(
  zipped: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* streamOf(zipped).pipeThrough(new DecompressionStream("zstd"));
}

function verifyDatabase(file: string, { rows }: Contents): void {
  const { sqlite } = openForReading(file);
  try {
    sqlite.run(`PRAGMA cache_size = -${VERIFY_CACHE_KIB}`);
    // A database of a newer version is refused before it replaces anything.
    missingMigrations(sqlite);
    const faults = sqlite
      .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${MAX_FAULTS})`)
      .all()
      .map((row) => row.integrity_check)
      .filter((fault) => fault !== "ok");
    if (faults.length > 0) throw new BackupError(`The database is damaged: ${faults.join("; ")}`);
    const found = countAllRows(sqlite);
    const names = new Set([...Object.keys(rows), ...Object.keys(found)]);
    const differing = [...names].filter((name) => rows[name] !== found[name]);
    if (differing.length === 0) return;
    const list = differing.map((name) => `${name} (${rows[name] ?? 0}, found ${found[name] ?? 0})`);
    throw new BackupError(`The rows of these tables differ: ${list.join(", ")}`);
  } finally {
    sqlite.close();
  }
}
