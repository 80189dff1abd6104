/**
 * Segments: DYNAMIC ones are their condition, STATIC ones a list of contacts. Besides its endpoints,
 * this gives audiences to whatever addresses many contacts: campaigns and bulk actions.
 */

import { and, count, desc, eq, isNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type Cursors, olderThan, type PageQuery } from "../../http/pagination.ts";
import { type Clock, isoTime } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Contact } from "../contacts/model.ts";
import { type Contacts, presentContact } from "../contacts/service.ts";
import type { Events } from "../events/service.ts";
import { createAudiences } from "./audiences.ts";
import { createChangeReader } from "./changes.ts";
import { parseCondition } from "./condition.ts";
import { createDefinitions, type SegmentRow } from "./definitions.ts";
import { createEdits, type FindUsers } from "./edits.ts";
import { createJudge } from "./judge.ts";
import { createMembers } from "./members.ts";
import type { Segment, SegmentInput, SegmentPatch } from "./model.ts";
import type { ResolvedTest } from "./references.ts";
import { createRoster } from "./roster.ts";
import { createSweep } from "./sweep.ts";
import { createTracking } from "./tracking.ts";
import type { FairTurns } from "../../lib/turns.ts";

export type Segments = ReturnType<typeof createSegments>;

export function createSegments(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  cursors: Cursors;
  contacts: Contacts;
  events: Events;
  turns: FairTurns;
  /** What else uses segments; other segments are looked at anyway. */
  findUsers?: readonly FindUsers[];
}) {
  const { db, writer, clock, log, cursors, contacts, events, turns, findUsers = [] } = deps;
  const audiences = createAudiences({ db, turns });
  const definitions = createDefinitions({ db, clock });
  const roster = createRoster({ db, clock, events });
  const changes = createChangeReader({ sqlite: db.sqlite, turns, clock });
  const judge = createJudge({ db, writer, clock, turns, audiences, roster });
  const sweep = createSweep({ db, writer, roster });
  const tracking = createTracking({ db, clock, log, changes, definitions, judge, sweep });
  const members = createMembers({ db, writer, contacts, definitions, roster, tracking });
  const edits = createEdits({ db, writer, clock, definitions, roster, tracking, findUsers });

  const memberCount = (row: SegmentRow) => audiences.count(definitions.segmentAudience(row));

  function countOf(projectSeq: number, given: unknown): Promise<number> {
    const condition = parseCondition(given, "condition");
    return audiences.count(definitions.conditionAudience(projectSeq, condition));
  }

  async function presentAll(rows: readonly SegmentRow[]): Promise<Map<number, Segment>> {
    const counts = await audiences.countAll(rows.map((row) => definitions.segmentAudience(row)));
    return new Map(rows.map((row, i) => [row.seq, present(row, counts[i] ?? 0)]));
  }

  return {
    audiences,
    members,

    /** The audience of a segment of the project, narrowed by `tests`; 404 if there is none. */
    audienceOf: (projectSeq: number, id: string, tests: readonly ResolvedTest[] = []) =>
      definitions.segmentAudience(definitions.get(projectSeq, id), tests),

    /** Refuses a checked condition that refers to what is not there; 422. Part of a change. */
    ensureResolvable: definitions.ensureResolvable,

    /** The audience of a checked condition (null: everybody), narrowed by `tests`. */
    audienceOfCondition: definitions.conditionAudience,

    async get(projectSeq: number, id: string): Promise<Segment> {
      const row = definitions.get(projectSeq, id);
      return present(row, await memberCount(row));
    },

    /** Prepares the change: the count belongs to the answer that is stored with it. */
    async create(projectSeq: number, input: SegmentInput): Promise<Change<Segment>> {
      const total = input.condition ? await countOf(projectSeq, input.condition) : 0;
      const create = edits.create(projectSeq, input);
      return () => present(create(), total);
    },

    async patch(projectSeq: number, id: string, patch: SegmentPatch): Promise<Segment> {
      const row = await writer.write(edits.patch(projectSeq, id, patch));
      await tracking.established(id);
      return present(row, await memberCount(row));
    },

    remove: edits.remove,

    /** Resolves when a tracked segment that was just made knows its members. */
    established: tracking.established,

    async list(projectSeq: number, query: PageQuery): Promise<Page<Segment>> {
      const scope = `${projectSeq}:segments`;
      const request = cursors.read(scope, query);
      const live = and(eq(segments.projectSeq, projectSeq), isNull(segments.deletedAt));
      const rows = db
        .select()
        .from(segments)
        .where(and(live, olderThan(segments.seq, request)))
        .orderBy(desc(segments.seq))
        .limit(request.limit + 1)
        .all();
      const total = db.select({ total: count() }).from(segments).where(live).all()[0]?.total ?? 0;
      const presented = await presentAll(rows.slice(0, request.limit));
      return cursors.page(scope, request, rows, {
        total,
        positionOf: bySeq,
        present: (row) => presented.get(row.seq) ?? present(row, 0),
      });
    },

    async listContacts(projectSeq: number, id: string, query: PageQuery): Promise<Page<Contact>> {
      const audience = definitions.segmentAudience(definitions.get(projectSeq, id));
      const scope = `${projectSeq}:segment-contacts:${id}`;
      const request = cursors.read(scope, query);
      const [beforeSeq = null] = request.after ?? [];
      const rows = await audiences.page(audience, { beforeSeq, limit: request.limit + 1 });
      const total = await audiences.count(audience);
      return cursors.page(scope, request, rows, {
        total,
        positionOf: bySeq,
        present: presentContact,
      });
    },

    /** Recurring work: entries and exits of tracked segments, and what deleted ones left. */
    recompute: tracking.recompute,

    stop: tracking.stop,
  };
}

function present(row: SegmentRow, memberCount: number): Segment {
  const { id, name, slug, description, type, trackMembership } = row;
  return {
    id,
    name,
    slug,
    description,
    type,
    condition: row.condition === null ? null : JSON.parse(row.condition),
    memberCount,
    trackMembership,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
