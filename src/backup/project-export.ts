/**
 * Exports one project into a file of the form of a backup, with a database that has only this project. It
 * is encrypted to a key of its own, and works while a server uses the database.
 */

import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createDatabase } from "../db/create.ts";
import type { DataFolder } from "../db/folder.ts";
import { type FormerSecret, readFormerSecrets, storeFormerSecrets } from "../db/former-secrets.ts";
import { rememberSecret } from "../db/installation-values.ts";
import { openDatabase } from "../db/open.ts";
import { openForReading } from "../db/open-stored.ts";
import { generateKeyPair } from "./age.ts";
import { extractBackup } from "./extract.ts";
import { readPieces, syncPath } from "./files.ts";
import { describeCopy, encryptCopy } from "./make.ts";
import type { Contents } from "./manifest.ts";
import { copyProject, SOURCE } from "./project-copy.ts";
import { BackupError } from "./refusal.ts";

type ExportedProject = {
  contents: Contents;
  bytes: number;
  /** The private half of the key; null if the caller has it. */
  identity: string | null;
};

export async function exportProject(options: {
  data: DataFolder;
  project: { seq: number; id: string; name: string };
  /** Absolute path of the file to write. */
  file: string;
  /** The public half of a key that the caller has; null to make one. */
  recipient: string | null;
  now: () => number;
}): Promise<ExportedProject> {
  const { data, project, file, now } = options;
  if (existsSync(file)) throw new BackupError(`${file} exists already.`, "Name another file.");
  const made = options.recipient === null ? await generateKeyPair() : null;
  const recipient = made?.recipient ?? options.recipient ?? "";
  const work = `${file}.partial`;
  rmSync(work, { recursive: true, force: true });
  try {
    mkdirSync(join(work, "verify"), { recursive: true, mode: 0o700 });
    const copy = join(work, "copy.db");
    writeProject(copy, data, project);
    const contents = await describeCopy(copy, now());
    const archive = join(work, "archive");
    const own = await generateKeyPair();
    const written = await encryptCopy(archive, [recipient, own.recipient], {
      contents,
      secret: data.secret,
      content: readPieces(copy),
    });
    rmSync(copy);
    await extractBackup(
      { file: archive, read: () => readPieces(archive), manifest: null },
      own.identity,
      join(work, "verify"),
    );
    renameSync(archive, file);
    syncPath(dirname(file));
    return { contents, bytes: written.bytes, identity: made?.identity ?? null };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function writeProject(
  copy: string,
  { databaseFile, secret }: DataFolder,
  { seq, id, name }: { seq: number; id: string; name: string },
): void {
  createDatabase(copy);
  const db = openDatabase(copy, { create: false });
  try {
    db.sqlite.run(`ATTACH DATABASE ? AS ${SOURCE}`, [databaseFile]);
    db.sqlite.transaction(() => void copyProject(db.sqlite, { sourceSeq: seq, name }))();
    db.sqlite.run(`DETACH DATABASE ${SOURCE}`);
    rememberSecret(db, secret);
    storeFormerSecrets(db, secret, formerSecretsOf(databaseFile, secret, id));
    db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    db.sqlite.close();
  }
}

/** The export contains the secret of this installation, so what is sealed with it stays as it is. */
function formerSecretsOf(databaseFile: string, secret: string, projectId: string): FormerSecret[] {
  const source = openForReading(databaseFile);
  try {
    return readFormerSecrets(source, secret).filter((former) => former.projectId === projectId);
  } finally {
    source.sqlite.close();
  }
}
