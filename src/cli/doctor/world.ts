/** The real implementation of `World`: sockets, files, network interfaces and the database. */

import { existsSync, statSync } from "node:fs";
import net from "node:net";
import { networkInterfaces } from "node:os";
import { join, resolve } from "node:path";
import { createApp } from "../../app.ts";
import type { Config } from "../../config/settings.ts";
import { closeDatabase } from "../../db/close.ts";
import { freeBytes, hasInstallation } from "../../db/folder.ts";
import { isSameSecret, readInstallationValue } from "../../db/installation-values.ts";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { openRelaySession } from "../../outbox/transports/relay.ts";
import type { Clock } from "../../lib/clock.ts";
import { isPublicAddress } from "../../lib/ip-addresses.ts";
import { silentLog } from "../../lib/log.ts";
import { intervalOf } from "../../lib/recurring.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import { createDnsCheck } from "../../modules/domains/dns-check.ts";
import { presentDomain } from "../../modules/domains/present.ts";
import type { Domain } from "../../modules/domains/model.ts";
import type { Input } from "../command.ts";
import { hostInUrl } from "../serve.ts";
import { withStore } from "../store.ts";
import type { Greeting, Interval, RelayTrial, World } from "./check.ts";
import { askTimeServer } from "./sntp.ts";

const TIME_SERVERS = "pool.ntp.org";
const TIMEOUT_MS = 8_000;
const MAX_DOMAINS = 50;

export function realWorld(given: { input: Input; config: Config; dns: Dns; clock: Clock }): World {
  const { input, config, dns } = given;
  const path = resolve(config.data);
  return {
    config,
    folder: hasInstallation(path) ? path : null,
    dns,
    ownAddresses,
    isOwnAddress,
    greet: (address, port) => greet(address, port, config.sourceAddresses),
    clockAheadMs: () => clockAheadMs(dns),
    recurring: () => recurringOf(given),
    freeBytes,
    metrics: () => readMetrics(config),
    modeOf: (file) => (existsSync(file) ? statSync(file).mode & 0o777 : null),
    tryRelay: () => tryRelay(config),
    requireReadableKeys: () => withStore(input, async (store) => store.requireReadableKeys()),
    isSameSecret: () => withStore(input, async ({ db, folder }) => isSameSecret(db, folder.secret)),
    logHeldSince: () =>
      withStore(input, async ({ db }) => readInstallationValue(db, "log_held_since")),
    logBytes: (folder) =>
      statSync(join(folder, "mailstead.db-wal"), { throwIfNoEntry: false })?.size ?? null,
    domains: () => checkDomainsNow(input, dns),
  };
}

/** Creates the server's parts on an empty database in memory, and starts none of them. */
function recurringOf(given: { config: Config; dns: Dns; clock: Clock }): Interval[] {
  const db = openDatabase(":memory:");
  migrate(db.sqlite);
  const { recurring } = createApp({
    ...given,
    // The transport has no recurring work, and its settings may be incomplete.
    config: { ...given.config, transport: "capture" },
    db,
    folder: null,
    secret: "",
    log: silentLog,
  });
  closeDatabase(db);
  return recurring.map(({ name, pattern }) => ({ name, everySeconds: intervalOf(pattern) }));
}

async function readMetrics({ metrics }: Config): Promise<string | null> {
  if (metrics === null) return null;
  try {
    const url = `http://${hostInUrl(metrics.host)}:${metrics.port}/metrics`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return answer.ok ? await answer.text() : null;
  } catch {
    return null; // No server runs at this address. The check reports that.
  }
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses = []) => addresses)
    .map(({ address }) => address)
    .filter(isPublicAddress);
}

/**
 * Tries to listen on the address, because a machine has more addresses than its interfaces list.
 */
export function isOwnAddress(address: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const server = net.createServer();
  server.on("error", () => resolve(false));
  server.listen({ host: address, port: 0 }, () => server.close(() => resolve(true)));
  return promise;
}

/** Connects from the source address that mail would use, and reads the greeting of a server. */
export function greet(
  address: string,
  port: number,
  sources: readonly string[] = [],
): Promise<Greeting> {
  const family = net.isIP(address);
  const localAddress = sources.find((source) => net.isIP(source) === family);
  const { promise, resolve } = Promise.withResolvers<Greeting>();
  const socket = net.connect({
    host: address,
    port,
    ...(localAddress !== undefined && { localAddress }),
  });
  let text = "";
  const seconds = TIMEOUT_MS / 1000;
  const timer = setTimeout(
    () => resolve({ ok: false, reason: `no answer within ${seconds} s` }),
    TIMEOUT_MS,
  );
  socket.on("error", (error) => resolve({ ok: false, reason: error.message }));
  socket.on("close", () => resolve({ ok: false, reason: "the server closed the connection" }));
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    const [line, rest] = text.split("\r\n", 2);
    if (line === undefined || rest === undefined) return;
    socket.write("QUIT\r\n");
    resolve({ ok: true, line });
  });
  return promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

async function clockAheadMs(dns: Dns): Promise<number | null> {
  const answer = await dns.resolve(TIME_SERVERS, "A");
  const [address] = answer.kind === "records" ? answer.records : [];
  return address === undefined ? null : askTimeServer(address, { timeoutMs: TIMEOUT_MS / 2 });
}

async function tryRelay({ relayUrl, hostname }: Config): Promise<RelayTrial> {
  if (relayUrl === null) return { ok: false, reason: "--relay-url is not set" };
  const { failure, conversation } = await openRelaySession({ relay: relayUrl, hostname });
  if (failure !== null) return { ok: false, reason: failure };
  return {
    ok: true,
    tls: conversation.tls?.version ?? null,
    isAuthenticated: conversation.steps.some(({ step }) => step === "auth"),
  };
}

/** Checks the records of the domains in the DNS, without storing the results. */
function checkDomainsNow(input: Input, dns: Dns): Promise<Domain[]> {
  const checkDns = createDnsCheck(dns);
  return withStore(input, async ({ projects, domains }) => {
    const rows = projects.list().flatMap(({ seq }) => domains.all(seq));
    return Promise.all(
      rows.slice(0, MAX_DOMAINS).map(async (row) => {
        const records = domains.recordsOf(row);
        const results = await checkDns(row.domain, records);
        const findings = results.flatMap(({ finding }) => finding ?? []);
        return presentDomain({ ...row, findings: JSON.stringify(findings) }, records);
      }),
    );
  });
}
