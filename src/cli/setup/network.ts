/**
 * The requests of setup to the network and the firewall: the DNS, outgoing port 25, and ports that are
 * taken.
 */

import { networkInterfaces } from "node:os";
import type { Config } from "../../config/settings.ts";
import { checkPort } from "../../doctor/network.ts";
import { isPublicAddress } from "../../lib/ip-addresses.ts";
import { createDns, type Dns } from "../../protocols/dns/client.ts";
import { systemDnsServers } from "../../protocols/dns/servers.ts";
import { readSettings, UsageError } from "../command.ts";
import { realWorld } from "../doctor/world.ts";
import type { SetupContext } from "./context.ts";
import { findClosedPorts } from "./firewall.ts";
import {
  findConflict,
  howToStop,
  isOwnListener,
  nameOfListener,
  overlap,
} from "./listening-ports.ts";

export type SetupNetwork = {
  dns: Dns;
  /** Public addresses of this machine's interfaces. */
  ownAddresses: readonly string[];
  /** The reason why mail cannot leave to port 25 of other servers; null if it can. */
  findBlockedPort: () => Promise<string | null>;
  close: () => void;
};

const DNS_TIMEOUT_MS = 3_000;

export function openNetwork({ input, clock, current }: SetupContext): SetupNetwork {
  const environment = current.variables;
  const config = readSettings(input, { environment, names: ["dns", "directPort"] });
  const servers = config.dns ?? systemDnsServers();
  const dns = createDns({ servers, clock, timeoutMs: DNS_TIMEOUT_MS });
  const own = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses);
  return {
    dns,
    ownAddresses: own.map(({ address }) => address).filter(isPublicAddress),
    findBlockedPort: async () => {
      const direct = { ...config, transport: "direct" as const };
      const [finding] = await checkPort(realWorld({ input, config: direct, dns, clock }));
      if (finding === undefined || finding.level === "ok") return null;
      return `Outgoing ${finding.what} does not work: ${finding.finding}. To send without a relay, ${finding.fix}.`;
    },
    close: () => dns.close(),
  };
}

type WantedPort = { flag: string; host: string; port: number };

/** The addresses on which the server will listen, with the flags that choose them. */
export function wantedPorts(config: Config, hasIpv6: boolean): WantedPort[] {
  const { host, port, tls, https, plainHttp, inbound, submission, submissions, metrics } = config;
  const everywhere = hasIpv6 ? "::" : "0.0.0.0";
  const at = (flag: string, address: { host: string; port: number } | null) =>
    address === null ? [] : [{ flag, ...address }];
  const web =
    tls === "off"
      ? []
      : [
          ...at("https", https ?? { host: everywhere, port: 443 }),
          ...at("plain-http", plainHttp ?? { host: everywhere, port: 80 }),
        ];
  return [
    ...web,
    ...at("inbound", inbound),
    ...at("submission", submission),
    ...at("submissions", submissions),
    ...at("port", { host, port }),
    ...at("metrics", metrics),
  ];
}

const INSTEAD: Readonly<Record<string, string>> = {
  https: "--tls off behind a proxy",
  "plain-http": "--tls off behind a proxy",
  inbound: "--inbound none",
  submission: "--submission none",
  submissions: "--submissions none",
};

function findTaken({ machine }: SetupContext, wanted: readonly WantedPort[]): string[] {
  const listeners = machine.findListeners().filter((each) => !isOwnListener(each));
  return wanted.flatMap((each) => {
    const conflict = findConflict(each, listeners);
    if (conflict === null) return [];
    const instead = INSTEAD[each.flag] ?? `another --${each.flag}`;
    return `--${each.flag}: port ${each.port} is taken by ${nameOfListener(conflict)}; ${howToStop(conflict)}, or use ${instead}`;
  });
}

/** Throws if two listeners of the server would have the same port. */
export function requireDistinctPorts(wanted: readonly WantedPort[]): void {
  for (const [i, { flag, host, port }] of wanted.entries()) {
    const other = wanted
      .slice(0, i)
      .find((each) => each.port === port && port !== 0 && overlap(each.host, host));
    if (other === undefined) continue;
    throw new UsageError(
      `--${flag}: port ${port} is that of --${other.flag} already; choose another one for one of the two`,
    );
  }
}

/** Throws if a port is taken. In a terminal, the user may free it and go on. */
export async function requireFreePorts(
  setup: SetupContext,
  wanted: readonly WantedPort[],
): Promise<void> {
  const { prompter, say } = setup;
  for (;;) {
    const taken = findTaken(setup, wanted);
    if (taken.length === 0) return;
    if (!prompter.isInteractive) throw new UsageError(taken.join("\n"));
    for (const line of taken) say(`  ${line}`);
    await prompter.ask("Enter looks again; Ctrl-C ends, and nothing has changed", "again");
  }
}

const LOOPBACK = /^(?:127\.|::1$|localhost$)/;

/** Says which ports the firewall of this machine keeps closed, and how to open them. */
export async function reportFirewall(
  { machine, say }: SetupContext,
  wanted: readonly WantedPort[],
): Promise<void> {
  const ports = wanted.filter(({ host }) => !LOOPBACK.test(host)).map(({ port }) => port);
  if (ports.length === 0) return;
  const closed = await findClosedPorts(machine.run, ports);
  if (closed === null) return;
  say(
    `The firewall ${closed.firewall} does not open port ${closed.ports.join(", ")}. To open: ${closed.fix}`,
  );
}
