/**
 * Contacts for a campaign with an A/B test. Its groups follow from the ids of the campaign and of the
 * contacts, so contacts with suitable ids give groups of known sizes, however few they are.
 */

import type { Database } from "bun:sqlite";
import { abGroup, HOLD_OUT, REST } from "../../src/modules/campaigns/ab-tests/ab-groups.ts";

/** A draft, by its id, and the percents of its A/B test with two variants. */
export type AbDraft = { id: string; share: number; holdOut: number };

/** Inserts contacts into the project of the draft: as many of each group as `sizes` says, in its order. */
export function insertAbContacts(
  sqlite: Database,
  { id, share, holdOut }: AbDraft,
  sizes: Readonly<Record<string, number>>,
): void {
  const plan = { share, holdOut, variantIds: ["A", "B"] };
  const contact = sqlite.prepare<unknown, [string, string]>(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     SELECT ?1, project_seq, ?1 || '@x.test', 1, '{}', 0, 0 FROM campaigns WHERE id = ?2`,
  );
  let tried = 0;
  for (const [group, size] of Object.entries(sizes)) {
    for (let found = 0; found < size;) {
      const contactId = `ab-${++tried}-${id}`;
      if (abGroup(plan, id, contactId) !== group) continue;
      contact.run(contactId, id);
      found++;
    }
  }
}

/** Three contacts of each variant and, if the test has these groups, four of the rest and two held out. */
export const smallGroups = ({ share, holdOut }: Omit<AbDraft, "id">) => ({
  A: 3,
  B: 3,
  [REST]: share + holdOut < 100 ? 4 : 0,
  [HOLD_OUT]: holdOut > 0 ? 2 : 0,
});
