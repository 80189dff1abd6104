/**
 * Whom a condition selects before a segment with it is stored: the number, and some members. Where
 * counting takes long, the number is estimated from random contacts; a second request waits for it.
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
    const tallies = await estimate(app, audience);
    return tallies.reduce((sum, { count }) => sum + count, 0);
  }

  return async (
    projectSeq: number,
    condition: Condition<Filter>,
    counted: Counted,
  ): Promise<ConditionPreview> => {
    const audience = definitions.conditionAudience(projectSeq, condition);
    const { rows, total } =
      counted === "EXACT"
        ? await audiences.pageWithTotal(audience, { beforeSeq: null, limit: MEMBERS })
        : await audiences.sample(audience, MEMBERS, WAIT_MS);
    return {
      count: total ?? (await estimateAll(audience)),
      isExact: total !== null,
      members: rows === null ? null : rows.map(presentContact),
    };
  };
}
