/** Invariants of contacts, of their stored counts and of jobs. */

import type { Invariant } from "../../db/invariant.ts";

export const CONTACT_INVARIANTS: readonly Invariant[] = [
  {
    name: "contact-counts",
    rule: "The contact counts of each project equal its contacts.",
    violations: `
      SELECT 'project ' || projects.id AS id,
             format('counted %d, %d of them subscribed, but there are %d and %d', counted.total,
                    counted.subscribed, coalesce(found.total, 0), coalesce(found.subscribed, 0))
               AS finding
      FROM projects
      LEFT JOIN contact_counts AS counted ON counted.project_seq = projects.seq
      LEFT JOIN (SELECT project_seq, count(*) AS total, sum(is_subscribed) AS subscribed
                 FROM contacts GROUP BY project_seq) AS found ON found.project_seq = projects.seq
      WHERE counted.total IS NOT coalesce(found.total, 0)
         OR counted.subscribed IS NOT coalesce(found.subscribed, 0)`,
  },
  {
    name: "job-progress",
    rule: "A job has an end time if and only if it has ended, and its results do not exceed its processed rows.",
    violations: `
      SELECT 'job ' || id AS id,
             format('%s, ended %s, %d of %d processed', status, coalesce(finished_at, 'never'),
                    created + updated + failed, processed) AS finding
      FROM jobs
      WHERE (status IN ('COMPLETED', 'FAILED')) <> (finished_at IS NOT NULL)
         OR created + updated + failed > processed`,
  },
];
