/**
 * The command `mailstead doctor`: checks everything that delivery depends on, one line per check.
 */

import { systemClock } from "../lib/clock.ts";
import { type Finding, lineOf } from "../doctor/check.ts";
import { ALL_CHECKS, examine } from "../doctor/examine.ts";
import { createDns } from "../protocols/dns/client.ts";
import { systemDnsServers } from "../protocols/dns/servers.ts";
import type { Command } from "./command.ts";
import { realWorld } from "./doctor/world.ts";
import { readServerSettings } from "./store.ts";

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
    "backupTo",
    "s3Endpoint",
    "s3Region",
    "s3AccessKeyId",
    "s3SecretAccessKey",
    "host",
    "port",
    "url",
    "trackingUrl",
    "tls",
    "tlsCert",
    "tlsKey",
    "acmeDirectory",
    "acmeCa",
    "acmeEab",
    "https",
    "plainHttp",
    "transport",
    "relayUrl",
    "fallbackRelayUrl",
    "hostname",
    "dns",
    "directPort",
    "sourceAddresses",
    "metrics",
    "inbound",
    "submission",
    "submissions",
    "smtpTlsCert",
    "smtpTlsKey",
  ],
  run: async (input) => {
    const config = await readServerSettings(input);
    const dns = createDns({
      servers: config.dns ?? systemDnsServers(),
      clock: systemClock,
      timeoutMs: 3_000,
    });
    const findings: Finding[] = [];
    const world = realWorld({ input, config, dns, clock: systemClock });
    const limits = { limitMs: LIMIT_MS, clock: systemClock };
    for await (const finding of examine(world, { ...limits, checks: ALL_CHECKS })) {
      findings.push(finding);
      if (!input.isJson) input.io.stdout.line(lineOf(finding));
    }
    dns.close();
    const failed = findings.filter(({ level }) => level === "fail").length;
    if (input.isJson) input.io.stdout.line(JSON.stringify({ failed, checks: findings }));
    return failed > 0 ? 1 : 0;
  },
};
