/** The rows of DNS checks: which checks are due, and the findings of the latest one. */

import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { domains } from "../../db/schema/domains.ts";
import type { Clock } from "../../lib/clock.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { findingFor, parseFindings } from "./findings.ts";
import type { DnsCheck } from "./dns-check.ts";
import { afterCheck, type CheckResult } from "./schedule.ts";
import { checkOthers, type DomainRow } from "./service.ts";

export type CheckRows = ReturnType<typeof createCheckRows>;

export function createCheckRows({ db, clock }: { db: Db; clock: Clock }) {
  /** Whether another project has verified the domain, so that this one cannot. */
  function isTaken({ seq, domain }: DomainRow): boolean {
    const verified = and(eq(domains.domain, domain), eq(domains.status, "VERIFIED"));
    const owner = db.select({ seq: domains.seq }).from(domains).where(verified).limit(1).get();
    return owner !== undefined && owner.seq !== seq;
  }

  return {
    /** Domains whose next check is due, in the order of their due times. */
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

    /** Part of a change: shifts all due times later than `after`, because the clock was set. */
    shift({ byMs, after }: DueShift): void {
      db.update(domains)
        .set({ nextCheckAt: sql`${domains.nextCheckAt} + ${byMs}` })
        .where(gt(domains.nextCheckAt, after))
        .run();
    },

    /** Part of a change: stores a check. Null if the domain was removed or checked meanwhile. */
    record({ seq, lastCheckedAt }: DomainRow, check: DnsCheck): DomainRow | null {
      // Reads the row again, because the operator may have changed it while the check was running.
      const row = db.select().from(domains).where(eq(domains.seq, seq)).limit(1).get();
      if (row === undefined || row.lastCheckedAt !== lastCheckedAt) return null;
      const now = clock.now();
      const before = parseFindings(row.findings);
      // A record whose look-up failed keeps the previous finding.
      const findings = check.flatMap(
        ({ record, finding }) => finding ?? findingFor(record, before) ?? [],
      );
      const isOk = ({ record }: DnsCheck[number]) => findingFor(record, findings)?.status === "OK";
      const state = afterCheck(row, { key: keyStateOf(check), isComplete: check.every(isOk) }, now);
      const { status, verifiedAt } = isTaken(row) ? row : state;
      const forBounces = check.filter(({ record }) => record.purpose === "RETURN_PATH");
      if (row.status === "VERIFIED" && status === "FAILED") {
        checkOthers(db, { domain: row.domain, now });
      }
      return db
        .update(domains)
        .set({
          ...state,
          status,
          verifiedAt,
          findings: JSON.stringify(findings),
          hasReturnPath: forBounces.length > 0 && forBounces.every(isOk),
          // A check without any answer from the DNS does not count.
          lastCheckedAt: check.some(({ finding }) => finding !== null) ? now : lastCheckedAt,
        })
        .where(eq(domains.seq, seq))
        .returning()
        .get();
    },
  };
}

/** The state of the required record, the RSA key; unknown if its look-up failed. */
function keyStateOf(check: DnsCheck): CheckResult["key"] {
  const required = check.filter(({ record }) => record.required);
  const statuses = required.map(({ finding }) => finding?.status ?? "UNKNOWN");
  if (statuses.length > 0 && statuses.every((status) => status === "OK")) return "found";
  return statuses.includes("UNKNOWN") ? "unknown" : "gone";
}
