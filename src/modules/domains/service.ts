/** Sending domains of a project. */

import { and, desc, eq, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { domains } from "../../db/schema/domains.ts";
import type { Change } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";

export type DomainRow = typeof domains.$inferSelect;
export type Domains = ReturnType<typeof createDomains>;

export function createDomains({ db, clock }: { db: Db; clock: Clock }) {
  const findVerified = db
    .select({ seq: domains.seq })
    .from(domains)
    .where(
      and(
        eq(domains.domain, sql.placeholder("domain")),
        eq(domains.projectSeq, sql.placeholder("projectSeq")),
        eq(domains.status, "VERIFIED"),
      ),
    )
    .limit(1)
    .prepare();

  return {
    /** Exactly this domain: a verified parent says nothing about it (interface decision B). */
    isVerified: (projectSeq: number, domain: string): boolean =>
      findVerified.get({ projectSeq, domain }) !== undefined,

    /** Adds a domain as verified by the operator's word; repeating it changes nothing. */
    addVerified(projectSeq: number, domain: string): Change<DomainRow> {
      return () => {
        const known = db.select().from(domains).where(eq(domains.domain, domain)).limit(1).get();
        if (known !== undefined && known.projectSeq !== projectSeq) throw domainTaken(domain);
        const now = clock.now();
        return db
          .insert(domains)
          .values({
            id: newId(now),
            projectSeq,
            domain,
            status: "VERIFIED",
            verifiedAt: now,
            nextCheckAt: now,
            createdAt: now,
          })
          .onConflictDoUpdate({
            target: domains.domain,
            set: { status: "VERIFIED", verifiedAt: sql`coalesce(verified_at, ${now})` },
          })
          .returning()
          .get();
      };
    },

    list: (projectSeq: number): DomainRow[] =>
      db
        .select()
        .from(domains)
        .where(eq(domains.projectSeq, projectSeq))
        .orderBy(desc(domains.seq))
        .all(),
  };
}

function domainTaken(domain: string): AppError {
  return new AppError(409, "CONFLICT", `${domain} belongs to another project.`, {
    suggestion: "Remove it there first: a domain belongs to one project of the installation.",
  });
}
