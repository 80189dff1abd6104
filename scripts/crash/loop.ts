/**
 * The promise of delivery, put to the test: mails are sent through the API without a pause while
 * the server is killed and started again. In the end every accepted mail must have arrived, and one
 * that arrived twice must be one that was under way when the server died, in the same words.
 */

import { readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { directTo, freePort, logFileOf, parse, relayTo, type Server } from "../bench/children.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { createSender, recipientOf, type Sender } from "./sender.ts";

const SHORTEST_LIFE_MS = 20;
const LONGEST_LIFE_MS = 400;
const POLL_MS = 100;

export type CrashOptions = {
  kills: number;
  seed: number;
  /** The data folder; its project has the API key. */
  data: string;
  key: string;
  connections: number;
  transport: "relay" | "direct";
  /** Starts the server of the given number, from 0, and waits until it is ready. */
  launch: (life: number, at: { port: number; args: string[] }) => Promise<Server>;
  /** For what was under way at the kills to become due and be sent. */
  drainLimitMs: number;
  onLife?: (life: number, accepted: number) => void;
};

export type CrashReport = {
  accepted: number;
  /** Accepted mails that arrived, once or more often. */
  delivered: number;
  lost: number;
  /** Arrivals beyond the first, of all mails. */
  duplicates: number;
  /** Duplicates that differ from the first arrival in Message-ID or bytes. */
  differing: number;
  /** Mails under way at the kills: no more can arrive twice. */
  inFlightAtKills: number;
  /** Requests without an answer; each was sent again with its key. */
  unanswered: number;
  /** Of those: stored before the server died, found again by the key. */
  replayed: number;
  /** Email records beyond one per accepted mail. */
  surplusRecords: number;
  isOrderlyEnd: boolean;
};

export async function runCrashLoop(options: CrashOptions): Promise<CrashReport> {
  const { data, key, connections } = options;
  const mailbox = await openMailbox();
  const args = options.transport === "direct" ? directTo(mailbox) : relayTo(mailbox.port, 0);
  const at = { port: freePort(), args };
  const url = `http://127.0.0.1:${at.port}`;
  const sender = createSender({ url, key, connections });
  const random = generator(options.seed);
  for (let life = 0; life < options.kills; life++) {
    const server = await options.launch(life, at);
    const lifeMs = SHORTEST_LIFE_MS + random() * (LONGEST_LIFE_MS - SHORTEST_LIFE_MS);
    let isDead = false;
    const sending = sender.run(() => isDead);
    await Bun.sleep(lifeMs);
    isDead = true;
    await server.crash();
    await sending;
    options.onLife?.(life, sender.accepted.size);
  }
  const server = await options.launch(options.kills, at);
  while (sender.open() > 0) await sender.run(() => sender.open() === 0);
  await untilDrained(url, options);
  const records = await countOf(url, key, "");
  const isOrderlyEnd = (await server.stop()) === 0;
  await mailbox.close();
  return {
    ...compare(sender, mailbox),
    inFlightAtKills: inFlightAtStarts(data),
    surplusRecords: records - sender.accepted.size,
    isOrderlyEnd,
  };
}

/** Whether the promise was kept. */
export function isKept(report: CrashReport): boolean {
  return (
    report.lost === 0 &&
    report.differing === 0 &&
    report.duplicates <= report.inFlightAtKills &&
    report.surplusRecords === 0 &&
    report.isOrderlyEnd
  );
}

function compare(sender: Sender, mailbox: Mailbox) {
  let delivered = 0;
  let duplicates = 0;
  let differing = 0;
  for (const [number, emailId] of sender.accepted) {
    const [first, ...more] = mailbox.to(recipientOf(number));
    if (first === undefined) continue;
    delivered++;
    duplicates += more.length;
    const isOther = (arrival: typeof first) =>
      arrival.messageId !== emailId || arrival.digest !== first.digest;
    differing += [first, ...more].filter(isOther).length;
  }
  const accepted = sender.accepted.size;
  const { broken: unanswered, replayed } = sender.counts;
  const lost = accepted - delivered;
  return { accepted, delivered, lost, duplicates, differing, unanswered, replayed };
}

async function untilDrained(url: string, { key, drainLimitMs }: CrashOptions): Promise<void> {
  const deadline = performance.now() + drainLimitMs;
  for (;;) {
    const waiting = await countOf(url, key, "?status=QUEUED");
    const underWay = await countOf(url, key, "?status=SENDING");
    if (waiting + underWay === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`${waiting} mails queued, ${underWay} under way after ${drainLimitMs} ms`);
    }
    await Bun.sleep(POLL_MS);
  }
}

const Listed = Type.Object({ data: Type.Object({ total: Type.Integer() }) });

async function countOf(url: string, key: string, query: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/emails${query}`, { headers });
  return parse(Listed, await response.json()).data.total;
}

/** Each start says how many mails the process before it left under way. */
export function inFlightAtStarts(data: string): number {
  const lines = readFileSync(logFileOf(data), "utf8").split("\n");
  return lines
    .map((line) => Number(/"mails of a stopped process.*"returned":(\d+)/.exec(line)?.[1] ?? 0))
    .reduce((sum, returned) => sum + returned, 0);
}

/** Mulberry32: the same seed gives the same moments. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
