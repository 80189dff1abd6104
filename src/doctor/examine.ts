/** Runs the checks of everything that delivery depends on. */

import { describeFault, recoverySteps, StorageFaultError } from "../db/fault.ts";
import { DataFolderError } from "../db/folder.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError } from "../lib/log.ts";
import { type Check, fail, type Finding, lineOf, type World } from "./check.ts";
import { checkCaa, checkHttpsCertificate, checkInbound, checkSmtpCertificate } from "./inbound.ts";
import {
  checkBackups,
  checkClock,
  checkEventLoop,
  checkFolder,
  checkLog,
  checkQueueHold,
  checkRecurringWork,
  checkSecret,
  checkStorage,
  checkUpdate,
} from "./machine.ts";
import { checkHostname, checkPort, checkProxy, checkResolver, checkSources } from "./network.ts";
import {
  checkDomains,
  checkLinks,
  checkRelay,
  checkRelayNeeds,
  checkRelayReports,
  checkRelaySigning,
  checkReportMailboxes,
  checkTransport,
} from "./sending.ts";

/** All checks, in the order of the report. */
export const ALL_CHECKS: readonly Check[] = [
  checkQueueHold,
  checkTransport,
  checkClock,
  checkFolder,
  checkSecret,
  checkStorage,
  checkBackups,
  checkUpdate,
  checkLog,
  checkEventLoop,
  checkResolver,
  checkHostname,
  checkSources,
  checkPort,
  checkRelay,
  checkRelaySigning,
  checkRelayNeeds,
  checkRelayReports,
  checkReportMailboxes,
  checkLinks,
  checkProxy,
  checkRecurringWork,
  checkDomains,
  checkInbound,
  checkHttpsCertificate,
  checkCaa,
  checkSmtpCertificate,
];

const NOT_IN_SERVER: readonly Check[] = [checkEventLoop, checkRecurringWork, checkUpdate];

/**
 * The checks of a running server, which sees neither its own metrics nor the list of its work. The page
 * System shows a newer version by itself.
 */
export const SERVER_CHECKS: readonly Check[] = ALL_CHECKS.filter(
  (check) => !NOT_IN_SERVER.includes(check),
);

type Limits = {
  /** Longest time for one check. */
  limitMs: number;
  clock: Pick<Clock, "after">;
};

/**
 * Runs all checks concurrently and yields their findings in order, each as early as possible. A
 * finding that several checks report is yielded once.
 */
export async function* examine(
  world: World,
  limits: Limits & { checks: readonly Check[] },
): AsyncGenerator<Finding> {
  const running = limits.checks.map((check) => within(check(world).catch(findingsOf), limits));
  const yielded = new Set<string>();
  for (const findings of running) {
    for (const finding of await findings) {
      const line = lineOf(finding);
      if (!yielded.has(line)) yield finding;
      yielded.add(line);
    }
  }
}

function findingsOf(error: unknown): Finding[] {
  if (error instanceof DataFolderError) {
    const { message, suggestion } = error;
    return [{ level: "fail", what: "data folder", finding: message, fix: suggestion, page: null }];
  }
  if (error instanceof StorageFaultError) {
    return [fail("data folder", describeFault(error.fault), recoverySteps(error.fault))];
  }
  return [fail("doctor", describeError(error), "this is a bug in Mailstead: please report it")];
}

async function within(
  findings: Promise<Finding[]>,
  { limitMs, clock }: Limits,
): Promise<Finding[]> {
  const { promise: late, resolve } = Promise.withResolvers<Finding[]>();
  const finding = `a check did not finish within ${limitMs / 1000} s`;
  const cancelTimer = clock.after(limitMs, () =>
    resolve([fail("doctor", finding, "find out why the network does not answer")]),
  );
  return Promise.race([findings, late]).finally(cancelTimer);
}
