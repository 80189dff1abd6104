/** Reads stored segments, resolves references between them and makes audiences of conditions. */

import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Clock } from "../../lib/clock.ts";
import { type FieldError, notFound, validationError } from "../../lib/errors.ts";
import { type Condition, parseStored } from "./condition/condition.ts";
import type { FieldTest } from "./condition/field-test.ts";
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
  const unknownObjects = createObjectCheck(db);

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

  /**
   * The errors of a condition that refers to an unknown segment or to itself, or that exceeds the
   * limits together with the segments that it refers to. `self` is the segment that it is for.
   */
  function errorsOf(
    projectSeq: number,
    condition: Condition<Filter>,
    self?: Pick<Definition, "id" | "name">,
  ): readonly FieldError[] {
    const outcome = resolve(condition, createFinder(projectSeq), self);
    return outcome.ok ? [] : outcome.errors;
  }

  return {
    get,
    findDirectUsers,
    findDependants,
    errorsOf,

    /** The errors of the condition of a segment together with those that it refers to. */
    errorsOfSegment: (projectSeq: number, segment: Definition): readonly FieldError[] =>
      segment.condition === null ? [] : errorsOf(projectSeq, segment.condition, segment),

    /** Refuses a condition that has errors with 422. */
    ensureResolvable(projectSeq: number, condition: Condition<Filter>, self?: SegmentRow): void {
      const errors = [
        ...unknownObjects(projectSeq, condition),
        ...errorsOf(projectSeq, condition, self),
      ];
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

/** Returns the errors of filters on a campaign, a template or a topic that the project does not have. */
function createObjectCheck({ sqlite }: Db) {
  const known = {
    campaign: sqlite.prepare<unknown, [number, string]>(
      "SELECT 1 FROM campaigns WHERE project_seq = +? AND id = +?",
    ),
    template: sqlite.prepare<unknown, [number, string]>(
      "SELECT 1 FROM templates WHERE project_seq = +? AND id = +?",
    ),
    topic: sqlite.prepare<unknown, [number, string]>(
      "SELECT 1 FROM topics WHERE project_seq = +? AND key = +?",
    ),
  };

  return function errorsIn(projectSeq: number, { groups }: Condition<Filter>): FieldError[] {
    return groups.flatMap(({ filters, conditions }) => [
      ...filters.flatMap(({ test, at }): FieldError[] => {
        const named = test.kind === "field" ? objectOf(test.target) : null;
        if (named === null || known[named.of].get(projectSeq, named.id) !== null) return [];
        const message = `names no ${named.of} of this project`;
        return [{ field: `${at}.field`, message, code: "unknown_reference" }];
      }),
      ...(conditions === null ? [] : errorsIn(projectSeq, conditions)),
    ]);
  };
}

/** The object that a field names by its id or key. */
function objectOf(
  target: FieldTest["target"],
): { of: "campaign" | "template" | "topic"; id: string } | null {
  if (target.kind === "topic") return { of: "topic", id: target.key };
  return target.kind === "mail" ? target : null;
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

function referencedIds({ condition }: Definition): string[] {
  return condition === null ? [] : referencesOf(condition);
}

function storedCondition(text: string | null): Condition<Filter> | null {
  return text === null ? null : parseStored(JSON.parse(text), "condition");
}

function definitionOf({ seq, id, name, condition }: SegmentRow): Definition {
  return { seq, id, name, condition: storedCondition(condition) };
}
