/**
 * Forgets the rows of tables that modules keep in memory. An erasure writes the rows of all tables
 * by SQL, so a module that keeps texts of its rows registers a function that forgets them.
 */

import { perApp } from "./per-app.ts";

type Forget = () => void;

const registered = perApp(() => new Map<string, Set<Forget>>());

/** `forget` is called in the change that has changed rows of one of the tables. */
export function onRowsRewritten(
  app: { isApp: true },
  tables: readonly string[],
  forget: Forget,
): void {
  for (const table of tables) {
    const known = registered(app).get(table) ?? new Set<Forget>();
    registered(app).set(table, known.add(forget));
  }
}

export function forgetRows(app: { isApp: true }, table: string): void {
  for (const forget of registered(app).get(table) ?? []) forget();
}
