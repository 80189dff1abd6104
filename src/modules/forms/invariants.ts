/** The rules that sign-up forms and their submissions obey. */

import type { Invariant } from "../../db/invariant.ts";

export const FORM_INVARIANTS: readonly Invariant[] = [
  {
    name: "form-figures",
    rule: "The figures of a form are the sums of its days.",
    violations: `
      SELECT 'form ' || f.id AS id,
             format('%d shown, %d submitted, %d confirmed, %d withheld; by day %d, %d, %d, %d',
                    f.shown, f.submitted, f.confirmed, f.withheld, coalesce(sum(d.shown), 0),
                    coalesce(sum(d.submitted), 0), coalesce(sum(d.confirmed), 0),
                    coalesce(sum(d.withheld), 0)) AS finding
      FROM forms f LEFT JOIN form_days d ON d.form_seq = f.seq
      GROUP BY f.seq
      HAVING f.shown <> coalesce(sum(d.shown), 0) OR f.submitted <> coalesce(sum(d.submitted), 0)
          OR f.confirmed <> coalesce(sum(d.confirmed), 0)
          OR f.withheld <> coalesce(sum(d.withheld), 0)`,
  },
  {
    name: "form-submissions",
    rule: "A submission that was confirmed has no address, and each other one has.",
    violations: `
      SELECT 'submission ' || seq AS id,
             iif(email IS NULL, 'it waits without an address', 'it still has its address') AS finding
      FROM form_submissions WHERE (confirmed_at IS NULL) <> (email IS NOT NULL)`,
  },
];
