/**
 * Looks domains up when their time has come: due rows, a few at once, and one timer that sleeps
 * until the earliest. A look that was cut short is due again at the next start.
 */

import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { Look, LookUp } from "./dns-check.ts";
import type { Looks } from "./check-rows.ts";
import type { DomainRow, Domains } from "./service.ts";

export type DomainChecks = ReturnType<typeof createDomainChecks>;

export type DomainChecksDeps = {
  domains: Pick<Domains, "recordsOf">;
  looks: Looks;
  lookUp: LookUp;
  writer: Writer;
  clock: Clock;
  log: Log;
};

const AT_ONCE = 4;
/** Commands add domains from another process, of which nobody tells us. */
const LONGEST_SLEEP_MS = 60_000;

export function createDomainChecks(deps: DomainChecksDeps) {
  const { domains, looks, lookUp, writer, clock, log } = deps;
  const underWay = new Map<number, Promise<Look>>();
  let isRunning = false;
  let round: Promise<void> | null = null;
  let cancelTimer = () => {};

  /** Looks now and stores what was found; gives what came of each record. */
  function check(row: DomainRow): Promise<Look> {
    const earlier = underWay.get(row.seq);
    if (earlier !== undefined) return earlier;
    const checking = look(row).finally(() => underWay.delete(row.seq));
    underWay.set(row.seq, checking);
    return checking;
  }

  async function look(row: DomainRow): Promise<Look> {
    const found = await lookUp(row.domain, domains.recordsOf(row));
    const updated = await writer.write(() => looks.record(row, found));
    if (updated !== null) report(row, updated);
    return found;
  }

  function report(before: DomainRow, after: DomainRow): void {
    const { domain, status } = after;
    if (before.status !== status) {
      const fields = { domain, status };
      if (status === "FAILED") log.warn("a domain may not send any more: its key is gone", fields);
      else log.info("a domain is verified", fields);
    } else if (before.failingSince === null && after.failingSince !== null) {
      log.warn("a verified domain lost its key in the DNS", { domain });
    }
  }

  function wake(): void {
    if (!isRunning || round !== null) return;
    round = checkDue()
      .catch((error: unknown) =>
        log.warn("domains could not be looked up", { error: describeError(error) }),
      )
      .finally(() => {
        round = null;
        sleep();
      });
  }

  async function checkDue(): Promise<void> {
    for (let due = dueNow(); due.length > 0; due = dueNow()) await Promise.all(due.map(check));
  }

  function dueNow(): DomainRow[] {
    return isRunning ? looks.due(AT_ONCE) : [];
  }

  function sleep(): void {
    cancelTimer();
    if (!isRunning) return;
    const nextAt = looks.nextDueAt() ?? Infinity;
    // At least a little: whatever went wrong in a round is not tried again at once.
    const delayMs = Math.max(1000, Math.min(nextAt - clock.now(), LONGEST_SLEEP_MS));
    cancelTimer = clock.after(delayMs, wake);
  }

  return {
    check,
    /** Something may be due. */
    wake,
    /** Part of a change. */
    shift: looks.shift,
    start(): void {
      isRunning = true;
      wake();
    },
    /** Waits for looks under way; close the DNS client first, and that is soon. */
    async stop(): Promise<void> {
      isRunning = false;
      cancelTimer();
      await round;
    },
  };
}
