/** The mails that one walk through the audience of an A/B test writes. */

import type { App } from "../../../core/app.ts";
import type { campaigns } from "../../../db/schema/campaigns.ts";
import { statement } from "../../../db/statement.ts";
import { abGroup, HOLD_OUT, REST } from "./ab-groups.ts";
import { abPlan, type AbTestRow, variantContent } from "./ab-tests.ts";

type Campaign = typeof campaigns.$inferSelect;

/** Contacts who get the same content. `variant` is null for mails that are not in the test. */
export type AbMails = { content: Campaign; variant: string | null; contactSeqs: readonly number[] };

const findIds = statement<{ seq: number; id: string }, [string]>(
  `SELECT contacts.seq, contacts.id
   FROM json_each(?) AS asked CROSS JOIN contacts ON contacts.seq = asked.value`,
);

// A suppressed or unsubscribed contact would get no mail in any case, and proves nothing.
const holdOut = statement<unknown, [number, string, number]>(`
  INSERT INTO ab_hold_outs (campaign_seq, contact_seq)
  SELECT ?1, contacts.seq FROM json_each(?2) AS asked CROSS JOIN contacts ON contacts.seq = asked.value
  WHERE (contacts.is_subscribed OR ?3)
    AND NOT EXISTS (SELECT 1 FROM suppressions WHERE suppressions.project_seq = contacts.project_seq
                      AND suppressions.email = contacts.email)
  ON CONFLICT DO NOTHING`);

const storeRest = statement<unknown, [number]>(
  "UPDATE ab_tests SET has_rest = 1 WHERE campaign_seq = +? AND NOT has_rest",
);

/**
 * Part of a change: divides a slice of the audience. The first walk writes the mails of the variants, and
 * stores who gets nothing and whether there are others; the second one writes the mails of the others,
 * with the winner.
 */
export function abMails(
  app: App,
  { campaign, test }: { campaign: Campaign; test: AbTestRow },
  contactSeqs: readonly number[],
): AbMails[] {
  const groups = groupsOf(app, { campaign, test }, contactSeqs);
  if (test.phase === "TEST") {
    const held = groups.get(HOLD_OUT);
    const isNotice = campaign.category === "TRANSACTIONAL" ? 1 : 0;
    if (held !== undefined) holdOut(app).run(campaign.seq, JSON.stringify(held), isNotice);
    if (groups.has(REST)) storeRest(app).run(campaign.seq);
    return test.variants.flatMap((variant) => {
      const seqs = groups.get(variant.id);
      if (seqs === undefined) return [];
      const content = variantContent(campaign, variant);
      return [{ content, variant: variant.id, contactSeqs: seqs }];
    });
  }
  const winner = test.variants.find(({ id }) => id === test.winnerId);
  const rest = groups.get(REST);
  if (winner === undefined || rest === undefined) return [];
  return [{ content: variantContent(campaign, winner), variant: null, contactSeqs: rest }];
}

function groupsOf(
  app: App,
  { campaign, test }: { campaign: Campaign; test: AbTestRow },
  contactSeqs: readonly number[],
): Map<string, number[]> {
  const plan = abPlan(test);
  const groups = new Map<string, number[]>();
  for (const { seq, id } of findIds(app).all(JSON.stringify(contactSeqs))) {
    const group = abGroup(plan, campaign.id, id);
    const found = groups.get(group);
    if (found === undefined) groups.set(group, [seq]);
    else found.push(seq);
  }
  return groups;
}
