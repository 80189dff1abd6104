/**
 * Sends mails through the API without pause while the server is killed and restarted. Afterwards each
 * accepted mail must have arrived. A mail may have arrived twice only if it was under way at a kill,
 * and then with identical content.
 */

import { readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { directTo, freePort, logFileOf, parse, relayTo, type Server } from "../bench/children.ts";
import { openReader } from "../bench/store.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { createSender, recipientOf, type Sender } from "./sender.ts";

const MIN_UPTIME_MS = 20;
const MAX_UPTIME_MS = 400;
const POLL_MS = 100;

export type CrashOptions = {
  kills: number;
  seed: number;
  /** Data folder with the project that the API key belongs to. */
  data: string;
  key: string;
  connections: number;
  transport: "relay" | "direct";
  /** Starts the server; `start` counts from 0. Resolves once the server is ready. */
  launch: (start: number, at: { port: number; args: string[] }) => Promise<Server>;
  /** Time limit for sending the mails that were under way at the kills, in milliseconds. */
  drainLimitMs: number;
  /** Receives the number of the kill, from 0, and the number of accepted mails so far. */
  onKill?: (kill: number, accepted: number) => void;
};

export type CrashReport = {
  accepted: number;
  /** Accepted mails that arrived at least once. */
  delivered: number;
  lost: number;
  /** Arrivals after the first one of each mail. */
  duplicates: number;
  /** Arrivals with a wrong Message-ID, or with other bytes than the first arrival. */
  differing: number;
  /** Mails under way at the kills; only these may arrive twice. */
  inFlightAtKills: number;
  /** Requests without a response; each was repeated with the same idempotency key. */
  unanswered: number;
  /** Repeated requests whose mail was stored before the kill, found by the idempotency key. */
  replayed: number;
  /** Email records beyond one per accepted mail. */
  surplusRecords: number;
  /** Projects whose counters differ from their rows. */
  wrongCounters: number;
  isOrderlyEnd: boolean;
};

export async function runCrashLoop(options: CrashOptions): Promise<CrashReport> {
  const { data, key, connections } = options;
  const mailbox = await openMailbox();
  const args = options.transport === "direct" ? directTo(mailbox) : relayTo(mailbox.port, 0);
  const at = { port: freePort(), args };
  const url = `http://127.0.0.1:${at.port}`;
  const sender = createSender({ url, key, connections });
  const random = createGenerator(options.seed);
  for (let kill = 0; kill < options.kills; kill++) {
    const server = await options.launch(kill, at);
    const uptimeMs = MIN_UPTIME_MS + random() * (MAX_UPTIME_MS - MIN_UPTIME_MS);
    let isDead = false;
    const sending = sender.run(() => isDead);
    await Bun.sleep(uptimeMs);
    isDead = true;
    await server.crash();
    await sending;
    options.onKill?.(kill, sender.accepted.size);
  }
  const server = await options.launch(options.kills, at);
  while (sender.unansweredCount() > 0) await sender.run(() => sender.unansweredCount() === 0);
  await waitUntilDrained(url, options);
  const records = await countEmails(url, key, "");
  const isOrderlyEnd = (await server.stop()) === 0;
  await mailbox.close();
  return {
    ...compareArrivals(sender, mailbox),
    inFlightAtKills: inFlightAtStarts(data),
    surplusRecords: records - sender.accepted.size,
    wrongCounters: countWrongCounters(data),
    isOrderlyEnd,
  };
}

/** Returns whether no mail was lost, and only mails under way at a kill arrived twice. */
export function isKept(report: CrashReport): boolean {
  return (
    report.lost === 0 &&
    report.differing === 0 &&
    report.duplicates <= report.inFlightAtKills &&
    report.surplusRecords + report.wrongCounters === 0 &&
    report.isOrderlyEnd
  );
}

function compareArrivals(sender: Sender, mailbox: Mailbox) {
  let delivered = 0;
  let duplicates = 0;
  let differing = 0;
  for (const [number, emailId] of sender.accepted) {
    const [first, ...more] = mailbox.to(recipientOf(number));
    if (first === undefined) continue;
    delivered++;
    duplicates += more.length;
    const isDifferent = (arrival: typeof first) =>
      arrival.messageId !== emailId || arrival.digest !== first.digest;
    differing += [first, ...more].filter(isDifferent).length;
  }
  const accepted = sender.accepted.size;
  const { broken: unanswered, replayed } = sender.counts;
  const lost = accepted - delivered;
  return { accepted, delivered, lost, duplicates, differing, unanswered, replayed };
}

async function waitUntilDrained(url: string, { key, drainLimitMs }: CrashOptions): Promise<void> {
  const deadline = performance.now() + drainLimitMs;
  for (;;) {
    const waiting = await countEmails(url, key, "?status=QUEUED");
    const underWay = await countEmails(url, key, "?status=SENDING");
    if (waiting + underWay === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`${waiting} mails queued, ${underWay} under way after ${drainLimitMs} ms`);
    }
    await Bun.sleep(POLL_MS);
  }
}

const Listed = Type.Object({ data: Type.Object({ total: Type.Integer() }) });

async function countEmails(url: string, key: string, query: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/emails${query}`, { headers });
  return parse(Listed, await response.json()).data.total;
}

/** Sums up how many mails were under way at the kills. */
export function inFlightAtStarts(data: string): number {
  return leasedAtStarts(data).reduce((sum, leased) => sum + leased, 0);
}

/** Returns how many mails were leased at each kill: the start after it logs that number. */
export function leasedAtStarts(data: string): number[] {
  const lines = readFileSync(logFileOf(data), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, returned] = /\bmails\b.*"returned":(\d+)/i.exec(line) ?? [];
    return returned === undefined ? [] : [Number(returned)];
  });
}

/** Counts the projects whose counters of stored data and queued mails differ from their rows. */
export function countWrongCounters(data: string): number {
  const reader = openReader(data);
  const count = reader.wrongCounters();
  reader.close();
  return count;
}

/** Returns a pseudorandom generator of numbers from 0 to 1 (Mulberry32), reproducible by its seed. */
export function createGenerator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
