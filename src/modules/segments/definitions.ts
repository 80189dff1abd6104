/** Stored segments as conditions refer to them, and conditions made ready to be asked. */

import { and, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Clock } from "../../lib/clock.ts";
import { type FieldError, notFound, validationError } from "../../lib/errors.ts";
import { type Condition, parseCondition } from "./condition.ts";
import type { Filter } from "./filter.ts";
import { type Audience, audienceOf, conjunctsOf } from "./plan.ts";
import {
  type Definition,
  type FindDefinition,
  referencesOf,
  type Resolved,
  resolve,
  type ResolvedTest,
} from "./references.ts";

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

  function get(projectSeq: number, id: string): SegmentRow {
    const row = findById.get({ projectSeq, id });
    if (row === undefined) throw notFound("SEGMENT");
    return row;
  }

  /** Reads each segment once. */
  function finder(projectSeq: number): FindDefinition {
    const known = new Map<string, Definition | null>();
    return (id) => {
      const earlier = known.get(id);
      if (earlier !== undefined) return earlier;
      const row = findById.get({ projectSeq, id });
      const definition = row === undefined ? null : definitionOf(row);
      known.set(id, definition);
      return definition;
    };
  }

  /** Those whose condition names another segment. */
  function referring(projectSeq: number): Definition[] {
    return findReferring.all({ projectSeq }).map(definitionOf);
  }

  /** Those that contain segment `id`, in themselves or through others. */
  function dependants(projectSeq: number, id: string): Definition[] {
    const candidates = referring(projectSeq);
    const reached = new Set([id]);
    let size: number;
    do {
      size = reached.size;
      for (const candidate of candidates) {
        if (namesOf(candidate).some((name) => reached.has(name))) reached.add(candidate.id);
      }
    } while (reached.size > size);
    return candidates.filter((candidate) => candidate.id !== id && reached.has(candidate.id));
  }

  function audienceFor(projectSeq: number, tests: readonly ResolvedTest[]): Audience {
    return audienceOf(tests, { projectSeq, now: clock.now() });
  }

  return {
    get,
    dependants,

    /** The segments that name segment `id` in their own condition. */
    users: (projectSeq: number, id: string): Definition[] =>
      referring(projectSeq).filter((candidate) => namesOf(candidate).includes(id)),

    /**
     * Refuses (422) a condition that refers to what is not there or to itself, or that is too much
     * with what it refers to; `self` is the segment that it is going to belong to. What contains
     * that segment must stay within the limits as well.
     */
    ensureResolvable(projectSeq: number, condition: Condition<Filter>, self?: SegmentRow): void {
      const find = finder(projectSeq);
      const own = resolve(condition, find, self);
      if (!own.ok) throw validationError(own.errors);
      if (self === undefined) return;
      const changed: Definition = { ...definitionOf(self), condition };
      const findChanged: FindDefinition = (id) => (id === self.id ? changed : find(id));
      const errors = dependants(projectSeq, self.id).flatMap((user) => tooMuch(user, findChanged));
      if (errors.length > 0) throw validationError(errors);
    },

    /** Members of a segment, right now, for whom `tests` hold as well. */
    segmentAudience(row: SegmentRow, tests: readonly ResolvedTest[] = []): Audience {
      const { seq: segmentSeq, projectSeq } = row;
      const { condition } = definitionOf(row);
      const own: readonly ResolvedTest[] =
        condition === null
          ? [{ kind: "members", segmentSeq, isMember: true }]
          : conjunctsOf(resolveOrRefuse(condition, finder(projectSeq), row));
      return audienceFor(projectSeq, [...tests, ...own]);
    },

    /** Those for whom a checked condition holds, and `tests` as well. */
    conditionAudience(
      projectSeq: number,
      condition: Condition<Filter> | null,
      tests: readonly ResolvedTest[] = [],
    ): Audience {
      const own =
        condition === null ? [] : conjunctsOf(resolveOrRefuse(condition, finder(projectSeq)));
      return audienceFor(projectSeq, [...tests, ...own]);
    },

    /** The condition of a DYNAMIC segment with references in place. */
    resolve(row: SegmentRow): Resolved {
      const { condition } = definitionOf(row);
      if (condition === null) throw new Error("a STATIC segment has no condition");
      return resolveOrRefuse(condition, finder(row.projectSeq), row);
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

function tooMuch(user: Definition, find: FindDefinition): FieldError[] {
  const outcome = user.condition === null ? null : resolve(user.condition, find, user);
  const [error] = outcome === null || outcome.ok ? [] : outcome.errors;
  if (error === undefined) return [];
  const message = `does not fit the segment "${user.name}", which uses this one: there a filter ${error.message}`;
  return [{ field: "condition", message, code: error.code }];
}

function namesOf({ condition }: Definition): string[] {
  return condition === null ? [] : referencesOf(condition);
}

function definitionOf({ seq, id, name, condition }: SegmentRow): Definition {
  return { seq, id, name, condition: condition === null ? null : parseStored(condition) };
}

/** What was checked when it was stored. */
function parseStored(text: string): Condition<Filter> {
  return parseCondition(JSON.parse(text), "condition");
}
