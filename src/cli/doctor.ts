/**
 * The command `mailstead doctor`: checks everything that delivery depends on, one line per check.
 */

import { readConfig } from "../config/read.ts";
import { describeFault, recoverySteps, StorageFaultError } from "../db/fault.ts";
import { DataFolderError } from "../db/folder.ts";
import { systemClock } from "../lib/clock.ts";
import { createDns } from "../protocols/dns/client.ts";
import { systemDnsServers } from "../protocols/dns/servers.ts";
import { describeError } from "../lib/log.ts";
import type { Command } from "./command.ts";
import { type Check, fail, type Finding, lineOf, type World } from "./doctor/check.ts";
import {
  checkClock,
  checkEventLoop,
  checkFolder,
  checkLog,
  checkRecurringWork,
  checkSecret,
  checkStorage,
} from "./doctor/machine.ts";
import { checkHostname, checkPort, checkResolver, checkSources } from "./doctor/network.ts";
import { checkDomains, checkLinks, checkRelay, checkTransport } from "./doctor/sending.ts";
import { realWorld } from "./doctor/world.ts";

/** All checks, in the order of the report. */
const CHECKS: readonly Check[] = [
  checkTransport,
  checkClock,
  checkFolder,
  checkSecret,
  checkStorage,
  checkLog,
  checkEventLoop,
  checkResolver,
  checkHostname,
  checkSources,
  checkPort,
  checkRelay,
  checkLinks,
  checkRecurringWork,
  checkDomains,
];

/** Longest time for one check. The checks run concurrently. */
const LIMIT_MS = 30_000;

export const doctor: Command = {
  name: "doctor",
  summary: "Check everything that delivery depends on; exit 1 if something fails",
  details:
    "Give the same settings as for serve. It queries the DNS, a time server and, with\n" +
    "--transport direct, port 25 of large mail providers. No mail is sent.",
  positionals: [],
  flags: [],
  settings: [
    "data",
    "secret",
    "host",
    "port",
    "url",
    "transport",
    "relayUrl",
    "hostname",
    "dns",
    "directPort",
    "sourceAddresses",
    "metrics",
  ],
  run: async (input) => {
    const config = readConfig(input.settings, input.environment);
    const dns = createDns({
      servers: config.dns ?? systemDnsServers(),
      clock: systemClock,
      timeoutMs: 3_000,
    });
    const findings: Finding[] = [];
    for await (const finding of examine(
      realWorld({ input, config, dns, clock: systemClock }),
      LIMIT_MS,
    )) {
      findings.push(finding);
      if (!input.isJson) console.log(lineOf(finding));
    }
    dns.close();
    const failed = findings.filter(({ level }) => level === "fail").length;
    if (input.isJson) console.log(JSON.stringify({ failed, checks: findings }));
    return failed > 0 ? 1 : 0;
  },
};

/**
 * Runs all checks concurrently and yields their findings in order, each as early as possible. A
 * finding that several checks report is yielded once.
 */
export async function* examine(world: World, limitMs: number): AsyncGenerator<Finding> {
  const running = CHECKS.map((check) => within(check(world).catch(findingsOf), limitMs));
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
    return [{ level: "fail", what: "data folder", finding: message, fix: suggestion }];
  }
  if (error instanceof StorageFaultError) {
    return [fail("data folder", describeFault(error.fault), recoverySteps(error.fault))];
  }
  return [fail("doctor", describeError(error), "this is a bug in Mailstead: please report it")];
}

async function within(findings: Promise<Finding[]>, limitMs: number): Promise<Finding[]> {
  const { promise: late, resolve } = Promise.withResolvers<Finding[]>();
  const finding = `a check did not finish within ${limitMs / 1000} s`;
  const timer = setTimeout(
    () => resolve([fail("doctor", finding, "find out why the network does not answer")]),
    limitMs,
  );
  return Promise.race([findings, late]).finally(() => clearTimeout(timer));
}
