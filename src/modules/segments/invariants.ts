/** The rules that segments and their members obey. */

import type { Invariant } from "../../db/invariant.ts";

export const SEGMENT_INVARIANTS: readonly Invariant[] = [
  {
    name: "segment-members",
    rule: "The members of a segment are contacts of its project.",
    violations: `
      SELECT 'segment ' || segments.id AS id,
             'contact ' || contacts.id || ' belongs to another project' AS finding
      FROM segment_members AS members
      JOIN segments ON segments.seq = members.segment_seq
      JOIN contacts ON contacts.seq = members.contact_seq
      WHERE contacts.project_seq <> segments.project_seq`,
  },
  {
    name: "segment-conditions",
    rule: "Exactly the DYNAMIC segments have a condition.",
    violations: `
      SELECT 'segment ' || id AS id,
             type || iif(condition IS NULL, ' without a condition', ' with a condition') AS finding
      FROM segments WHERE (type = 'DYNAMIC') <> (condition IS NOT NULL)`,
  },
];
