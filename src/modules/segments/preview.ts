/**
 * Whom a condition selects before a segment with it is stored: the number, and some members. If
 * counting takes long, the number is estimated from random contacts, which another thread looks at
 * meanwhile; a second request waits for the exact one.
 */

import type { App } from "../../core/app.ts";
import { presentContact } from "../contacts/service.ts";
import type { Condition } from "./condition/condition.ts";
import type { Filter } from "./condition/filter.ts";
import type { Definitions } from "./definitions.ts";
import type { Counted, ConditionPreview } from "./model.ts";
import type { Audiences } from "./sql/audiences.ts";
import type { Audience } from "./sql/plan.ts";
import { estimate } from "./sql/tally.ts";

const MEMBERS = 10;
/** Longest time for counting if the request takes an estimate, in milliseconds. */
const WAIT_MS = 200;

export function createPreview(deps: {
  app: App;
  audiences: Pick<Audiences, "pageWithTotal" | "sample">;
  definitions: Pick<Definitions, "conditionAudience">;
}) {
  const { app, audiences, definitions } = deps;

  async function estimateAll(audience: Audience): Promise<number> {
    const tallies = await estimate(app, audience, WAIT_MS);
    return tallies.reduce((sum, { count }) => sum + count, 0);
  }

  return async (
    projectSeq: number,
    condition: Condition<Filter>,
    counted: Counted,
  ): Promise<ConditionPreview> => {
    const audience = definitions.conditionAudience(projectSeq, condition);
    if (counted === "EXACT") {
      const bounds = { beforeSeq: null, limit: MEMBERS };
      const { rows, total } = await audiences.pageWithTotal(audience, bounds);
      return { count: total, isExact: true, members: rows.map(presentContact) };
    }
    const estimating = estimateAll(audience);
    // Nothing waits for the estimate if the count is exact.
    estimating.catch(() => undefined);
    const { rows, total } = await audiences.sample(audience, MEMBERS, WAIT_MS);
    return {
      count: total ?? (await estimating),
      isExact: total !== null,
      members: rows === null ? null : rows.map(presentContact),
    };
  };
}
