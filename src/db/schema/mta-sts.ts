import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** MTA-STS policies of recipient domains (RFC 8461), stored so that they survive a restart. */
export const mtaStsPolicies = sqliteTable(
  "mta_sts_policies",
  {
    domain: text("domain").primaryKey(),
    /** The id of the TXT record for which the policy was fetched. */
    recordId: text("record_id").notNull(),
    /** JSON: Policy (protocols/mta-sts/policy.ts). */
    policy: text("policy").notNull(),
    fetchedAt: integer("fetched_at").notNull(),
    endsAt: integer("ends_at").notNull(),
  },
  (table) => [index("mta_sts_policies_end").on(table.endsAt)],
);
