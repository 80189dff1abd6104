/** The parts of `World` that ask the machine and the network: sockets, files, interfaces. */

import { existsSync, readFileSync, statSync } from "node:fs";
import net from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { Config } from "../config/settings.ts";
import { freeBytes } from "../db/folder.ts";
import { isPublicAddress } from "../lib/ip-addresses.ts";
import { testRelay } from "../outbox/transports/relay-test.ts";
import type { Dns } from "../protocols/dns/client.ts";
import type { Relay } from "../protocols/smtp/relay-url.ts";
import type { Greeting, RelayTrial, World } from "./check.ts";
import { askTimeServer } from "./sntp.ts";

const TIME_SERVERS = "pool.ntp.org";
const TIMEOUT_MS = 8_000;

type MachineWorld = Pick<
  World,
  | "config"
  | "dns"
  | "ownAddresses"
  | "isOwnAddress"
  | "greet"
  | "clockAheadMs"
  | "freeBytes"
  | "modeOf"
  | "readText"
  | "tryRelay"
  | "logBytes"
>;

export function machineWorld(config: Config, dns: Dns): MachineWorld {
  return {
    config,
    dns,
    ownAddresses,
    isOwnAddress,
    greet: (address, port) => greet(address, port, config.sourceAddresses),
    clockAheadMs: () => clockAheadMs(dns),
    freeBytes,
    modeOf: (file) => (existsSync(file) ? statSync(file).mode & 0o777 : null),
    readText: (file) => readFileSync(file, "utf8"),
    tryRelay: (relay) => tryRelay(relay, config),
    logBytes: (folder) =>
      statSync(join(folder, "mailstead.db-wal"), { throwIfNoEntry: false })?.size ?? null,
  };
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

async function tryRelay(relay: Relay, { hostname }: Config): Promise<RelayTrial> {
  const { problem, conversation, isAuthenticated } = await testRelay({ relay, hostname });
  if (problem !== null) return { ok: false, ...problem };
  return { ok: true, tls: conversation.tls?.version ?? null, isAuthenticated };
}
