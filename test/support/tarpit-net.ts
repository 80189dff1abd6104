/**
 * A mail network with five domains whose servers respond, good0.test to good4.test, and up to 200
 * tarpit domains, tarpit0.test to tarpit199.test, whose servers a test starts when it needs them.
 */

import type { TestRecords } from "./dns-server.ts";
import { type MailNet, startMailNet } from "./mail-net.ts";
import type { ScriptOptions, ScriptServer } from "./smtp-script.ts";

export const GOOD = ["good0.test", "good1.test", "good2.test", "good3.test", "good4.test"];
const MAX_TARPITS = 200;

/** A script for a server that accepts connections and never sends anything. */
export const SILENT: ScriptOptions = { script: { greeting: "hang" } };

/** Returns the names of the first `count` tarpit domains. */
export function tarpits(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `tarpit${i}.test`);
}

/** Returns the address of a tarpit's server; each tarpit has a different one, in 127.1.0.0/16. */
export function ownAddress(tarpit: number): string {
  return `127.1.${Math.floor(tarpit / 100)}.${(tarpit % 100) + 1}`;
}

export async function startTarpitNet(
  addressOf: (tarpit: number) => string = ownAddress,
  dnsTimeoutMs = 10_000,
): Promise<MailNet> {
  const records: Record<string, TestRecords> = {};
  for (const [i, name] of tarpits(MAX_TARPITS).entries()) records[name] = { A: [addressOf(i)] };
  for (const [i, name] of GOOD.entries()) records[name] = { A: [`127.0.0.${i + 2}`] };
  const net = await startMailNet({ records, dnsTimeoutMs });
  for (const i of GOOD.keys()) await net.sink(i + 2);
  return net;
}

/** Starts the servers of the first `count` tarpits; `net.close` closes them. */
export function startTarpits(
  net: MailNet,
  count: number,
  options: ScriptOptions = SILENT,
): Promise<ScriptServer[]> {
  const servers = Array.from({ length: count }, (_, i) => net.scriptAt(ownAddress(i), options));
  return Promise.all(servers);
}

export function openConnections(servers: readonly ScriptServer[]): number {
  return servers.reduce((sum, each) => sum + each.transcripts.length - each.ended, 0);
}
