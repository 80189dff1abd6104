/** The rows of alerts: which are open, and the changes that raise and clear one, each once. */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { newId } from "../../lib/id.ts";
import type { Severity } from "./conditions.ts";

export type AlertRow = {
  seq: number;
  id: string;
  condition: string;
  subject: string;
  severity: Severity;
  title: string;
  finding: string;
  fix: string;
  raisedAt: number;
  clearedAt: number | null;
};

const COLUMNS = `seq, id, condition, subject, severity, title, finding, fix, raised_at AS raisedAt,
  cleared_at AS clearedAt`;

/** In the order of the index: by condition and subject. */
const findOpen = statement<AlertRow, []>(`
  SELECT ${COLUMNS} FROM alerts INDEXED BY alerts_open WHERE cleared_at IS NULL
  ORDER BY condition, subject`);
const findCleared = statement<AlertRow, [number, number]>(`
  SELECT ${COLUMNS} FROM alerts WHERE cleared_at IS NOT NULL AND cleared_at >= +?
  ORDER BY cleared_at DESC LIMIT +?`);
const findAlert = statement<AlertRow, [number]>(`SELECT ${COLUMNS} FROM alerts WHERE seq = +?`);
const insertAlert = statement<
  { seq: number },
  [string, string, string, string, string, string, string, number]
>(`
  INSERT INTO alerts (id, condition, subject, severity, title, finding, fix, raised_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (condition, subject) WHERE cleared_at IS NULL DO NOTHING RETURNING seq`);
const setCleared = statement<{ seq: number }, [number, number]>(
  "UPDATE alerts SET cleared_at = ? WHERE seq = +? AND cleared_at IS NULL RETURNING seq",
);
const purgeCleared = statement<unknown, [number]>(
  "DELETE FROM alerts WHERE cleared_at IS NOT NULL AND cleared_at < +?",
);

/** Also for commands, which have a database and no application. */
export const openAlerts = (app: Pick<App, "db">): AlertRow[] => findOpen(app).all();

export const readAlert = (app: App, seq: number): AlertRow | null => findAlert(app).get(seq);

/** The alerts that were cleared since then, the last one first. */
export const clearedAlerts = (app: Pick<App, "db">, since: number, limit: number): AlertRow[] =>
  findCleared(app).all(since, limit);

/** Part of a change. Null if the alert is open already. */
export function raiseAlert(
  app: App,
  alert: Omit<AlertRow, "seq" | "id" | "raisedAt" | "clearedAt">,
): number | null {
  const { condition, subject, severity, title, finding, fix } = alert;
  const now = app.clock.now();
  const found = insertAlert(app).get(
    newId(now),
    condition,
    subject,
    severity,
    title,
    finding,
    fix,
    now,
  );
  return found?.seq ?? null;
}

/** Part of a change. False if the alert was cleared before. */
export function clearAlert(app: App, seq: number): boolean {
  return setCleared(app).get(app.clock.now(), seq) !== null;
}

/** Part of a change. */
export function removeOldAlerts(app: App, before: number): void {
  purgeCleared(app).run(before);
}
