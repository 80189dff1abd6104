/** Statements that run often: each is prepared once for a connection, when it runs for the first time. */

import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { Db } from "./open.ts";

type Prepared<Row, Values extends SQLQueryBindings[]> = {
  get(...values: Values): Row | null;
  all(...values: Values): Row[];
  run(...values: Values): { changes: number };
};

const declared: string[] = [];

/** The statements of all modules that are loaded, for a test of their plans. */
export const declaredStatements = (): readonly string[] => declared;

/** `findReason(app).get(projectSeq, email)`. In `sql`, a parameter has a sign (bound.ts). */
export function statement<Row, Values extends SQLQueryBindings[]>(
  sql: string,
): (app: { db: Pick<Db, "sqlite"> }) => Prepared<Row, Values> {
  declared.push(sql);
  const prepared = new WeakMap<Database, Prepared<Row, Values>>();
  return ({ db: { sqlite } }) => {
    const known = prepared.get(sqlite);
    if (known !== undefined) return known;
    const made = sqlite.prepare<Row, SQLQueryBindings[]>(sql);
    prepared.set(sqlite, made);
    return made;
  };
}
