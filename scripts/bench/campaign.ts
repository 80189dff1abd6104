/**
 * Measures a campaign to a million contacts: how fast its audience is written, how soon the first
 * mail leaves, how many mails leave per second, and how much it delays transactional mail.
 *
 * Two campaigns are sent. The first has a rate limit of one mail per minute, so that writing the
 * audience is measured alone. The second is sent at full speed to an SMTP server on this machine and
 * cancelled before its end.
 */

import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { seed } from "../seed.ts";
import { type Api, createApi } from "./api.ts";
import {
  Listening,
  logFileOf,
  processorMs,
  relayTo,
  removeFolder,
  residentMiB,
  startHelper,
  temporaryFolder,
} from "./children.ts";
import { deliverQueue } from "./deliver.ts";
import { type ProbedServer, startProbedServer } from "./loop.ts";
import { BODY, SENDER, SENDER_DOMAIN } from "./mail.ts";
import { type Probe, startProbes } from "./probes.ts";
import { type Aim, fixed, reportAims, quantile, printValue, whole } from "./report.ts";
import { addSender, openReader } from "./store.ts";

type Options = { binary: string | null; isQuick: boolean };
type Reader = ReturnType<typeof openReader>;

/** Mails of the second campaign that are sent before it is cancelled. */
const MAILS = { quick: 5_000, full: 60_000 };
const CONTACTS = { quick: 50_000, full: 1_000_000 };
const BASELINE_MAILS = { quick: 4_000, full: 20_000 };
const POLL_MS = 20;
const PROBE_PAUSE_MS = 20;
const LIMIT_MS = 10 * 60_000;
const CANCEL_LIMIT_MS = 2_000;

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });

export async function benchCampaign(options: Options): Promise<boolean> {
  const size = options.isQuick ? "quick" : "full";
  console.log(`campaign: ${whole(CONTACTS[size])} contacts`);
  // The baseline is measured before and after: the speed of a machine changes from minute to minute.
  const { rate: before } = await deliverQueue(options.binary, BASELINE_MAILS[size]);

  const data = temporaryFolder();
  const key = await seed(data, { contacts: CONTACTS[size], events: 0, segments: 0 });
  await addSender(data, SENDER_DOMAIN);
  const sink = startHelper("sink.ts", { withTimes: false });
  const { port } = await sink.next(Listening);
  const server = await startProbedServer({
    binary: options.binary,
    data,
    args: relayTo(port, 0),
  });
  const api = createApi(server, key);
  const reader = openReader(data);
  const memory: number[] = [];
  const sampling = setInterval(() => memory.push(residentMiB(server.pid)), 250);
  const audienceAims = await writeAudience(api, reader, data);
  await server.reportLoop("while the audience was written");
  const sent = await sendAtFullSpeed({ api, reader, server }, MAILS[size]);
  clearInterval(sampling);
  await server.stop();
  sink.kill();
  reader.close();
  removeFolder(data);
  const { rate: after } = await deliverQueue(options.binary, BASELINE_MAILS[size]);
  printValue("baseline, bench deliver", `${whole(before)}/s before, ${whole(after)}/s after`);
  const ratio = sent.rate / ((before + after) / 2);
  const peakMiB = Math.max(...memory);
  return reportAims([
    ...audienceAims,
    ...sent.aims,
    {
      name: "rate as a share of bench deliver",
      isMet: ratio >= 0.6,
      measured: fixed(ratio, 2),
      wanted: "≥ 0.6",
    },
    { name: "memory", isMet: peakMiB < 300, measured: mib(peakMiB), wanted: "< 300 MiB" },
  ]);
}

/** Sends a campaign whose rate lets one mail leave; its audience is written at full speed. */
async function writeAudience(api: Api, reader: Reader, data: string): Promise<Aim[]> {
  const bytesBefore = usedBytes(data);
  const campaign = await create(api, { rate: 1 / 60 });
  const probing = startProbes([sendProbe("while-writing", api)], PROBE_PAUSE_MS);
  const startedAt = performance.now();
  await api.send("POST", `/campaigns/${campaign}/send`);
  await waitUntil(() => reader.count(`campaigns WHERE audience_cursor >= audience_end`) === 1);
  const seconds = (performance.now() - startedAt) / 1000;
  // The server logs how long it worked shortly after the last row.
  await waitUntil(() => !Number.isNaN(loggedWorkMs(data)));
  const [probe] = await probing.stop();
  const recipients = reader.count("emails WHERE campaign_seq IS NOT NULL");
  const growth = (usedBytes(data) - bytesBefore) / recipients;
  const ratePerWorkSecond = (1000 * recipients) / loggedWorkMs(data);
  printValue("baseline, the same rows in bare SQL", `${whole(bareInserts(data, recipients))}/s`);
  const pace = `${whole(recipients)} recipients in ${fixed(seconds, 1)} s`;
  printValue("audience written", `${pace}, ${whole(recipients / seconds)}/s of elapsed time`);
  printValue(
    "/v1/send meanwhile, p50 / p99 / max",
    `${probe === undefined ? "" : spread(probe)} ms`,
  );

  const cancelledAt = performance.now();
  await api.send("POST", `/campaigns/${campaign}/cancel`);
  const answeredMs = performance.now() - cancelledAt;
  await waitUntil(() => readCounter(reader, 1, "cancelled") >= recipients - 1);
  const allSeconds = (performance.now() - cancelledAt) / 1000;
  printValue(
    "cancelled",
    `answered in ${fixed(answeredMs, 0)} ms; all mails are CANCELLED after ${fixed(allSeconds, 1)} s`,
  );
  return [
    {
      name: "audience, per second of database work",
      isMet: ratePerWorkSecond >= 100_000,
      measured: `${whole(ratePerWorkSecond)}/s`,
      wanted: "≥ 100,000/s",
    },
    {
      name: "/v1/send meanwhile, p99",
      isMet: (probe?.p99 ?? Infinity) < 50,
      measured: `${fixed(probe?.p99 ?? 0, 1)} ms`,
      wanted: "< 50 ms",
    },
    {
      name: "database per recipient",
      isMet: growth < 600,
      measured: `${whole(growth)} bytes`,
      wanted: "< 600 bytes",
    },
  ];
}

async function sendAtFullSpeed(
  { api, reader, server }: { api: Api; reader: Reader; server: ProbedServer },
  mails: number,
): Promise<{ rate: number; aims: Aim[] }> {
  const campaign = await create(api, {});
  const requestedAt = Date.now();
  const cpuBefore = processorMs(server.pid);
  await api.send("POST", `/campaigns/${campaign}/send`);
  await waitUntil(() => readCounter(reader, 2, "sent") >= mails / 3);
  const ids = await sendTransactional(api);
  await waitUntil(() => readCounter(reader, 2, "sent") >= mails);
  // It includes the time in which the audience is written.
  const cpu = (processorMs(server.pid) - cpuBefore) / readCounter(reader, 2, "sent");
  const loopAims = await server.reportLoop("while mails were sent");
  await api.send("POST", `/campaigns/${campaign}/cancel`);
  const cancelledAt = Date.now();
  await Bun.sleep(CANCEL_LIMIT_MS + 1_000);

  const sentAt = reader.numbers(
    "SELECT sent_at AS n FROM emails WHERE campaign_seq = 2 AND sent_at IS NOT NULL ORDER BY sent_at",
  );
  const [first = 0] = sentAt;
  const last = sentAt.at(-1) ?? 0;
  const rate = sentAt.length / ((last - first) / 1000);
  const retried = reader.count("(SELECT 1 FROM attempts GROUP BY email_seq HAVING count(*) > 1)");
  const waits = ids.flatMap((id) =>
    reader.numbers(`SELECT sent_at - created_at AS n FROM emails WHERE id = '${id}'`),
  );
  printValue("sent", `${whole(sentAt.length)} at ${whole(rate)}/s while the audience was written`);
  printValue("processor seconds per 1,000 mails", fixed(cpu, 3));
  printValue(
    "transactional mail meanwhile",
    `p50 / max ${quantile(waits, 0.5)} / ${Math.max(...waits)} ms`,
  );
  const aims: Aim[] = [
    {
      name: "first mail after",
      isMet: first - requestedAt < 2_000,
      measured: `${first - requestedAt} ms`,
      wanted: "< 2,000 ms",
    },
    { name: "rate", isMet: rate >= 1_000, measured: `${whole(rate)}/s`, wanted: "≥ 1,000/s" },
    {
      name: "transactional mail, longest wait",
      isMet: Math.max(...waits) < 200,
      measured: `${Math.max(...waits)} ms`,
      wanted: "< 200 ms",
    },
    {
      name: "last mail after the cancel",
      isMet: last - cancelledAt < CANCEL_LIMIT_MS,
      measured: `${Math.max(0, last - cancelledAt)} ms`,
      wanted: `< ${whole(CANCEL_LIMIT_MS)} ms`,
    },
    {
      name: "mails with more than one attempt",
      isMet: retried === 0,
      measured: whole(retried),
      wanted: "0",
    },
    ...loopAims,
  ];
  return { rate, aims };
}

async function create(api: Api, rest: { rate?: number }): Promise<string> {
  const created = await api.read(Created, "POST", "/campaigns", {
    name: "News",
    subject: "News for {{ name }}",
    body: BODY,
    from: SENDER,
    audienceType: "ALL",
    ...rest,
  });
  return created.data.id;
}

const Accepted = Type.Object({ emails: Type.Array(Type.Object({ email: Type.String() })) });

/** Sends 20 mails, a tenth of a second apart, and returns their ids. */
async function sendTransactional(api: Api): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < 20; i++) {
    const accepted = await api.read(Accepted, "POST", "/v1/send", message("now", i));
    ids.push(...accepted.emails.map(({ email }) => email));
    await Bun.sleep(100);
  }
  return ids;
}

function message(name: string, number: number) {
  return { to: `${name}-${number}@example.net`, from: SENDER, subject: "Now", body: BODY };
}

function sendProbe(name: string, api: Api): Probe {
  return { name, send: (number) => api.request("POST", "/v1/send", message(name, number)) };
}

/**
 * Copies the rows into an empty table with the same indexes, 1,000 per statement, with SQLite alone.
 * Returns rows per second.
 */
function bareInserts(data: string, rows: number): number {
  const source = new Database(join(data, "mailstead.db"), { readonly: true });
  const statements = source
    .query<{ sql: string }, []>(
      "SELECT sql FROM sqlite_master WHERE tbl_name = 'emails' AND type <> 'trigger' AND sql IS NOT NULL ORDER BY rowid",
    )
    .all();
  const columns = source
    .query<{ name: string }, []>("SELECT name FROM pragma_table_info('emails') WHERE name <> 'seq'")
    .all()
    .map(({ name }) => name)
    .join(", ");
  source.close();
  const folder = temporaryFolder();
  const sqlite = new Database(join(folder, "bare.db"), { create: true });
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("PRAGMA synchronous = NORMAL");
  for (const { sql } of statements) sqlite.run(sql);
  sqlite.run(`ATTACH '${join(data, "mailstead.db")}' AS source`);
  const copy = sqlite.prepare(
    `INSERT INTO emails (${columns}) SELECT ${columns} FROM source.emails WHERE seq > ? AND seq <= ?`,
  );
  const startedAt = performance.now();
  for (let from = 0; from < rows; from += 1000) copy.run(from, from + 1000);
  const seconds = (performance.now() - startedAt) / 1000;
  sqlite.close();
  removeFolder(folder);
  return rows / seconds;
}

/** Returns the milliseconds of work that the server logged for the audience; NaN until then. */
function loggedWorkMs(data: string): number {
  const log = readFileSync(logFileOf(data), "utf8");
  return Number(/"recipients":\d+,"workMs":(\d+)/.exec(log)?.[1]);
}

/** Reads a counter of the campaign: counting its rows would slow down what is measured. */
function readCounter(reader: Reader, campaignSeq: number, counter: string): number {
  const [n = 0] = reader.numbers(
    `SELECT ${counter} AS n FROM campaign_counts WHERE campaign_seq = ${campaignSeq}`,
  );
  return n;
}

/** Returns the size in bytes of the database pages in use, without free pages. */
function usedBytes(data: string): number {
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const [row] = sqlite
    .query<{ n: number }, []>(
      `SELECT (page_count - freelist_count) * page_size AS n
       FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
    )
    .all();
  sqlite.close();
  return row?.n ?? 0;
}

async function waitUntil(isTrue: () => boolean): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (!isTrue()) {
    if (performance.now() > deadline) {
      throw new Error(`still false after ${LIMIT_MS} ms: ${String(isTrue)}`);
    }
    await Bun.sleep(POLL_MS);
  }
}

const spread = ({ p50, p99, max }: { p50: number; p99: number; max: number }) =>
  [p50, p99, max].map((value) => fixed(value, 1)).join(" / ");

const mib = (value: number) => `${whole(value)} MiB`;
