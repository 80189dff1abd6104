/**
 * Whom a condition selects before a segment with it is stored: the number, and some members. Where
 * counting takes long, the number is estimated from random contacts; a second request waits for it.
 */

import type { Db } from "../../db/open.ts";
import type { Clock } from "../../lib/clock.ts";
import { presentContact } from "../contacts/service.ts";
import type { Condition } from "./condition/condition.ts";
import type { Filter } from "./condition/filter.ts";
import type { Definitions } from "./definitions.ts";
import type { Counted, ConditionPreview } from "./model.ts";
import type { Audiences } from "./sql/audiences.ts";
import type { Audience } from "./sql/plan.ts";

const MEMBERS = 10;
/** Longest time for counting if the request takes an estimate, in milliseconds. */
const WAIT_MS = 200;
/** Random contacts of an estimate; all of them are compared in one statement. */
const ASKED = 400;

export function createPreview(deps: {
  db: Db;
  clock: Clock;
  audiences: Audiences;
  definitions: Pick<Definitions, "conditionAudience">;
}) {
  const { db, clock, audiences, definitions } = deps;
  const findRange = db.sqlite.prepare<Range, [number, number]>(`
    SELECT (SELECT seq FROM contacts WHERE project_seq = ?1 ORDER BY seq LIMIT 1) AS first,
           (SELECT seq FROM contacts WHERE project_seq = ?1 ORDER BY seq DESC LIMIT 1) AS last,
           (SELECT total FROM contact_counts WHERE project_seq = ?2) AS total`);
  const findNext = db.sqlite.prepare<{ seq: number }, [number, number]>(
    "SELECT seq FROM contacts WHERE project_seq = ? AND seq >= ? ORDER BY seq LIMIT 1",
  );

  /** The number of members, from the part of random contacts that are members. */
  function estimate(audience: Audience): number {
    const { projectSeq } = audience;
    const range = findRange.get(projectSeq, projectSeq);
    const { first = null, last = null, total = null } = range ?? {};
    if (first === null || last === null || total === null) return 0;
    const seqs = Array.from({ length: ASKED }, () => {
      const from = first + Math.floor(Math.random() * (last - first + 1));
      return findNext.get(projectSeq, from)?.seq ?? last;
    });
    const asked = new Set(seqs);
    const found = audiences.matching(audience, [...asked]).length;
    return Math.round((found / asked.size) * total);
  }

  /** Resolves to null after `WAIT_MS`. */
  async function within<T>(work: Promise<T>): Promise<T | null> {
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const cancel = clock.after(WAIT_MS, () => resolve(null));
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel();
    }
  }

  return async (
    projectSeq: number,
    condition: Condition<Filter>,
    counted: Counted,
  ): Promise<ConditionPreview> => {
    const audience = definitions.conditionAudience(projectSeq, condition);
    const counting = audiences.count(audience);
    const finding = audiences.page(audience, { beforeSeq: null, limit: MEMBERS });
    const isExact = counted === "EXACT";
    const [count, members] = await Promise.all([
      isExact ? counting : within(counting),
      isExact ? finding : within(finding),
    ]);
    return {
      count: count ?? estimate(audience),
      isExact: count !== null,
      members: members === null ? null : members.map(presentContact),
    };
  };
}

type Range = { first: number | null; last: number | null; total: number | null };
