/**
 * Checks the DNS records of domains when they are due, a few domains at a time. One timer sleeps
 * until the next due time. A check that was interrupted is due again after the next start.
 */

import { and, asc, eq, gt, lte, min, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { domains } from "../../db/schema/domains.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { createWorker } from "../../lib/worker.ts";
import { pageUrl } from "../projects.ts";
import { checkDns, type DnsCheck } from "./dns-check.ts";
import { checkOthers, type DomainRow, type DomainStore, recordsOfDomain } from "./domains.ts";
import { findingFor, parseFindings } from "./findings.ts";
import { afterCheck, type CheckResult } from "./schedule.ts";

const MAX_CONCURRENT = 4;
/** Longest time between two polls, because a command in another process may add a domain. */
const LONGEST_SLEEP_MS = 60_000;
/** Shortest time between two polls, so that a domain that stays due causes no busy loop. */
const SHORTEST_SLEEP_MS = 1_000;

const DOMAIN_FAILED = "a domain may no longer send: its DKIM record is missing in the DNS";

export const domainChecks = perApp((app: App) => createDomainChecks(app));

function createDomainChecks(app: App) {
  const { clock, log } = app;
  const underWay = new Map<number, Promise<DnsCheck>>();
  const worker = createWorker({
    clock,
    step: checkDue,
    onError: (error) => log.warn("domains could not be checked", { error: describeError(error) }),
    pauseMs: SHORTEST_SLEEP_MS,
  });

  /** Checks a domain now and stores the findings. Shares a check that is already running. */
  function check(row: DomainRow): Promise<DnsCheck> {
    const earlier = underWay.get(row.seq);
    if (earlier !== undefined) return earlier;
    const checking = checkAndReport(row).finally(() => underWay.delete(row.seq));
    underWay.set(row.seq, checking);
    return checking;
  }

  async function checkAndReport(row: DomainRow): Promise<DnsCheck> {
    const { found, updated } = await checkDomain(app, row);
    if (updated !== null) report(row, updated);
    return found;
  }

  function report(before: DomainRow, after: DomainRow): void {
    const { projectSeq, id, domain, status } = after;
    const see = pageUrl(app, projectSeq, `domains/${id}`);
    if (before.status !== status) {
      const fields = { domain, status, see };
      if (status === "FAILED") log.warn(DOMAIN_FAILED, fields);
      else log.info("a domain is verified", fields);
    } else if (before.failingSince === null && after.failingSince !== null) {
      log.warn("a verified domain lost its key in the DNS", { domain, see });
    }
  }

  /** Checks all domains that are due. Returns the delay until the next one is due. */
  async function checkDue(): Promise<number> {
    for (let due = dueNow(); due.length > 0; due = dueNow()) await Promise.all(due.map(check));
    const nextAt = nextDueAt(app) ?? Infinity;
    return Math.max(SHORTEST_SLEEP_MS, Math.min(nextAt - clock.now(), LONGEST_SLEEP_MS));
  }

  function dueNow(): DomainRow[] {
    return worker.isRunning() ? dueDomains(app, MAX_CONCURRENT) : [];
  }

  return {
    check,
    /** Starts a round, because a domain may be due. */
    wake: worker.wake,
    start: worker.start,
    /** Waits for running checks, which end soon if the DNS client was closed before. */
    stop: worker.stop,
  };
}

/** Checks a domain now and stores the findings. `updated` is null if it was removed meanwhile. */
export async function checkDomain(
  store: DomainStore & Pick<App, "dns" | "writer">,
  row: DomainRow,
): Promise<{ found: DnsCheck; updated: DomainRow | null }> {
  const found = await checkDns(store.dns, row.domain, recordsOfDomain(store, row));
  return { found, updated: await store.writer.write(() => storeCheck(store, row, found)) };
}

/** Domains whose next check is due, in the order of their due times. */
function dueDomains({ db, clock }: App, limit: number): DomainRow[] {
  return db
    .select()
    .from(domains)
    .where(lte(domains.nextCheckAt, clock.now()))
    .orderBy(asc(domains.nextCheckAt))
    .limit(limit)
    .all();
}

function nextDueAt({ db }: App): number | null {
  return (
    db
      .select({ at: min(domains.nextCheckAt) })
      .from(domains)
      .get()?.at ?? null
  );
}

/** Part of a change: shifts all due times later than `after`, because the clock was set. */
export function shiftChecks({ db }: App, { byMs, after }: DueShift): void {
  db.update(domains)
    .set({ nextCheckAt: sql`${domains.nextCheckAt} + ${byMs}` })
    .where(gt(domains.nextCheckAt, after))
    .run();
}

/** Part of a change: stores a check. Null if the domain was removed or checked meanwhile. */
function storeCheck(
  store: DomainStore,
  { seq, lastCheckedAt }: DomainRow,
  check: DnsCheck,
): DomainRow | null {
  const { db, clock } = store;
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
  const { status, verifiedAt } = isTaken(store, row) ? row : state;
  const forBounces = check.filter(({ record }) => record.purpose === "RETURN_PATH");
  if (row.status === "VERIFIED" && status === "FAILED") {
    checkOthers(store, { domain: row.domain, now });
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
}

/** Whether another project has verified the domain, so that this one cannot. */
function isTaken({ db }: DomainStore, { seq, domain }: DomainRow): boolean {
  const verified = and(eq(domains.domain, domain), eq(domains.status, "VERIFIED"));
  const owner = db.select({ seq: domains.seq }).from(domains).where(verified).limit(1).get();
  return owner !== undefined && owner.seq !== seq;
}

/** The state of the required record, the RSA key; unknown if its look-up failed. */
function keyStateOf(check: DnsCheck): CheckResult["key"] {
  const required = check.filter(({ record }) => record.required);
  const statuses = required.map(({ finding }) => finding?.status ?? "UNKNOWN");
  if (statuses.length > 0 && statuses.every((status) => status === "OK")) return "found";
  return statuses.includes("UNKNOWN") ? "unknown" : "gone";
}
