/**
 * Applies migrations by name, each in one transaction. Drizzle's own runner is not used: it needs
 * files on disk, skips migrations with older timestamps, and cascades deletes when a table is
 * rebuilt.
 */

import type { Database } from "bun:sqlite";
import { systemClock } from "../lib/clock.ts";
import { readMigrations, type Migration } from "./embedded.ts" with { type: "macro" };

export class DatabaseTooNewError extends Error {
  constructor(names: readonly string[]) {
    super(
      `The database was written by a newer Mailstead (it has ${names.join(", ")}). ` +
        "Use that version or a later one, or restore a backup made before the upgrade.",
    );
    this.name = "DatabaseTooNewError";
  }
}

const embedded: readonly Migration[] = readMigrations();

/** Brings the database up to date and returns the names of the migrations it applied. */
export function migrate(
  sqlite: Database,
  migrations: readonly Migration[] = embedded,
  nowMs: number = systemClock.now(),
): string[] {
  const pending = pendingMigrations(sqlite, migrations);
  if (pending.length === 0) return [];
  // A rebuild drops the old table. With enforcement, that would delete the rows that refer to it.
  sqlite.run("PRAGMA foreign_keys = OFF");
  try {
    for (const migration of pending) apply(sqlite, migration, nowMs);
  } finally {
    sqlite.run("PRAGMA foreign_keys = ON");
  }
  return pending.map((migration) => migration.name);
}

/**
 * Returns the migrations that `migrate` would apply. Throws DatabaseTooNewError if the database has
 * a migration that this version does not know.
 */
export function pendingMigrations(
  sqlite: Database,
  migrations: readonly Migration[] = embedded,
): Migration[] {
  sqlite.run(
    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)",
  );
  return missingMigrations(sqlite, migrations);
}

/** Like `pendingMigrations`, for a database that has the table `migrations`. Writes nothing. */
export function missingMigrations(
  sqlite: Database,
  migrations: readonly Migration[] = embedded,
): Migration[] {
  const applied = sqlite
    .query<{ name: string }, []>("SELECT name FROM migrations")
    .all()
    .map((row) => row.name);
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = applied.filter((name) => !known.has(name));
  if (unknown.length > 0) throw new DatabaseTooNewError(unknown);
  return migrations.filter((migration) => !applied.includes(migration.name));
}

function apply(sqlite: Database, migration: Migration, nowMs: number): void {
  sqlite
    .transaction(() => {
      sqlite.run(migration.sql);
      const broken = sqlite.query("PRAGMA foreign_key_check").all();
      if (broken.length > 0) {
        throw new Error(`Migration ${migration.name} leaves ${broken.length} broken references.`);
      }
      sqlite.run("INSERT INTO migrations (name, applied_at) VALUES (?, ?)", [
        migration.name,
        nowMs,
      ]);
    })
    .immediate();
}
