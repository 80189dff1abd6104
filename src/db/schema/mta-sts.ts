import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Policies of recipients' domains (RFC 8461), so that they hold beyond a restart. */
export const mtaStsPolicies = sqliteTable(
  "mta_sts_policies",
  {
    domain: text("domain").primaryKey(),
    /** The id in the TXT record that it was fetched for. */
    recordId: text("record_id").notNull(),
    /** JSON: Policy (protocols/mta-sts/policy.ts). */
    policy: text("policy").notNull(),
    fetchedAt: integer("fetched_at").notNull(),
    endsAt: integer("ends_at").notNull(),
  },
  (table) => [index("mta_sts_policies_end").on(table.endsAt)],
);
