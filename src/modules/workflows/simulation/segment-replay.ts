/**
 * Replays the recorded events of some contacts in a sandbox, and finds which of them met a condition at
 * some moments. In order:
 *
 * 1. Each contact gets the state that it had before its first event (contact-states.ts). States of later
 *    times are put aside: changes that no event explains, the times of mails, and the times of events
 *    that the log has no longer.
 * 2. For each moment the events until then are recorded, the states until then come back, and the
 *    condition of the segment selects the members, with the SQL that a segment always has.
 * 3. The members of each moment are compared with those of the moment before.
 */

import type { Database } from "bun:sqlite";
import { isServiceEvent } from "../../../lib/service-events.ts";
import { parseStored } from "../../segments/condition/condition.ts";
import { segmentService } from "../../segments/service.ts";
import type { Bound } from "../../segments/sql/bind.ts";
import { whereAt } from "../../segments/sql/plan.ts";
import { createContactStates } from "./contact-states.ts";
import { parseRecordedEvents, type RecordedEvent } from "./recorded-events.ts";
import { distinctFirst } from "./replay-counts.ts";
import { createSandboxApp, type SandboxApp, type SandboxAppInput } from "./sandbox-app.ts";

export type SegmentReplayTask = {
  kind: "segment";
  sandbox: Omit<SandboxAppInput, "startAt">;
  contactSeqs: readonly number[];
  /** JSON: the `RecordedEvent` of the contacts in any order. */
  events: string;
  /** A checked condition in its stored form. */
  condition: unknown;
  /** The times at which the members are found: before the first day, and at the end of each day. */
  moments: readonly number[];
};

/** The numbers of a moment: members, and those who were not, or were, members at the moment before. */
type MomentCount = { members: number; entered: number; left: number };
type SegmentExample = {
  contactSeq: number;
  /** The moment at which it was a member for the first time again. */
  moment: number;
  /** The last event of the contact before it; null if none came after the moment before. */
  event: { name: string; at: number } | null;
};

export type MemberCounts = {
  /** In the order of the moments; empty if no contact was replayed. */
  moments: readonly MomentCount[];
  examples: readonly SegmentExample[];
};

export const NO_MEMBERS: MemberCounts = { moments: [], examples: [] };

export async function replaySegment(task: SegmentReplayTask): Promise<MemberCounts> {
  // A stable sort: events of the same time stay in the order of the log.
  const events = parseRecordedEvents(task.events).toSorted((a, b) => a.at - b.at);
  const [first] = task.moments;
  if (first === undefined) return NO_MEMBERS;
  const startAt = Math.min(first, events[0]?.at ?? first);
  const sandbox = createSandboxApp({ ...task.sandbox, startAt });
  try {
    await sandbox.app.writer.write(() => findMembers(sandbox, events, task));
    return countMembers(sandbox.app.db.sqlite, events, task.moments);
  } finally {
    sandbox.close();
  }
}

function findMembers(
  sandbox: SandboxApp,
  events: readonly RecordedEvent[],
  { contactSeqs, condition, moments, sandbox: { projectSeq } }: SegmentReplayTask,
): void {
  const { sqlite } = sandbox.app.db;
  const checked = parseStored(condition, "condition");
  const audience = segmentService(sandbox.app).audienceOfCondition(projectSeq, checked);
  const later = createLaterRows(sqlite);
  const states = createContactStates(sandbox, events, { contactSeqs, written: new Set() });
  // The only change of a contact that is known before its events.
  sqlite.run("UPDATE contacts SET updated_at = created_at");
  sqlite.run("CREATE TEMP TABLE members (moment, seq, PRIMARY KEY (moment, seq)) WITHOUT ROWID");
  const addMembers = sqlite.prepare<unknown, Bound[]>(`
    INSERT INTO members SELECT ?, contacts.seq FROM contacts
    WHERE contacts.project_seq = ? AND contacts.created_at <= ? AND ${audience.where.text}`);
  let next = 0;
  for (const [moment, at] of moments.entries()) {
    for (let event = events[next]; event !== undefined && event.at <= at; event = events[++next]) {
      sandbox.clock.set(event.at);
      if (isServiceEvent(event.name) || !later.isUnchangedSince(event)) {
        states.apply(event.contactSeq, event.name, event.json);
      }
      sandbox.record(event);
    }
    sandbox.clock.set(at);
    later.addUntil(at);
    // The SQL is the same at all times; only its values are others.
    addMembers.run(moment, projectSeq, at, ...whereAt(audience, at).values);
  }
}

const MAIL_TIMES = ["sent_at", "bounced_at", "opened_at", "clicked_at"];
const isNewIn = (column: string): string => `(now.${column} > ?1 AND now.${column} <= ?2)`;

/**
 * Rows as they are today: a contact is as it is today since its last change, a mail has the times of
 * today once they have come, and so has the last event of which the log has no row any more.
 */
function createLaterRows(sqlite: Database) {
  sqlite.run(`CREATE TEMP TABLE contacts_now AS
    SELECT seq, data, is_subscribed, updated_at FROM contacts ORDER BY updated_at`);
  sqlite.run("CREATE INDEX temp.contacts_now_changed ON contacts_now (updated_at)");
  sqlite.run(`CREATE TEMP TABLE mails_now AS SELECT seq, ${MAIL_TIMES.join(", ")} FROM emails`);
  for (const column of MAIL_TIMES) {
    sqlite.run(`CREATE INDEX temp.mails_now_${column} ON mails_now (${column})`);
  }
  sqlite.run(`UPDATE emails SET ${MAIL_TIMES.map((column) => `${column} = NULL`).join(", ")}`);
  sqlite.run("CREATE TEMP TABLE summaries_now AS SELECT * FROM contact_events");
  sqlite.run("DELETE FROM contact_events");
  const changedAt = new Map(
    sqlite
      .query<{ seq: number; at: number }, []>("SELECT seq, updated_at AS at FROM contacts_now")
      .all()
      .map(({ seq, at }) => [seq, at]),
  );
  const additions = [
    `UPDATE contacts
     SET data = now.data, is_subscribed = now.is_subscribed, updated_at = now.updated_at
     FROM contacts_now AS now WHERE now.seq = contacts.seq AND ${isNewIn("updated_at")}`,
    `UPDATE emails
     SET ${MAIL_TIMES.map((name) => `${name} = iif(now.${name} <= ?2, now.${name}, NULL)`).join(", ")}
     FROM mails_now AS now
     WHERE now.seq = emails.seq AND (${MAIL_TIMES.map(isNewIn).join(" OR ")})`,
    `INSERT OR IGNORE INTO contact_events SELECT * FROM summaries_now AS now
     WHERE ${isNewIn("last_at")}`,
  ].map((sql) => sqlite.prepare<unknown, [number, number]>(sql));
  let last = -1;
  return {
    /** True if the contact has not been changed since this event. */
    isUnchangedSince: ({ contactSeq, at }: RecordedEvent): boolean =>
      (changedAt.get(contactSeq) ?? Infinity) < at,

    /** Brings back the states of the times since the last call. */
    addUntil(at: number): void {
      for (const addition of additions) addition.run(last, at);
      last = at;
    },
  };
}

const BEFORE = "SELECT 1 FROM members AS before WHERE before.moment = m.moment - 1";
const AFTER = "SELECT 1 FROM members AS after WHERE after.moment = m.moment + 1";
const ENTERED = `m.moment > 0 AND NOT EXISTS (${BEFORE} AND before.seq = m.seq)`;
const MEMBERS = "SELECT moment, count(*) AS count FROM members GROUP BY moment";
const ENTRIES = `SELECT moment, count(*) AS count FROM members AS m WHERE ${ENTERED} GROUP BY moment`;
const EXITS = `
  SELECT moment + 1 AS moment, count(*) AS count FROM members AS m
  WHERE NOT EXISTS (${AFTER} AND after.seq = m.seq) GROUP BY moment`;
/** Entries among which examples are looked for. */
const CANDIDATES = 1_000;
const NEWEST_ENTRIES = `
  SELECT moment, seq AS contactSeq FROM members AS m WHERE ${ENTERED}
  ORDER BY moment DESC, seq DESC LIMIT ${CANDIDATES}`;

function countMembers(
  sqlite: Database,
  events: readonly RecordedEvent[],
  moments: readonly number[],
): MemberCounts {
  const countsIn = (sql: string) =>
    new Map(
      sqlite
        .query<{ moment: number; count: number }, []>(sql)
        .all()
        .map(({ moment, count }) => [moment, count]),
    );
  const [members, entries, exits] = [countsIn(MEMBERS), countsIn(ENTRIES), countsIn(EXITS)];
  const entered = sqlite.query<{ moment: number; contactSeq: number }, []>(NEWEST_ENTRIES).all();
  return {
    moments: moments.map((_, i) => ({
      members: members.get(i) ?? 0,
      entered: entries.get(i) ?? 0,
      left: exits.get(i) ?? 0,
    })),
    examples: fewOf(entered).map(({ moment, contactSeq }) => {
      const [after, until] = [moments[moment - 1] ?? 0, moments[moment] ?? 0];
      const event = events.findLast(
        ({ at, contactSeq: seq }) => seq === contactSeq && at > after && at <= until,
      );
      return {
        moment,
        contactSeq,
        event: event === undefined ? null : { name: event.name, at: event.at },
      };
    }),
  };
}

/** One of each day first, the newest days first. */
const fewOf = <T extends { moment: number }>(entries: readonly T[]): T[] =>
  distinctFirst(entries, ({ moment }) => String(moment)).toSorted((a, b) => b.moment - a.moment);

/** The sum of the counts of two groups of contacts. */
export function addMembers(one: MemberCounts, other: MemberCounts): MemberCounts {
  if (one.moments.length === 0) return other;
  return {
    moments: one.moments.map((count, i) => {
      const more = other.moments[i] ?? { members: 0, entered: 0, left: 0 };
      return {
        members: count.members + more.members,
        entered: count.entered + more.entered,
        left: count.left + more.left,
      };
    }),
    examples: fewOf([...one.examples, ...other.examples]),
  };
}
