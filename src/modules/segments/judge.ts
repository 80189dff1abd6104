/**
 * Judges contacts against a tracked DYNAMIC segment and writes who came and who went. Rows and
 * events are written in one transaction, which judges again whom it writes about; so judging may be
 * cut off anywhere and repeated, and two at the same time do no harm.
 */

import { and, eq, isNull, sql } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Audiences } from "./audiences.ts";
import type { SegmentRow } from "./definitions.ts";
import { type Audience, audienceOf, conjunctsOf } from "./plan.ts";
import type { Resolved } from "./references.ts";
import type { Roster } from "./roster.ts";
import type { FairTurns } from "../../lib/turns.ts";

export type Judge = ReturnType<typeof createJudge>;

/** A segment with its condition, as long as `isCurrent` says so. */
export type Case = { segment: SegmentRow; condition: Resolved; isCurrent: () => boolean };

/** Contacts of one transaction: with an event each, and without. */
const TOLD_AT_ONCE = 200;
const RECORDED_AT_ONCE = 1000;

export function createJudge(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  turns: FairTurns;
  audiences: Audiences;
  roster: Roster;
}) {
  const { db, writer, clock, turns, audiences, roster } = deps;
  const findTracked = db
    .select()
    .from(segments)
    .where(
      and(
        eq(segments.seq, bound("seq")),
        eq(segments.trackMembership, true),
        isNull(segments.deletedAt),
      ),
    )
    .limit(1)
    .prepare();

  function difference(audience: Audience, segmentSeq: number, seqs: readonly number[]) {
    const belonging = new Set(audiences.matching(audience, seqs));
    const known = new Set(roster.membersAmong(segmentSeq, seqs));
    return {
      entering: [...belonging].filter((seq) => !known.has(seq)),
      leaving: [...known].filter((seq) => !belonging.has(seq)),
    };
  }

  /** False where the segment has become another one meanwhile. */
  function settle(
    { segment: { seq }, isCurrent }: Case,
    audience: Audience,
    seqs: readonly number[],
  ): Promise<boolean> {
    return writer.write(() => {
      const segment = findTracked.get({ seq });
      if (segment === undefined || !isCurrent()) return false;
      const { entering, leaving } = difference(audience, seq, seqs);
      const telling = { isTold: segment.baselineAt !== null };
      roster.enter(segment, entering, telling);
      roster.leave(segment, leaving, telling);
      return true;
    });
  }

  function audienceFor({ segment: { projectSeq }, condition }: Case): Audience {
    return audienceOf(conjunctsOf(condition), { projectSeq, now: clock.now() });
  }

  /** Those who belong and are no members yet, and members who belong no longer. */
  function differing({ segment, condition }: Case): Audience[] {
    const context = { projectSeq: segment.projectSeq, now: clock.now() };
    const member = { kind: "members", segmentSeq: segment.seq } as const;
    const belongs = { kind: "condition", condition } as const;
    return [
      audienceOf([...conjunctsOf(condition), { ...member, isMember: false }], context),
      audienceOf(
        [
          { ...member, isMember: true },
          { ...belongs, isMember: false },
        ],
        context,
      ),
    ];
  }

  async function settleAll(trial: Case, seqs: AsyncIterable<number[]>): Promise<boolean> {
    const audience = audienceFor(trial);
    const size = trial.segment.baselineAt === null ? RECORDED_AT_ONCE : TOLD_AT_ONCE;
    for await (const found of seqs) {
      for (const chunk of chunksOf(found, size)) {
        if (!(await settle(trial, audience, chunk))) return false;
      }
    }
    return trial.isCurrent();
  }

  /** From now on, changes are told. */
  function finishBaseline({ segment: { seq }, isCurrent }: Case): Promise<boolean> {
    return writer.write(() => {
      if (!isCurrent()) return false;
      db.update(segments)
        .set({ baselineAt: sql`coalesce(${segments.baselineAt}, ${clock.now()})` })
        .where(and(eq(segments.seq, seq), eq(segments.trackMembership, true)))
        .run();
      return true;
    });
  }

  return {
    /** True if all were judged; false where the segment became another one meanwhile. */
    async everybody(trial: Case): Promise<boolean> {
      for (const audience of differing(trial)) {
        if (!(await settleAll(trial, audiences.members(audience)))) return false;
      }
      return trial.segment.baselineAt !== null || finishBaseline(trial);
    },

    async some(trial: Case, seqs: readonly number[]): Promise<boolean> {
      const audience = audienceFor(trial);
      for (const chunk of chunksOf(seqs, TOLD_AT_ONCE)) {
        await turns.of(trial.segment.projectSeq).next();
        const { entering, leaving } = difference(audience, trial.segment.seq, chunk);
        const concerned = [...entering, ...leaving];
        if (concerned.length > 0 && !(await settle(trial, audience, concerned))) return false;
      }
      return trial.isCurrent();
    },
  };
}

function chunksOf(seqs: readonly number[], size: number): number[][] {
  const count = Math.ceil(seqs.length / size);
  return Array.from({ length: count }, (_, i) => seqs.slice(i * size, (i + 1) * size));
}
