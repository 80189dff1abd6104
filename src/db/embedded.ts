/** A Bun macro: it runs during bundling and embeds the migrations folder in the executable. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export type Migration = { name: string; sql: string };

export function readMigrations(): Migration[] {
  const folder = join(import.meta.dir, "../../migrations");
  return readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .sort()
    .map((file) => ({
      name: file.slice(0, -".sql".length),
      sql: readFileSync(join(folder, file), "utf8"),
    }));
}
