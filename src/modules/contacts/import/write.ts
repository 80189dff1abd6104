/**
 * Creates or updates a contact from a row, by the same rules as all other upserts, with prepared
 * statements. An existing contact keeps the values that the row does not contain. In particular, a
 * row without `subscribed` never resubscribes a contact.
 */

import { insertedSeq } from "../../../db/inserted.ts";
import type { Db } from "../../../db/open.ts";
import { bytesOfRow } from "../../../db/usage.ts";
import type { UsageCounter } from "../../../db/usage-counter.ts";
import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import type { EventLog } from "../../../events/log.ts";
import { mergeData, parseData, serializeData } from "../data.ts";

export type RowTarget = {
  projectSeq: number;
  /** Subscription of a new contact if its row has no value. */
  subscribesNew: boolean;
};

export type RowOutcome = { is: "created" | "updated" } | { is: "failed"; message: string };

/** The values of an import row that are written. */
type RowContent = { email: string; subscribed: boolean | null; data: string };

type Known = { seq: number; isSubscribed: number; data: string };

export type RowWriter = {
  /** Writes one row and records its event, inside a change. */
  write(row: RowContent, target: RowTarget): RowOutcome;
};

export function createRowWriter(deps: {
  db: Db;
  clock: Clock;
  events: EventLog;
  usage: Pick<UsageCounter, "addBytes">;
}): RowWriter {
  const { clock, events, usage } = deps;
  const { sqlite } = deps.db;
  const insert = sqlite.prepare<unknown, [string, number, string, number, string, number, number]>(`
    INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (project_seq, email) DO NOTHING`);
  const find = sqlite.prepare<Known, [number, string]>(`
    SELECT seq, is_subscribed AS isSubscribed, data FROM contacts
    WHERE project_seq = ? AND email = ?`);
  const change = sqlite.prepare<unknown, [number, string, number, number]>(
    "UPDATE contacts SET is_subscribed = ?, data = ?, updated_at = ? WHERE seq = ?",
  );

  function recordSubscription(
    { projectSeq }: RowTarget,
    contactSeq: number,
    isSubscribed: boolean,
  ): void {
    const name = isSubscribed ? "contact.subscribed" : "contact.unsubscribed";
    events.record({ projectSeq, name, contactSeq, at: clock.now() });
  }

  /** Creates the contact; returns false if it exists already. */
  function create(row: RowContent, target: RowTarget): boolean {
    const { projectSeq, subscribesNew } = target;
    const now = clock.now();
    const isSubscribed = row.subscribed ?? subscribesNew;
    const flag = Number(isSubscribed);
    const created = insert.run(newId(now), projectSeq, row.email, flag, row.data, now, now);
    if (created.changes === 0) return false;
    usage.addBytes(projectSeq, bytesOfRow("contacts", row));
    if (isSubscribed) recordSubscription(target, insertedSeq(created), true);
    return true;
  }

  function update(row: RowContent, target: RowTarget): void {
    const { projectSeq } = target;
    const known = find.get(projectSeq, row.email);
    if (known === null) throw new Error("a contact neither was created nor exists");
    const wasSubscribed = known.isSubscribed === 1;
    const isSubscribed = row.subscribed ?? wasSubscribed;
    const data = serializeData(mergeData(parseData(known.data), parseData(row.data)));
    if (isSubscribed === wasSubscribed && data === known.data) return;
    change.run(Number(isSubscribed), data, clock.now(), known.seq);
    usage.addBytes(projectSeq, Buffer.byteLength(data) - Buffer.byteLength(known.data));
    if (isSubscribed !== wasSubscribed) recordSubscription(target, known.seq, isSubscribed);
  }

  return {
    write(row, target) {
      try {
        if (create(row, target)) return { is: "created" };
        update(row, target);
        return { is: "updated" };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { is: "failed", message: error.message };
      }
    },
  };
}
