/**
 * A campaign while the server is killed and started again: during its expansion, while it is sent,
 * paused and resumed. In the end everybody has it, and twice only if it was under way at a kill. A
 * second one is cancelled with a kill right behind: nothing of it leaves any more.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { createApi } from "../bench/api.ts";
import { freePort, type Server } from "../bench/children.ts";
import { BODY, SENDER } from "../bench/mail.ts";
import { generator, inFlightAtStarts } from "./loop.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";

const SHORTEST_LIFE_MS = 20;
const LONGEST_LIFE_MS = 1_000;
const POLL_MS = 50;

export type CampaignCrashOptions = {
  kills: number;
  seed: number;
  recipients: number;
  data: string;
  key: string;
  launch: (life: number, at: { port: number; relayPort: number }) => Promise<Server>;
  /** For what was under way at the kills to become due and be sent. */
  drainLimitMs: number;
  onLife?: (life: number, arrived: number) => void;
};

export type CampaignCrashReport = {
  recipients: number;
  arrived: number;
  skipped: number;
  /** Arrivals beyond the first. */
  duplicates: number;
  /** Duplicates that differ in Message-ID or bytes. */
  differing: number;
  inFlightAtKills: number;
  paused: number;
  /** What the statistics say. */
  stats: { totalRecipients: number; sent: number; queued: number };
  status: string;
  /** Of the second campaign: those that arrived after it was cancelled, and what became of all. */
  afterCancel: number;
  cancelled: { sent: number; cancelled: number; queued: number };
};

const Made = Type.Object({ data: Type.Object({ id: Type.String() }) });
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
  const random = generator(options.seed);
  let paused = 0;

  const statusOf = async (id: string) =>
    (await api.read(Shown, "GET", `/campaigns/${id}`)).data.status;
  const statsOf = async (id: string) =>
    (await api.read(Stats, "GET", `/campaigns/${id}/stats`)).data;

  async function create(subject: string): Promise<string> {
    const content = { name: subject, subject, body: BODY, from: SENDER, audienceType: "ALL" };
    return (await api.read(Made, "POST", "/campaigns", content)).data.id;
  }

  /** What a person does, in the middle of anything. */
  async function interfere(id: string): Promise<void> {
    const status = await statusOf(id);
    if (status === "PAUSED") await api.send("POST", `/campaigns/${id}/resume`);
    else if (status === "SENDING" && random() < 0.3) {
      await api.send("POST", `/campaigns/${id}/pause`);
      paused++;
    }
  }

  let first = "";
  for (let life = 0; life < kills; life++) {
    const server = await options.launch(life, at);
    if (life === 0) {
      first = await create("First");
      await api.send("POST", `/campaigns/${first}/send`);
    } else await interfere(first);
    await Bun.sleep(SHORTEST_LIFE_MS + random() * (LONGEST_LIFE_MS - SHORTEST_LIFE_MS));
    await server.crash();
    options.onLife?.(life, mailbox.recipients());
  }

  const last = await options.launch(kills, at);
  if ((await statusOf(first)) === "PAUSED") await api.send("POST", `/campaigns/${first}/resume`);
  await until(options.drainLimitMs, async () => (await statusOf(first)) === "SENT");
  const stats = await statsOf(first);
  const status = await statusOf(first);
  const arrivals = compare(mailbox, recipients);

  // The second one: cancelled in the middle, killed at once.
  const second = await create("Second");
  await api.send("POST", `/campaigns/${second}/send`);
  await until(options.drainLimitMs, async () => (await statsOf(second)).sent > recipients / 50);
  await api.send("POST", `/campaigns/${second}/cancel`);
  await last.crash();
  const before = totalOf(mailbox, recipients);
  const server = await options.launch(kills + 1, at);
  await until(options.drainLimitMs, async () => (await statsOf(second)).queued === 0);
  const cancelled = await statsOf(second);
  await server.stop();
  const afterCancel = totalOf(mailbox, recipients) - before;
  await mailbox.close();
  return {
    ...arrivals,
    recipients,
    inFlightAtKills: inFlightAtStarts(data),
    paused,
    stats,
    status,
    afterCancel,
    cancelled,
  } satisfies CampaignCrashReport;
}

/** Whether the promise was kept. */
export function isCampaignKept(report: CampaignCrashReport): boolean {
  const { recipients, stats, cancelled } = report;
  return (
    report.skipped === 0 &&
    report.differing === 0 &&
    report.duplicates <= report.inFlightAtKills &&
    report.status === "SENT" &&
    stats.totalRecipients === recipients &&
    stats.sent === recipients &&
    stats.queued === 0 &&
    report.afterCancel === 0 &&
    cancelled.queued === 0
  );
}

const addressOf = (number: number) => `reader-${number}@example.net`;

function addContacts(data: string, count: number): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     SELECT 'reader-' || n, projects.seq, 'reader-' || n || '@example.net', 1,
            json_object('name', 'Reader ' || n, 'order', n), 0, 0
     FROM numbers CROSS JOIN projects`,
    [count],
  );
  sqlite.close();
}

function compare(mailbox: Mailbox, recipients: number) {
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

function totalOf(mailbox: Mailbox, recipients: number): number {
  let total = 0;
  for (let number = 1; number <= recipients; number++) {
    total += mailbox.to(addressOf(number)).length;
  }
  return total;
}

async function until(limitMs: number, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline)
      throw new Error(`not so within ${limitMs} ms: ${String(isTrue)}`);
    await Bun.sleep(POLL_MS);
  }
}
