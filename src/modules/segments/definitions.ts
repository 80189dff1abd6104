/** Reads stored segments, resolves references between them and makes audiences of conditions. */

import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Clock } from "../../lib/clock.ts";
import { type FieldError, notFound, validationError } from "../../lib/errors.ts";
import { type Condition, parseCondition } from "./condition/condition.ts";
import type { Filter } from "./condition/filter.ts";
import { type Audience, audienceOf, conjunctsOf } from "./sql/plan.ts";
import {
  type Definition,
  type FindDefinition,
  referencesOf,
  type Resolved,
  resolve,
  type ResolvedTest,
} from "./condition/references.ts";

export type SegmentRow = typeof segments.$inferSelect;
export type Definitions = ReturnType<typeof createDefinitions>;

export function createDefinitions({ db, clock }: { db: Db; clock: Clock }) {
  const findById = db
    .select()
    .from(segments)
    .where(
      and(
        eq(segments.projectSeq, bound("projectSeq")),
        eq(segments.id, bound("id")),
        isNull(segments.deletedAt),
      ),
    )
    .limit(1)
    .prepare();
  const { findDirectUsers, findDependants } = createReferrers(db);

  function get(projectSeq: number, id: string): SegmentRow {
    const row = findById.get({ projectSeq, id });
    if (row === undefined) throw notFound("SEGMENT");
    return row;
  }

  /** Returns a function that reads each segment at most once. */
  function createFinder(projectSeq: number): FindDefinition {
    const cached = new Map<string, Definition | null>();
    return (id) => {
      const found = cached.get(id);
      if (found !== undefined) return found;
      const row = findById.get({ projectSeq, id });
      const definition = row === undefined ? null : definitionOf(row);
      cached.set(id, definition);
      return definition;
    };
  }

  function audienceFor(projectSeq: number, tests: readonly ResolvedTest[]): Audience {
    return audienceOf(tests, { projectSeq, now: clock.now() });
  }

  return {
    get,
    findDirectUsers,
    findDependants,

    /**
     * Refuses a condition with 422 if it refers to an unknown segment or to itself, or if it
     * exceeds the limits together with the segments that it refers to. `self` is the segment that
     * the condition is for; segments that refer to `self` must stay within the limits as well.
     */
    ensureResolvable(projectSeq: number, condition: Condition<Filter>, self?: SegmentRow): void {
      const find = createFinder(projectSeq);
      const own = resolve(condition, find, self);
      if (!own.ok) throw validationError(own.errors);
      if (self === undefined) return;
      const changed: Definition = { ...definitionOf(self), condition };
      const findChanged: FindDefinition = (id) => (id === self.id ? changed : find(id));
      const errors = findDependants(projectSeq, self.id).flatMap((user) =>
        limitErrors(user, findChanged),
      );
      if (errors.length > 0) throw validationError(errors);
    },

    /** Returns the current members of a segment who also meet all of `tests`. */
    segmentAudience(row: SegmentRow, tests: readonly ResolvedTest[] = []): Audience {
      const { seq: segmentSeq, projectSeq } = row;
      const { condition } = definitionOf(row);
      const own: readonly ResolvedTest[] =
        condition === null
          ? [{ kind: "members", segmentSeq, isMember: true }]
          : conjunctsOf(resolveOrRefuse(condition, createFinder(projectSeq), row));
      return audienceFor(projectSeq, [...tests, ...own]);
    },

    /** Returns the contacts that meet a checked condition (null means all) and all of `tests`. */
    conditionAudience(
      projectSeq: number,
      condition: Condition<Filter> | null,
      tests: readonly ResolvedTest[] = [],
    ): Audience {
      const own =
        condition === null ? [] : conjunctsOf(resolveOrRefuse(condition, createFinder(projectSeq)));
      return audienceFor(projectSeq, [...tests, ...own]);
    },

    /** Returns the condition of a DYNAMIC segment with all references resolved. */
    resolve(row: SegmentRow): Resolved {
      const { condition } = definitionOf(row);
      if (condition === null) throw new Error("a STATIC segment has no condition");
      return resolveOrRefuse(condition, createFinder(row.projectSeq), row);
    },
  };
}

/** Finds the segments of a project that refer to another one. */
function createReferrers(db: Db) {
  const findReferring = db
    .select()
    .from(segments)
    .where(
      and(
        eq(segments.projectSeq, bound("projectSeq")),
        isNotNull(segments.condition),
        isNull(segments.deletedAt),
        sql`instr(${segments.condition}, '"segment.') > 0`,
      ),
    )
    .prepare();

  /** Returns the segments whose condition refers to another segment. */
  function readReferring(projectSeq: number): Definition[] {
    return findReferring.all({ projectSeq }).map(definitionOf);
  }

  return {
    /** Returns the segments that refer to segment `id` directly. */
    findDirectUsers: (projectSeq: number, id: string): Definition[] =>
      readReferring(projectSeq).filter((candidate) => referencedIds(candidate).includes(id)),

    /** Returns the segments that refer to segment `id`, directly or through other segments. */
    findDependants(projectSeq: number, id: string): Definition[] {
      const candidates = readReferring(projectSeq);
      const reached = new Set([id]);
      let size: number;
      do {
        size = reached.size;
        for (const candidate of candidates) {
          if (referencedIds(candidate).some((used) => reached.has(used))) reached.add(candidate.id);
        }
      } while (reached.size > size);
      return candidates.filter((candidate) => candidate.id !== id && reached.has(candidate.id));
    },
  };
}

function resolveOrRefuse(
  condition: Condition<Filter>,
  find: FindDefinition,
  self?: Pick<SegmentRow, "id" | "name">,
): Resolved {
  const outcome = resolve(condition, find, self);
  if (!outcome.ok) throw validationError(outcome.errors);
  return outcome.value;
}

function limitErrors(user: Definition, find: FindDefinition): FieldError[] {
  const outcome = user.condition === null ? null : resolve(user.condition, find, user);
  const [error] = outcome === null || outcome.ok ? [] : outcome.errors;
  if (error === undefined) return [];
  const message =
    `does not fit the segment "${user.name}", which refers to this one: ` +
    `one of its filters ${error.message}`;
  return [{ field: "condition", message, code: error.code }];
}

function referencedIds({ condition }: Definition): string[] {
  return condition === null ? [] : referencesOf(condition);
}

function definitionOf({ seq, id, name, condition }: SegmentRow): Definition {
  return { seq, id, name, condition: condition === null ? null : parseStored(condition) };
}

/** Parses a stored condition. It was checked before it was stored, so an error here is a bug. */
function parseStored(text: string): Condition<Filter> {
  return parseCondition(JSON.parse(text), "condition");
}
