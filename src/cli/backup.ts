/** The command `mailstead backup`: copies the database and the secret, also beside a running server. */

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { DataFolderError, findDatabase, openDataFolder } from "../db/folder.ts";
import { openForReading } from "../db/open-stored.ts";
import { type Command, readSettings } from "./command.ts";
import { print, STORE_SETTINGS } from "./store.ts";

const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;
const MIB = 1024 * 1024;

export const backup: Command = {
  name: "backup",
  summary: "Copy the database and the secret into a folder, also while the server runs",
  details:
    "The copy contains everything that was stored when the command began. It is on disk when the\n" +
    "command ends, and only its owner may read it. To restore it, put both files into an empty data\n" +
    "folder.",
  positionals: [{ name: "FOLDER", help: "Folder for the copy, which is created if it is missing" }],
  flags: [],
  settings: STORE_SETTINGS,
  run: async (input) => {
    const config = readSettings(input, { names: STORE_SETTINGS });
    const database = findDatabase(config.data);
    const { secret } = openDataFolder(config.data, config.secret);
    const folder = resolve(input.io.cwd, input.positionals[0] ?? "");
    const files = { database: join(folder, "mailstead.db"), secret: join(folder, "secret") };
    for (const file of Object.values(files)) refuseExisting(file);
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    if (input.io.stderr.isTerminal && !input.isJson) {
      input.io.stderr.line(`Copying ${Math.ceil(statSync(database).size / MIB)} MiB …`);
    }
    copyDatabase(database, files.database);
    writeFileSync(files.secret, `${secret}\n`, { mode: OWNER_ONLY_FILE, flag: "wx", flush: true });
    sync(folder);
    const bytes = statSync(files.database).size;
    return print(input, { ...files, bytes }, `${files.database}\n${files.secret}`);
  },
};

function refuseExisting(file: string): void {
  if (!existsSync(file)) return;
  throw new DataFolderError(
    `${file} exists already.`,
    "Name another folder, such as one with the date: a backup is never overwritten.",
  );
}

/** The copy gets its name when it is complete and on disk. */
function copyDatabase(from: string, to: string): void {
  const partial = `${to}.partial`;
  rmSync(partial, { force: true });
  const { sqlite } = openForReading(from);
  try {
    sqlite.query("VACUUM INTO ?").run(partial);
  } catch (error) {
    // The copy may have taken the last space of the disk.
    rmSync(partial, { force: true });
    throw error;
  } finally {
    sqlite.close();
  }
  sync(partial);
  renameSync(partial, to);
}

function sync(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
