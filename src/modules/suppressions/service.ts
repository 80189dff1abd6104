/** Addresses that must not be written to: checked at acceptance and again when a mail leaves. */

import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { suppressions } from "../../db/schema/contacts.ts";

export type SuppressionReason = (typeof suppressions.$inferSelect)["reason"];
export type Suppressions = ReturnType<typeof createSuppressions>;

export function createSuppressions({ db }: { db: Db }) {
  const find = db
    .select({ reason: suppressions.reason })
    .from(suppressions)
    .where(
      and(
        eq(suppressions.projectSeq, sql.placeholder("projectSeq")),
        eq(suppressions.email, sql.placeholder("email")),
      ),
    )
    .limit(1)
    .prepare();

  return {
    reasonFor: (projectSeq: number, email: string): SuppressionReason | null =>
      find.get({ projectSeq, email })?.reason ?? null,

    /** Part of a change. The first reason stays. */
    add(projectSeq: number, email: string, entry: { reason: SuppressionReason; at: number }): void {
      db.insert(suppressions)
        .values({ projectSeq, email, reason: entry.reason, createdAt: entry.at })
        .onConflictDoNothing()
        .run();
    },
  };
}
