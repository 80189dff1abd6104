/** The command `mailstead migrate`. */

import { openDataFolder } from "../db/folder.ts";
import { openStoredDatabase } from "../db/open-stored.ts";
import { type Command, readSettings } from "./command.ts";
import {
  ensureDatabase,
  newInstallationText,
  print,
  STORE_SETTINGS,
  upgradeUnlessServed,
} from "./store.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Apply pending migrations to the database (serve does it on start)",
  positionals: [],
  flags: [],
  settings: STORE_SETTINGS,
  run: async (input) => {
    const config = readSettings(input, { names: STORE_SETTINGS });
    const folder = openDataFolder(config.data, config.secret);
    const isNew = await ensureDatabase(folder);
    const db = openStoredDatabase(folder.databaseFile);
    try {
      const applied = upgradeUnlessServed(db, folder.path);
      const idleText = isNew ? newInstallationText(folder.path) : "The database is up to date.";
      const human = applied.map((name) => `applied ${name}`).join("\n");
      return print(input, { applied }, human || idleText);
    } finally {
      db.sqlite.close();
    }
  },
};
