/** Who is in a segment, as rows; where it is tracked, entering and leaving are events. */

import type { Db } from "../../db/open.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Events } from "../events/service.ts";
import type { SegmentRow } from "./definitions.ts";

export type Roster = ReturnType<typeof createRoster>;

/** Whether events are written: not while the members are recorded for the first time. */
type Telling = { isTold: boolean };

export function createRoster({ db, clock, events }: { db: Db; clock: Clock; events: Events }) {
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

  function tell(segment: SegmentRow, fact: "entry" | "exit", contactSeqs: readonly number[]) {
    for (const contactSeq of contactSeqs) {
      events.record({
        projectSeq: segment.projectSeq,
        name: `segment.${segment.slug}.${fact}`,
        contactSeq,
        data: { segmentId: segment.id, segmentName: segment.name },
        at: clock.now(),
      });
    }
  }

  return {
    /** Part of a change: returns those who were no members before. */
    enter(segment: SegmentRow, contactSeqs: readonly number[], { isTold }: Telling): number[] {
      if (contactSeqs.length === 0) return [];
      const entered = seqsOf(insert.all(segment.seq, JSON.stringify(contactSeqs)));
      if (isTold) tell(segment, "entry", entered);
      return entered;
    },

    /** Part of a change: returns those who were members. */
    leave(segment: SegmentRow, contactSeqs: readonly number[], { isTold }: Telling): number[] {
      if (contactSeqs.length === 0) return [];
      const left = seqsOf(remove.all(segment.seq, JSON.stringify(contactSeqs)));
      if (isTold) tell(segment, "exit", left);
      return left;
    },

    membersAmong: (segmentSeq: number, contactSeqs: readonly number[]): number[] =>
      seqsOf(findAmong.all(segmentSeq, JSON.stringify(contactSeqs))),

    /** Part of a change: takes out up to `limit`, silently; returns how many there were. */
    clearSome: (segmentSeq: number, limit: number): number =>
      removeSome.all(segmentSeq, segmentSeq, limit).length,
  };
}

function seqsOf(rows: readonly { seq: number }[]): number[] {
  return rows.map(({ seq }) => seq);
}
