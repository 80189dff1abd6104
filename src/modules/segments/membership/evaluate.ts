/**
 * Evaluates contacts against the condition of a tracked segment, and writes entries and exits.
 *
 * 1. Find contacts whose stored membership differs from the condition.
 * 2. In one change per few hundred of them, evaluate them again, update the member rows and record
 *    an event for each entry and exit.
 *
 * Because step 2 evaluates inside the change, an evaluation may be interrupted and repeated, and
 * two evaluations may run at the same time.
 */

import { and, eq, isNull, sql } from "drizzle-orm";
import type { App } from "../../../core/app.ts";
import { bound } from "../../../db/bound.ts";
import { segments } from "../../../db/schema/segments.ts";
import type { Audiences } from "../sql/audiences.ts";
import { bind } from "../sql/bind.ts";
import { queryOf } from "../sql/reads.ts";
import type { SegmentRow } from "../definitions.ts";
import { type Audience, audienceOf, conjunctsOf } from "../sql/plan.ts";
import { problemsIn } from "../condition/problems.ts";
import type { Resolved } from "../condition/references.ts";
import type { MemberRows } from "./member-rows.ts";

export type Evaluator = ReturnType<typeof createEvaluator>;

/** A tracked segment and its condition, valid while `isCurrent` returns true. */
export type TrackedSegment = {
  segment: SegmentRow;
  condition: Resolved;
  isCurrent: () => boolean;
};

/** Contacts of one change if each of them gets an event. */
const CHUNK_WITH_EVENTS = 200;
/** Contacts that one read compares with the condition. */
const COMPARED_AT_ONCE = 4_000;
/** Contacts of one change if no events are recorded. */
const CHUNK_WITHOUT_EVENTS = 1000;

export function createEvaluator(deps: { app: App; audiences: Audiences; memberRows: MemberRows }) {
  const { app, audiences, memberRows } = deps;
  const { db, writer, clock } = app;
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

  function compareMembers(audience: Audience, segmentSeq: number, seqs: readonly number[]) {
    const belonging = new Set(audiences.matching(audience, seqs));
    const known = new Set(memberRows.membersAmong(segmentSeq, seqs));
    return {
      entering: [...belonging].filter((seq) => !known.has(seq)),
      leaving: [...known].filter((seq) => !belonging.has(seq)),
    };
  }

  /** Returns false if the segment was changed meanwhile. */
  function applyDifference(
    { segment: { seq }, isCurrent }: TrackedSegment,
    audience: Audience,
    seqs: readonly number[],
  ): Promise<boolean> {
    return writer.write(() => {
      const segment = findTracked.get({ seq });
      if (segment === undefined || !isCurrent()) return false;
      const { entering, leaving } = compareMembers(audience, seq, seqs);
      const options = { hasEvents: segment.baselineAt !== null };
      memberRows.enter(segment, entering, options);
      memberRows.leave(segment, leaving, options);
      return true;
    });
  }

  function audienceFor({ segment: { projectSeq }, condition }: TrackedSegment): Audience {
    return audienceOf(conjunctsOf(condition), { projectSeq, now: clock.now() });
  }

  /** Returns two audiences: contacts that must enter the segment, members that must leave it. */
  function differingAudiences({ segment, condition }: TrackedSegment): Audience[] {
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

  async function applyDifferences(
    tracked: TrackedSegment,
    seqs: AsyncIterable<number[]>,
  ): Promise<boolean> {
    const audience = audienceFor(tracked);
    const size = tracked.segment.baselineAt === null ? CHUNK_WITHOUT_EVENTS : CHUNK_WITH_EVENTS;
    for await (const found of seqs) {
      for (const chunk of chunksOf(found, size)) {
        if (!(await applyDifference(tracked, audience, chunk))) return false;
      }
    }
    return tracked.isCurrent();
  }

  /** Marks the first members as recorded; from now on, entries and exits are events. */
  function finishBaseline({ segment: { seq }, isCurrent }: TrackedSegment): Promise<boolean> {
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
    /** Evaluates all contacts. Returns false if the segment was changed meanwhile. */
    async evaluateAll(tracked: TrackedSegment): Promise<boolean> {
      if (hasProblem(tracked)) return tracked.isCurrent();
      for (const audience of differingAudiences(tracked)) {
        if (!(await applyDifferences(tracked, audiences.members(audience)))) return false;
      }
      return tracked.segment.baselineAt !== null || finishBaseline(tracked);
    },

    /** Evaluates the given contacts. Returns false if the segment was changed meanwhile. */
    async evaluateContacts(tracked: TrackedSegment, seqs: readonly number[]): Promise<boolean> {
      if (hasProblem(tracked)) return tracked.isCurrent();
      const audience = audienceFor(tracked);
      for (const some of chunksOf(seqs, COMPARED_AT_ONCE)) {
        const changed = await readDifference(app, tracked.segment.seq, audience, some);
        for (const chunk of chunksOf(changed, CHUNK_WITH_EVENTS)) {
          if (!(await applyDifference(tracked, audience, chunk))) return false;
        }
      }
      return tracked.isCurrent();
    },
  };
}

/** Returns the contacts that must enter the segment or leave it. */
async function readDifference(
  { reader }: App,
  segmentSeq: number,
  { projectSeq, where }: Audience,
  seqs: readonly number[],
): Promise<number[]> {
  const query = queryOf(bind`
    SELECT contacts.seq FROM json_each(${JSON.stringify(seqs)}) AS asked CROSS JOIN contacts
    WHERE in_time() AND contacts.seq = asked.value AND +contacts.project_seq = ${projectSeq}
      AND (${where} IS TRUE) <> EXISTS (
        SELECT 1 FROM segment_members AS known
        WHERE known.segment_seq = ${segmentSeq} AND known.contact_seq = contacts.seq)`);
  const { rows } = await reader.find(projectSeq, query);
  return rows.map(([seq]) => Number(seq));
}

/**
 * The members of such a segment stay as they are until its condition is corrected: their exits would
 * be events, which can start workflows.
 */
function hasProblem({ condition }: TrackedSegment): boolean {
  return problemsIn(condition).length > 0;
}

function chunksOf(seqs: readonly number[], size: number): number[][] {
  const count = Math.ceil(seqs.length / size);
  return Array.from({ length: count }, (_, i) => seqs.slice(i * size, (i + 1) * size));
}
