/** Stores the members of segments as rows, and records events for entries and exits. */

import type { Db } from "../../../db/open.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { EventLog } from "../../../events/log.ts";
import type { SegmentRow } from "../definitions.ts";
import { membershipEventName } from "../slug.ts";

export type MemberRows = ReturnType<typeof createMemberRows>;

/** `hasEvents` is false while the first members of a segment are recorded. */
type EventOptions = { hasEvents: boolean };

export function createMemberRows({
  db,
  clock,
  events,
}: {
  db: Db;
  clock: Clock;
  events: EventLog;
}) {
  const { sqlite } = db;
  const insert = sqlite.prepare<{ seq: number }, [number, string]>(`
    INSERT OR IGNORE INTO segment_members (segment_seq, contact_seq)
    SELECT ?, value FROM json_each(?)
    RETURNING contact_seq AS seq`);
  const remove = sqlite.prepare<{ seq: number }, [number, string]>(`
    DELETE FROM segment_members
    WHERE segment_seq = ? AND contact_seq IN (SELECT value FROM json_each(?))
    RETURNING contact_seq AS seq`);
  const removeSome = sqlite.prepare<{ seq: number }, [number, number, number]>(`
    DELETE FROM segment_members
    WHERE segment_seq = ? AND contact_seq IN (
      SELECT contact_seq FROM segment_members WHERE segment_seq = ? LIMIT ?)
    RETURNING contact_seq AS seq`);
  const findAmong = sqlite.prepare<{ seq: number }, [number, string]>(`
    SELECT contact_seq AS seq FROM segment_members
    WHERE segment_seq = ? AND contact_seq IN (SELECT value FROM json_each(?))`);

  function recordEvents(
    segment: SegmentRow,
    change: "entry" | "exit",
    contactSeqs: readonly number[],
  ) {
    for (const contactSeq of contactSeqs) {
      events.record({
        projectSeq: segment.projectSeq,
        name: membershipEventName(segment.slug, change),
        contactSeq,
        data: { segmentId: segment.id, segmentName: segment.name },
        at: clock.now(),
      });
    }
  }

  return {
    /** Runs inside a change. Adds members and returns those that were not members before. */
    enter(
      segment: SegmentRow,
      contactSeqs: readonly number[],
      { hasEvents }: EventOptions,
    ): number[] {
      if (contactSeqs.length === 0) return [];
      const entered = seqsOf(insert.all(segment.seq, JSON.stringify(contactSeqs)));
      if (hasEvents) recordEvents(segment, "entry", entered);
      return entered;
    },

    /** Runs inside a change. Removes members and returns those that were members before. */
    leave(
      segment: SegmentRow,
      contactSeqs: readonly number[],
      { hasEvents }: EventOptions,
    ): number[] {
      if (contactSeqs.length === 0) return [];
      const left = seqsOf(remove.all(segment.seq, JSON.stringify(contactSeqs)));
      if (hasEvents) recordEvents(segment, "exit", left);
      return left;
    },

    membersAmong: (segmentSeq: number, contactSeqs: readonly number[]): number[] =>
      seqsOf(findAmong.all(segmentSeq, JSON.stringify(contactSeqs))),

    /** Runs inside a change. Deletes up to `limit` members without events; returns their number. */
    deleteSome: (segmentSeq: number, limit: number): number =>
      removeSome.all(segmentSeq, segmentSeq, limit).length,
  };
}

function seqsOf(rows: readonly { seq: number }[]): number[] {
  return rows.map(({ seq }) => seq);
}
