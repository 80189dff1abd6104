/** Looks at the DNS as rows know them: which are due, and what the latest one found. */

import { asc, eq, gt, lte, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { domains } from "../../db/schema/domains.ts";
import type { Clock } from "../../lib/clock.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { findingFor, parseFindings } from "./findings.ts";
import type { Look } from "./dns-check.ts";
import { afterLook, type Seen } from "./schedule.ts";
import type { DomainRow } from "./service.ts";

export type Looks = ReturnType<typeof createLooks>;

export function createLooks({ db, clock }: { db: Db; clock: Clock }) {
  return {
    /** Those whose next look is due, longest waiting first. */
    due: (limit: number): DomainRow[] =>
      db
        .select()
        .from(domains)
        .where(lte(domains.nextCheckAt, clock.now()))
        .orderBy(asc(domains.nextCheckAt))
        .limit(limit)
        .all(),

    nextDueAt: (): number | null =>
      db
        .select({ at: sql<number | null>`min(${domains.nextCheckAt})` })
        .from(domains)
        .all()[0]?.at ?? null,

    /** Part of a change: the clock was set. */
    shift({ byMs, after }: DueShift): void {
      db.update(domains)
        .set({ nextCheckAt: sql`${domains.nextCheckAt} + ${byMs}` })
        .where(gt(domains.nextCheckAt, after))
        .run();
    },

    /** Part of a change. Null if the domain is gone or was looked at meanwhile. */
    record({ seq, lastCheckedAt }: DomainRow, look: Look): DomainRow | null {
      // As it is now: the look took its time, and somebody may have vouched for the domain.
      const row = db.select().from(domains).where(eq(domains.seq, seq)).limit(1).get();
      if (row === undefined || row.lastCheckedAt !== lastCheckedAt) return null;
      const now = clock.now();
      const before = parseFindings(row.findings);
      // Where nobody could say, what was known stays.
      const findings = look.flatMap(
        ({ record, finding }) => finding ?? findingFor(record, before) ?? [],
      );
      const isOk = ({ record }: Look[number]) => findingFor(record, findings)?.status === "OK";
      const forBounces = look.filter(({ record }) => record.purpose === "RETURN_PATH");
      return db
        .update(domains)
        .set({
          ...afterLook(row, { key: keySeen(look), isComplete: look.every(isOk) }, now),
          findings: JSON.stringify(findings),
          hasReturnPath: forBounces.length > 0 && forBounces.every(isOk),
          // A look that nobody answered was none.
          lastCheckedAt: look.some(({ finding }) => finding !== null) ? now : lastCheckedAt,
        })
        .where(eq(domains.seq, seq))
        .returning()
        .get();
    },
  };
}

/** The required record is the RSA key; unknown if nobody could say. */
function keySeen(look: Look): Seen["key"] {
  const required = look.filter(({ record }) => record.required);
  const statuses = required.map(({ finding }) => finding?.status ?? "UNKNOWN");
  if (statuses.length > 0 && statuses.every((status) => status === "OK")) return "found";
  return statuses.includes("UNKNOWN") ? "unknown" : "gone";
}
