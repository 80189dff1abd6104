/**
 * Sends a campaign while the server is killed, or stopped with SIGTERM, and restarted: while the
 * audience is written, while mails are sent, and while the campaign is paused and resumed.
 * Afterwards each recipient must have the mail, and have it twice only if it was under way at a
 * kill. A second campaign is cancelled immediately before a kill: afterwards no more of its mails
 * may leave.
 */

import { recountUsage } from "../../src/db/usage-recount.ts";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { createApi } from "../bench/api.ts";
import { freePort, type Server } from "../bench/children.ts";
import { BODY, SENDER } from "../bench/mail.ts";
import { countWrongCounters, createGenerator, leasedAtStarts } from "./loop.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";

/**
 * Largest number of mails that the server leases, and so of mails in doubt after a kill: 257 ahead,
 * and two for each of the relay's 20 connections (src/outbox/transports/relay.ts).
 */
export const MAX_LEASED = 297;
const MIN_UPTIME_MS = 20;
const MAX_UPTIME_MS = 1_000;
const POLL_MS = 50;

export type CampaignCrashOptions = {
  kills: number;
  seed: number;
  recipients: number;
  /** TERM lets the server end the mails under way, so that none is leased afterwards. */
  signal: "KILL" | "TERM";
  data: string;
  key: string;
  /** Starts the server; `start` counts from 0. Resolves once the server is ready. */
  launch: (start: number, at: { port: number; relayPort: number }) => Promise<Server>;
  /** Time limit for sending the mails that were under way at the kills, in milliseconds. */
  drainLimitMs: number;
  /** Receives the number of the kill, from 0, and the number of recipients so far. */
  onKill?: (kill: number, arrived: number) => void;
};

export type CampaignCrashReport = {
  recipients: number;
  arrived: number;
  skipped: number;
  /** Arrivals after the first one of each recipient. */
  duplicates: number;
  /** Duplicates whose Message-ID or bytes differ from the first arrival. */
  differing: number;
  inFlightAtKills: number;
  /** The largest number of mails that were leased at one kill. */
  mostLeased: number;
  /** Kills after which recipients were left and before which mails had left since the start. */
  killsWhileSending: number;
  /** Servers that SIGTERM ended with another exit code than 0. */
  faultyEnds: number;
  paused: number;
  /** Statistics of the first campaign from the API. */
  stats: { totalRecipients: number; sent: number; queued: number };
  status: string;
  /** Mails of the second campaign that arrived after it was cancelled. */
  afterCancel: number;
  /** Projects whose counters differ from their rows. */
  wrongCounters: number;
  /** Statistics of the second campaign from the API. */
  cancelled: { sent: number; cancelled: number; queued: number };
};

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });
const Stats = Type.Object({
  data: Type.Object({
    totalRecipients: Type.Integer(),
    sent: Type.Integer(),
    queued: Type.Integer(),
    cancelled: Type.Integer(),
  }),
});
const Shown = Type.Object({ data: Type.Object({ status: Type.String() }) });

export async function runCampaignCrash(options: CampaignCrashOptions) {
  const { data, key, kills, recipients } = options;
  addContacts(data, recipients);
  const mailbox = await openMailbox();
  const at = { port: freePort(), relayPort: mailbox.port };
  const api = createApi(at, key);
  const random = createGenerator(options.seed);
  let paused = 0;
  let killsWhileSending = 0;
  let faultyEnds = 0;

  const statusOf = async (id: string) =>
    (await api.read(Shown, "GET", `/campaigns/${id}`)).data.status;
  const statsOf = async (id: string) =>
    (await api.read(Stats, "GET", `/campaigns/${id}/stats`)).data;

  async function create(subject: string): Promise<string> {
    const content = { name: subject, subject, body: BODY, from: SENDER, audienceType: "ALL" };
    return (await api.read(Created, "POST", "/campaigns", content)).data.id;
  }

  /** Resumes a paused campaign, and sometimes pauses a campaign that is sending, as a user would. */
  async function pauseOrResume(id: string): Promise<void> {
    const status = await statusOf(id);
    if (status === "PAUSED") await api.send("POST", `/campaigns/${id}/resume`);
    else if (status === "SENDING" && random() < 0.3) {
      await api.send("POST", `/campaigns/${id}/pause`);
      paused++;
    }
  }

  async function end(server: Server): Promise<void> {
    if (options.signal === "KILL") return server.crash();
    if ((await server.stop()) !== 0) faultyEnds++;
  }

  let first = "";
  for (let kill = 0; kill < kills; kill++) {
    const before = mailbox.recipients();
    const server = await options.launch(kill, at);
    if (kill === 0) {
      first = await create("First");
      await api.send("POST", `/campaigns/${first}/send`);
    } else await pauseOrResume(first);
    await Bun.sleep(MIN_UPTIME_MS + random() * (MAX_UPTIME_MS - MIN_UPTIME_MS));
    await end(server);
    const arrived = mailbox.recipients();
    if (arrived > before && arrived < recipients) killsWhileSending++;
    options.onKill?.(kill, arrived);
  }

  const last = await options.launch(kills, at);
  if ((await statusOf(first)) === "PAUSED") await api.send("POST", `/campaigns/${first}/resume`);
  await waitUntil(options.drainLimitMs, async () => (await statusOf(first)) === "SENT");
  const stats = await statsOf(first);
  const status = await statusOf(first);
  const arrivals = compareArrivals(mailbox, recipients);

  // The second campaign is cancelled while it is being sent, and the server is killed at once.
  const second = await create("Second");
  await api.send("POST", `/campaigns/${second}/send`);
  await waitUntil(options.drainLimitMs, async () => (await statsOf(second)).sent > recipients / 50);
  await api.send("POST", `/campaigns/${second}/cancel`);
  await last.crash();
  const before = countArrivals(mailbox, recipients);
  const server = await options.launch(kills + 1, at);
  await waitUntil(options.drainLimitMs, async () => (await statsOf(second)).queued === 0);
  const cancelled = await statsOf(second);
  await server.stop();
  const afterCancel = countArrivals(mailbox, recipients) - before;
  await mailbox.close();
  const leased = leasedAtStarts(data);
  return {
    ...arrivals,
    recipients,
    inFlightAtKills: leased.reduce((sum, count) => sum + count, 0),
    mostLeased: Math.max(0, ...leased),
    killsWhileSending,
    faultyEnds,
    paused,
    stats,
    status,
    afterCancel,
    wrongCounters: countWrongCounters(data),
    cancelled,
  } satisfies CampaignCrashReport;
}

/** Returns whether each recipient has the mail once, or twice if it was under way at a kill. */
export function isCampaignKept(report: CampaignCrashReport): boolean {
  const { recipients, stats, cancelled } = report;
  return (
    report.skipped === 0 &&
    report.differing === 0 &&
    report.duplicates <= report.inFlightAtKills &&
    report.mostLeased <= MAX_LEASED &&
    report.faultyEnds === 0 &&
    report.status === "SENT" &&
    stats.totalRecipients === recipients &&
    stats.sent === recipients &&
    stats.queued === 0 &&
    report.afterCancel + report.wrongCounters === 0 &&
    cancelled.queued === 0
  );
}

const addressOf = (number: number) => `reader-${number}@example.net`;

/** Adds contacts to the only project of a data folder. */
export function addContacts(data: string, count: number): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     SELECT 'reader-' || n, projects.seq, 'reader-' || n || '@example.net', 1,
            json_object('name', 'Reader ' || n, 'order', n), 0, 0
     FROM numbers CROSS JOIN projects`,
    [count],
  );
  recountUsage(sqlite);
  // The connection may be closed later, when its statements are garbage: nothing is left for it.
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
}

function compareArrivals(mailbox: Mailbox, recipients: number) {
  let arrived = 0;
  let duplicates = 0;
  let differing = 0;
  for (let number = 1; number <= recipients; number++) {
    const [first, ...more] = mailbox.to(addressOf(number));
    if (first === undefined) continue;
    arrived++;
    duplicates += more.length;
    differing += more.filter(
      ({ messageId, digest }) => messageId !== first.messageId || digest !== first.digest,
    ).length;
  }
  return { arrived, skipped: recipients - arrived, duplicates, differing };
}

function countArrivals(mailbox: Mailbox, recipients: number): number {
  let total = 0;
  for (let number = 1; number <= recipients; number++) {
    total += mailbox.to(addressOf(number)).length;
  }
  return total;
}

async function waitUntil(limitMs: number, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline)
      throw new Error(`still false after ${limitMs} ms: ${String(isTrue)}`);
    await Bun.sleep(POLL_MS);
  }
}
