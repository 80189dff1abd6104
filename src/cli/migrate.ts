/** mailstead migrate */

import { readConfig } from "../config.ts";
import { openDataFolder } from "../db/folder.ts";
import { openDatabase } from "../db/open.ts";
import type { Command } from "./command.ts";
import { print, STORE_SETTINGS, upgradeUnlessServed } from "./store.ts";

export const migrateCommand: Command = {
  name: "migrate",
  summary: "Bring the database up to date (serve does it on start)",
  positionals: [],
  flags: [],
  settings: STORE_SETTINGS,
  run: async (input) => {
    const config = readConfig(input.settings, input.environment);
    const folder = openDataFolder(config.data, config.secret);
    const db = openDatabase(folder.databaseFile);
    try {
      const applied = upgradeUnlessServed(db, folder.path);
      const human = applied.map((name) => `applied ${name}`).join("\n");
      return print(input, { applied }, human || "The database is up to date.");
    } finally {
      db.sqlite.close();
    }
  },
};
