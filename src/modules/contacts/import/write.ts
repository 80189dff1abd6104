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

/**
 * The `seq` of contacts that one change subscribed or unsubscribed; its events are recorded at its
 * end.
 */
export type SubscriptionChanges = { subscribed: number[]; unsubscribed: number[] };

export type RowWriter = {
  /** Writes one row, inside a change. */
  write(row: RowContent, target: RowTarget, changes: SubscriptionChanges): RowOutcome;
  /** Records the events of that change, at its end. */
  record(target: RowTarget, changes: SubscriptionChanges): void;
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

  /** Creates the contact; returns false if it exists already. */
  function create(row: RowContent, target: RowTarget, changes: SubscriptionChanges): boolean {
    const { projectSeq, subscribesNew } = target;
    const now = clock.now();
    const isSubscribed = row.subscribed ?? subscribesNew;
    const flag = Number(isSubscribed);
    const created = insert.run(newId(now), projectSeq, row.email, flag, row.data, now, now);
    if (created.changes === 0) return false;
    usage.addBytes(projectSeq, bytesOfRow("contacts", row));
    if (isSubscribed) changes.subscribed.push(insertedSeq(created));
    return true;
  }

  function update(row: RowContent, { projectSeq }: RowTarget, changes: SubscriptionChanges): void {
    const known = find.get(projectSeq, row.email);
    if (known === null) throw new Error("a contact neither was created nor exists");
    const wasSubscribed = known.isSubscribed === 1;
    const isSubscribed = row.subscribed ?? wasSubscribed;
    const data = serializeData(mergeData(parseData(known.data), parseData(row.data)));
    if (isSubscribed === wasSubscribed && data === known.data) return;
    change.run(Number(isSubscribed), data, clock.now(), known.seq);
    usage.addBytes(projectSeq, Buffer.byteLength(data) - Buffer.byteLength(known.data));
    if (isSubscribed === wasSubscribed) return;
    (isSubscribed ? changes.subscribed : changes.unsubscribed).push(known.seq);
  }

  return {
    write(row, target, changes) {
      try {
        if (create(row, target, changes)) return { is: "created" };
        update(row, target, changes);
        return { is: "updated" };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { is: "failed", message: error.message };
      }
    },
    record({ projectSeq }, { subscribed, unsubscribed }) {
      const at = clock.now();
      const recordAll = (name: string, contactSeqs: readonly number[]) => {
        for (const contactSeq of contactSeqs) events.record({ projectSeq, name, contactSeq, at });
      };
      recordAll("contact.subscribed", subscribed);
      recordAll("contact.unsubscribed", unsubscribed);
    },
  };
}
