/**
 * Removes old events and reduces the counts of events accordingly. The time of a contact's latest
 * event of each name stays, because segments need it. An event stays as long as a reader of the log
 * has not read it or its delivery to a webhook is pending.
 */

import type { Db } from "../db/open.ts";
import { createSlowestPosition } from "./reader.ts";
import type { ProjectScope, Purge } from "../db/purge.ts";

type Row = {
  seq: number;
  projectSeq: number;
  contactSeq: number | null;
  name: string;
  createdAt: number;
};

const PAGE = 100;

const COLUMNS =
  "seq, project_seq AS projectSeq, contact_seq AS contactSeq, name, created_at AS createdAt";

/**
 * The function that it returns creates the purge for one scan. `isNeeded` returns true for an event
 * that must stay, because something refers to it.
 */
export function createEventPurges(
  db: Db,
  isNeeded: (eventSeq: number) => boolean,
): (projectSeq: ProjectScope) => Purge {
  const { sqlite } = db;
  const positionOfSlowest = createSlowestPosition(db);
  const oldestOfAll = sqlite.prepare<Row, [number]>(
    `SELECT ${COLUMNS} FROM events ORDER BY seq LIMIT ?`,
  );
  const oldestOfProject = sqlite.prepare<Row, [number, number]>(`
    SELECT ${COLUMNS} FROM events WHERE project_seq = +? ORDER BY created_at, seq LIMIT +?`);
  const drop = sqlite.prepare<unknown, [number]>("DELETE FROM events WHERE seq = ?");
  const countDown = sqlite.prepare<unknown, [number, string]>(
    "UPDATE event_names SET count = count - 1 WHERE project_seq = ? AND name = ?",
  );
  const countDownOfContact = sqlite.prepare<unknown, [number, string, number]>(`
    UPDATE contact_events SET count = count - 1
    WHERE name_seq = (SELECT seq FROM event_names WHERE project_seq = ? AND name = ?)
      AND contact_seq = ?`);

  return (scope) => (before, hasTime) => {
    const readUpTo = positionOfSlowest();
    while (hasTime()) {
      const rows = scope === null ? oldestOfAll.all(PAGE) : oldestOfProject.all(scope, PAGE);
      for (const { seq, projectSeq, contactSeq, name, createdAt } of rows) {
        if (createdAt >= before || seq > readUpTo || isNeeded(seq)) return false;
        if (!hasTime()) return true;
        drop.run(seq);
        countDown.run(projectSeq, name);
        if (contactSeq !== null) countDownOfContact.run(projectSeq, name, contactSeq);
      }
      if (rows.length < PAGE) return false;
    }
    return true;
  };
}
