/**
 * Checks the DNS records of domains when they are due, a few domains at a time. One timer sleeps
 * until the next due time. A check that was interrupted is due again after the next start.
 */

import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { createWorker } from "../../lib/worker.ts";
import type { DnsCheck, CheckDns } from "./dns-check.ts";
import type { CheckRows } from "./check-rows.ts";
import type { DomainRow, Domains } from "./service.ts";

export type DomainChecks = ReturnType<typeof createDomainChecks>;

type DomainChecksDeps = {
  domains: Pick<Domains, "recordsOf">;
  checkRows: CheckRows;
  checkDns: CheckDns;
  writer: Writer;
  clock: Clock;
  log: Log;
  /** The address of the page of a domain, for the log. */
  pageOf: (domain: Pick<DomainRow, "projectSeq" | "id">) => string;
};

const MAX_CONCURRENT = 4;
/** Longest time between two polls, because a command in another process may add a domain. */
const LONGEST_SLEEP_MS = 60_000;
/** Shortest time between two polls, so that a domain that stays due causes no busy loop. */
const SHORTEST_SLEEP_MS = 1_000;

const DOMAIN_FAILED = "a domain may no longer send: its DKIM record is missing in the DNS";

export function createDomainChecks(deps: DomainChecksDeps) {
  const { domains, checkRows, checkDns, writer, clock, log } = deps;
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
    const checking = checkAndStore(row).finally(() => underWay.delete(row.seq));
    underWay.set(row.seq, checking);
    return checking;
  }

  async function checkAndStore(row: DomainRow): Promise<DnsCheck> {
    const found = await checkDns(row.domain, domains.recordsOf(row));
    const updated = await writer.write(() => checkRows.record(row, found));
    if (updated !== null) report(row, updated);
    return found;
  }

  function report(before: DomainRow, after: DomainRow): void {
    const { domain, status } = after;
    if (before.status !== status) {
      const fields = { domain, status, see: deps.pageOf(after) };
      if (status === "FAILED") log.warn(DOMAIN_FAILED, fields);
      else log.info("a domain is verified", fields);
    } else if (before.failingSince === null && after.failingSince !== null) {
      log.warn("a verified domain lost its key in the DNS", { domain, see: deps.pageOf(after) });
    }
  }

  /** Checks all domains that are due. Returns the delay until the next one is due. */
  async function checkDue(): Promise<number> {
    for (let due = dueNow(); due.length > 0; due = dueNow()) await Promise.all(due.map(check));
    const nextAt = checkRows.nextDueAt() ?? Infinity;
    return Math.max(SHORTEST_SLEEP_MS, Math.min(nextAt - clock.now(), LONGEST_SLEEP_MS));
  }

  function dueNow(): DomainRow[] {
    return worker.isRunning() ? checkRows.due(MAX_CONCURRENT) : [];
  }

  return {
    check,
    /** Starts a round, because a domain may be due. */
    wake: worker.wake,
    shift: checkRows.shift,
    start: worker.start,
    /** Waits for running checks, which end soon if the DNS client was closed before. */
    stop: worker.stop,
  };
}
