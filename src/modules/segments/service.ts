/**
 * Segments: a DYNAMIC segment has a condition, a STATIC segment a list of contacts.
 *
 * 1. `condition.ts`, `filter.ts` and `input.ts` check a condition with the table of operators in
 *    `operators.ts`, which defines the SQL of each; `references.ts` resolves the segments that it
 *    refers to; `definitions.ts` does both for stored segments.
 * 2. `compile.ts` compiles a condition to SQL; `plan.ts` finds indexes that can narrow the scan.
 * 3. `sql/audiences.ts` reads pages, members and counts in readers. Campaigns and bulk actions get
 *    their contacts from there as well.
 *    `member-counts.ts` decides whether a list shows a new count or the stored one.
 * 4. `edits.ts` creates, changes and deletes segments; `members.ts` edits STATIC ones by email.
 * 5. `tracking.ts` refreshes tracked segments after the changes that `changes.ts` finds; `refresh.ts`
 *    decides which contacts are evaluated for a segment; `evaluate.ts` evaluates them, and
 *    `member-rows.ts` stores members and records entries and exits.
 * 6. `cleanup.ts` deletes the remaining rows of deleted segments.
 */

import { and, eq, isNull } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import {
  bySeq,
  containsText,
  listPage as listPageOf,
  newestRows,
  type PageQuery,
} from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { perApp } from "../../lib/per-app.ts";
import type { Contact } from "../contacts/model.ts";
import { contactService, presentContact } from "../contacts/service.ts";
import { eventLog } from "../../events/log.ts";
import { audienceAt } from "./sql/plan.ts";
import { createAudiences } from "./sql/audiences.ts";
import { createChangeReader } from "./membership/changes.ts";
import { type Condition, parseCondition, parseStored } from "./condition/condition.ts";
import type { Filter } from "./condition/filter.ts";
import { createContactSegments } from "./contact-segments.ts";
import { createDefinitions, type SegmentRow } from "./definitions.ts";
import { createEdits } from "./edits.ts";
import { createEvaluator } from "./membership/evaluate.ts";
import { createMembers } from "./membership/members.ts";
import type { Counted, Segment, SegmentInput, SegmentListQuery, SegmentUsage } from "./model.ts";
import { problemsOf } from "./condition/problems.ts";
import type { ResolvedTest } from "./condition/references.ts";
import { createFindMismatches } from "./mismatches.ts";
import { createMemberCounts, type MemberCount } from "./member-counts.ts";
import { createPreview } from "./preview.ts";
import { createMemberRows } from "./membership/member-rows.ts";
import { createCleanup } from "./membership/cleanup.ts";
import { createSegmentUsers } from "./usage.ts";
import { createTracking } from "./membership/tracking.ts";

export type Segments = ReturnType<typeof createSegments>;

export const segmentService = perApp(createSegments);

function createSegments(app: App) {
  const { db, writer, clock, log, references } = app;
  const listPage = listPageOf(app);
  const [contacts, events] = [contactService(app), eventLog(app)];
  const audiences = createAudiences(app);
  const definitions = createDefinitions({ db, clock });
  const memberRows = createMemberRows({ db, clock, events });
  const changes = createChangeReader(app);
  const evaluator = createEvaluator({ app, audiences, memberRows });
  const cleanUp = createCleanup({ db, writer, memberRows });
  const tracking = createTracking({ db, clock, log, changes, definitions, evaluator, cleanUp });
  const members = createMembers({ db, writer, contacts, definitions, memberRows, tracking });
  const users = createSegmentUsers({ definitions, references });
  const edits = createEdits({ db, writer, clock, definitions, memberRows, tracking, users });

  const findMismatches = createFindMismatches({ definitions, count: audiences.count });
  const preview = createPreview({ app, audiences, definitions });
  const counts = createMemberCounts({
    db,
    clock,
    writer,
    log,
    definitions,
    count: audiences.count,
  });

  async function countInput({ condition: given }: SegmentInput, projectSeq: number) {
    const at = clock.now();
    if (!given) return { count: { total: 0, at }, found: NOTHING };
    const condition = parseCondition(given, "condition");
    const audience = definitions.conditionAudience(projectSeq, condition);
    const total = await audiences.count(audience);
    const problems = problemsOf(audience.tests);
    return {
      count: { total, at },
      found: { mismatches: await findMismatches(audience), problems },
    };
  }

  /** Without mismatches, which are counted. */
  function presentRecent(row: SegmentRow, count: MemberCount): Segment {
    const problems = problemsOf(definitions.segmentAudience(row).tests);
    return present(row, count, { mismatches: [], problems });
  }

  async function presentExactly(row: SegmentRow): Promise<Segment> {
    const count = await counts.count(row);
    const audience = definitions.segmentAudience(row);
    const mismatches = await findMismatches(audience);
    return present(row, count, { mismatches, problems: problemsOf(audience.tests) });
  }

  return {
    audiences,
    members,

    /** Throws 404 for an unknown segment. */
    ensureExists: (projectSeq: number, id: string): void => void definitions.get(projectSeq, id),

    /** Returns the members of a segment who also meet `tests`; 404 for an unknown segment. */
    audienceOf: (projectSeq: number, id: string, tests: readonly ResolvedTest[] = []) =>
      definitions.segmentAudience(definitions.get(projectSeq, id), tests),

    /**
     * The condition of a DYNAMIC segment, or another one that it could have instead. Throws 422 for a
     * STATIC segment and for a condition that the segment cannot have.
     */
    draftCondition(projectSeq: number, id: string, given: unknown): Condition<Filter> {
      const row = definitions.get(projectSeq, id);
      if (row.condition === null) throw hasNoCondition();
      if (given === undefined) return parseStored(JSON.parse(row.condition), "condition");
      const condition = parseCondition(given, "condition");
      definitions.ensureResolvable(projectSeq, condition, row);
      return condition;
    },

    /** Runs inside a change. Refuses a condition that refers to an unknown segment with 422. */
    ensureResolvable: definitions.ensureResolvable,

    /** Runs inside a change. Returns the errors with which `ensureResolvable` refuses a condition. */
    conditionErrors: definitions.errorsOf,

    /** Returns the contacts that meet a checked condition (null means all) and all of `tests`. */
    audienceOfCondition: definitions.conditionAudience,
    audienceAt,

    /** RECENT: the last known count, if counting takes longer than 200 ms. */
    async get(projectSeq: number, id: string, counted: Counted = "EXACT"): Promise<Segment> {
      const row = definitions.get(projectSeq, id);
      if (counted === "RECENT") return presentRecent(row, await counts.recent(row));
      return await presentExactly(row);
    },

    /** Prepares the change. It counts the members first, because a change stores its answer. */
    async create(projectSeq: number, input: SegmentInput): Promise<Change<Segment>> {
      const { count, found } = await countInput(input, projectSeq);
      const create = edits.create(projectSeq, input);
      return () => present(create(), count, found);
    },

    /** Whom a condition selects that belongs to no segment yet. */
    preview: (projectSeq: number, condition: unknown, counted: Counted = "EXACT") =>
      preview(projectSeq, parseCondition(condition, "condition"), counted),

    patch: edits.patch,

    /** A segment that was just changed, once its members are recorded. */
    async changed(row: SegmentRow): Promise<Segment> {
      await tracking.whenRecorded(row.id);
      return await presentExactly(row);
    },

    remove: edits.remove,

    /** The campaigns, workflows and segments that use a segment. Throws 404 if it is unknown. */
    usage: (projectSeq: number, id: string): SegmentUsage => ({
      users: users.usersOf(definitions.get(projectSeq, id)),
    }),

    /** Resolves when the members of a new tracked segment are recorded. */
    whenRecorded: tracking.whenRecorded,

    list: (projectSeq: number, query: SegmentListQuery): Promise<Page<Segment>> =>
      listPage(
        { scope: `${projectSeq}:segments`, query },
        newestRows(db, {
          table: segments,
          filter: listed(projectSeq, query),
          select: db.select().from(segments),
        }),
        async (rows) => {
          const counted = await counts.countAll(rows);
          return counted.map(([row, memberCount]) => presentRecent(row, memberCount));
        },
      ),

    listContacts(projectSeq: number, id: string, query: PageQuery): Promise<Page<Contact>> {
      const audience = definitions.segmentAudience(definitions.get(projectSeq, id));
      return listPage(
        { scope: `${projectSeq}:segment-contacts:${id}`, query },
        async (request) => {
          const beforeSeq = request.after?.[0] ?? null;
          const { limit } = request;
          const found = await audiences.pageWithTotal(audience, { beforeSeq, limit });
          return { ...found, positionOf: bySeq };
        },
        (rows) => rows.map(presentContact),
      );
    },

    /** The segments of which a contact is a member; 404 for an unknown contact. */
    ofContact: createContactSegments({ app, contacts, definitions }),

    /** Recurring work: evaluates tracked segments and deletes the rows of deleted ones. */
    recompute: tracking.recompute,

    async stop(): Promise<void> {
      await Promise.all([tracking.stop(), counts.stop()]);
    },
  };
}

function hasNoCondition(): AppError {
  const message = "A STATIC segment is a list of contacts, so no event decides who is in it.";
  return new AppError(422, "VALIDATION_ERROR", message, {
    suggestion: "Choose a DYNAMIC segment, which has a condition.",
  });
}

/** The condition on the segments of a list. */
const listed = (projectSeq: number, { name }: SegmentListQuery) =>
  and(
    eq(segments.projectSeq, projectSeq),
    isNull(segments.deletedAt),
    name === undefined ? undefined : containsText(segments.name, name),
  );

type Found = Pick<Segment, "mismatches" | "problems">;
const NOTHING: Found = { mismatches: [], problems: [] };
const MAX_PROBLEMS = 20;

function present(
  row: SegmentRow,
  { total, at }: MemberCount,
  { mismatches, problems }: Found,
): Segment {
  const { id, name, slug, description, type, trackMembership } = row;
  return {
    id,
    name,
    slug,
    description,
    type,
    condition: row.condition === null ? null : JSON.parse(row.condition),
    memberCount: total,
    memberCountedAt: isoTime(at),
    mismatches,
    problems: problems.slice(0, MAX_PROBLEMS),
    trackMembership,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
