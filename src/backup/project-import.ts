/**
 * Brings a project from a backup or an export into an installation whose server is stopped. Everything is
 * one change of the database: an interruption leaves the installation as it was. The project is disabled
 * afterwards, so that nothing of it leaves before the other installation has stopped to send for it.
 */

import type { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type DataFolder, IMPORT_FOLDER, lockDataFolder } from "../db/folder.ts";
import {
  type FormerSecret,
  MAX_FORMER_SECRETS,
  readFormerSecrets,
  storeFormerSecrets,
} from "../db/former-secrets.ts";
import { migrate } from "../db/migrate.ts";
import type { Db } from "../db/open.ts";
import { openStoredDatabase } from "../db/open-stored.ts";
import { EXPORT_READER } from "../db/schema/readers.ts";
import { deriveKey, seal, unseal } from "../lib/crypto.ts";
import { extractBackup, type FoundBackup } from "./extract.ts";
import { type CopiedProject, copyProject, SOURCE } from "./project-copy.ts";
import { projectTables, SEALED } from "./project-tables.ts";
import { BackupError } from "./refusal.ts";

type ImportOptions = {
  from: FoundBackup;
  identity: string;
  /** The data folder of the installation that gets the project. */
  data: DataFolder;
  /** Id or name of the project in the backup; null if it has only one. */
  wanted: string | null;
  /** The name that the project gets here; null to keep it. */
  name: string | null;
  /** Part of the change. */
  onCopied: (db: Db, project: ImportedProject) => void;
};

type ImportedProject = CopiedProject & { id: string; name: string };

type SourceProject = { seq: number; id: string; name: string };

const MAX_NAMED = 5;

export async function importProject(options: ImportOptions): Promise<ImportedProject> {
  const { from, identity, data } = options;
  const unlock = lockDataFolder(data.path);
  const work = join(data.path, IMPORT_FOLDER);
  try {
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { mode: 0o700 });
    await extractBackup(from, identity, work);
    return importExtracted(options, work);
  } finally {
    rmSync(work, { recursive: true, force: true });
    unlock();
  }
}

function importExtracted(options: ImportOptions, work: string): ImportedProject {
  const { data, onCopied } = options;
  const sourceSecret = readFileSync(join(work, "secret"), "utf8").trim();
  const file = join(work, "mailstead.db");
  const former = prepareSource(file, sourceSecret);
  const db = openStoredDatabase(data.databaseFile);
  try {
    migrate(db.sqlite);
    db.sqlite.run(`ATTACH DATABASE ? AS ${SOURCE}`, [file]);
    const project = findProject(db.sqlite, options.wanted);
    const name = options.name ?? project.name;
    return db.sqlite
      .transaction(() => {
        requireReadEvents(db.sqlite);
        refuseConflicts(db.sqlite, project, name);
        const copied = copyProject(db.sqlite, { sourceSeq: project.seq, name });
        const secrets = { from: sourceSecret, to: data.secret };
        sealAnew(db.sqlite, copied.seq, secrets);
        addFormerSecrets(db, data.secret, [
          ...former.filter(({ projectId }) => projectId === project.id),
          { projectId: project.id, secret: sourceSecret },
        ]);
        db.sqlite.run("UPDATE main.projects SET is_enabled = 0 WHERE seq = ?", [copied.seq]);
        const imported = { ...copied, id: project.id, name };
        onCopied(db, imported);
        return imported;
      })
      .immediate();
  } finally {
    db.sqlite.close();
  }
}

/** Brings the extracted database to the schema of this version. */
function prepareSource(file: string, secret: string): FormerSecret[] {
  const db = openStoredDatabase(file);
  try {
    migrate(db.sqlite);
    return readFormerSecrets(db, secret);
  } finally {
    db.sqlite.close();
  }
}

function findProject(sqlite: Database, wanted: string | null): SourceProject {
  const all = sqlite
    .query<SourceProject, []>(`SELECT seq, id, name FROM ${SOURCE}.projects ORDER BY seq`)
    .all();
  const found = all.filter(({ id, name }) => wanted === null || wanted === id || wanted === name);
  const [project] = found;
  if (project !== undefined && found.length === 1) return project;
  const names = all.map(({ name }) => name);
  throw new BackupError(
    wanted === null
      ? `The backup has ${all.length} projects: ${listed(names)}.`
      : `The backup has no project ${wanted}. It has ${listed(names)}.`,
    "Name one of them with --project.",
  );
}

/** The copied events come after the ones that are here, so these must have been read. */
function requireReadEvents(sqlite: Database): void {
  const waiting = sqlite
    .query<{ name: string; events: number }, []>(
      `SELECT name, (SELECT count(*) FROM main.events WHERE events.seq > readers.seq) AS events
       FROM main.readers WHERE name <> '${EXPORT_READER}' AND events > 0`,
    )
    .all();
  const [first] = waiting;
  if (first === undefined) return;
  throw new BackupError(
    `${first.events} events of this installation wait for its ${first.name}.`,
    "Start the server, release its queue if it is held, stop it after a minute, and import again.",
  );
}

function refuseConflicts(sqlite: Database, project: SourceProject, name: string): void {
  const here = sqlite.query<{ found: number }, [string]>(
    "SELECT 1 AS found FROM main.projects WHERE id = ?",
  );
  if (here.get(project.id) !== null) {
    throw new BackupError(
      `The project ${project.name} (${project.id}) is in this installation already.`,
      "Import it into another installation.",
    );
  }
  const named = sqlite.query<{ found: number }, [string]>(
    "SELECT 1 AS found FROM main.projects WHERE name = ?",
  );
  if (named.get(name) !== null) {
    throw new BackupError(
      `This installation has another project with the name ${name}.`,
      "Choose another name with --name.",
    );
  }
  const domains = sharedValues(sqlite, project.seq, {
    table: "domains",
    column: "domain",
    condition: "status = 'VERIFIED'",
  });
  if (domains.length > 0) {
    throw new BackupError(
      `Another project of this installation has verified ${listed(domains)}.`,
      "Remove the domain from one of the two: mailstead domain remove DOMAIN --project PROJECT",
    );
  }
  const addresses = sharedValues(sqlite, project.seq, {
    table: "inbound_routes",
    column: "address",
    condition: "true",
  });
  if (addresses.length === 0) return;
  throw new BackupError(
    `Another project of this installation receives mail for ${listed(addresses)}.`,
    "Remove these inbound routes from one of the two projects.",
  );
}

/** Values of the project that another project has here, although they must be unique. */
function sharedValues(
  sqlite: Database,
  sourceSeq: number,
  { table, column, condition }: { table: string; column: string; condition: string },
): string[] {
  const find = `SELECT ${column} AS value FROM ${SOURCE}.${table}
    WHERE project_seq = ? AND ${condition}
      AND ${column} IN (SELECT ${column} FROM main.${table} WHERE ${condition})`;
  return sqlite
    .query<{ value: string }, [number]>(find)
    .all(sourceSeq)
    .map(({ value }) => value);
}

function listed(names: readonly string[]): string {
  const rest = names.length - MAX_NAMED;
  return [...names.slice(0, MAX_NAMED), ...(rest > 0 ? [`and ${rest} more`] : [])].join(", ");
}

/** Seals the secrets of the project with the key of this installation. */
function sealAnew(sqlite: Database, seq: number, secrets: { from: string; to: string }): void {
  const tables = new Map(projectTables(sqlite).map((table) => [table.name, table]));
  for (const { table, column, purpose } of SEALED) {
    const where = tables.get(table)?.where("main");
    if (where === undefined) throw new Error(`${table} has no rows of projects`);
    const [from, to] = [deriveKey(secrets.from, purpose), deriveKey(secrets.to, purpose)];
    const rows = sqlite
      .query<{ row: number; sealed: Uint8Array }, [number]>(
        `SELECT rowid AS row, ${column} AS sealed
         FROM main.${table} WHERE ${column} IS NOT NULL AND ${where}`,
      )
      .all(seq);
    const update = sqlite.query(`UPDATE main.${table} SET ${column} = ? WHERE rowid = ?`);
    for (const { row, sealed } of rows) {
      const plain = unseal(from, sealed);
      if (plain === null) {
        throw new BackupError(
          `A secret in ${table} of the backup cannot be opened with the secret that is beside it.`,
        );
      }
      update.run(seal(to, plain), row);
    }
  }
}

function addFormerSecrets(db: Db, secret: string, added: readonly FormerSecret[]): void {
  const all = [...readFormerSecrets(db, secret), ...added.filter((one) => one.secret !== secret)];
  if (all.length > MAX_FORMER_SECRETS) {
    throw new BackupError(
      `An installation can have at most ${MAX_FORMER_SECRETS} imported projects.`,
    );
  }
  storeFormerSecrets(db, secret, all);
}
