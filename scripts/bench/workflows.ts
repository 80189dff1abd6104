/** Measures how much workflows slow down tracking, and how late waiting executions continue. */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { load } from "./accept.ts";
import { processorMs, removeFolder, residentMiB, temporaryFolder } from "./children.ts";
import { startProbedServer } from "./loop.ts";
import { SENDER } from "./mail.ts";
import { type Aim, fixed, reportAims, quantile, printValue, whole } from "./report.ts";
import { openReader, openStore, prepareStore } from "./store.ts";

type Options = { binary: string | null; isQuick: boolean };

const EVENT = "signed-up";
const WARM_UP_REQUESTS = 2_000;
const ROUNDS = 3;
const LIMIT_MS = 300_000;
const MATCH_EVENTS = 50_000;
const MATCH_RUNS = 5;
const FLAGS = ["--transport", "capture", "--send-rate", "1", "--api-rate", "0"];

/**
 * The workflows of the project: the number with other triggers, and whether one is triggered by the
 * tracked events.
 */
type Load = { others: number; isMatching: boolean };

export async function benchWorkflows(options: Options): Promise<boolean> {
  const aims = [...(await benchStarts(options)), ...(await benchWaiting(options))];
  return reportAims(aims);
}

/** A workflow: trigger → update contact → send mail → condition → exit. */
const fiveSteps = (templateId: string) => ({
  name: "Five steps",
  enabled: true,
  steps: [
    { id: "start", type: "TRIGGER", config: { eventName: EVENT } },
    { id: "mark", type: "UPDATE_CONTACT", config: { updates: { stage: "new" } } },
    { id: "mail", type: "SEND_EMAIL", config: { templateId } },
    {
      id: "ask",
      type: "CONDITION",
      config: { field: "data.stage", operator: "equals", value: "new" },
    },
    { id: "end", type: "EXIT", config: { reason: "done" } },
  ],
  transitions: [
    { from: "start", to: "mark" },
    { from: "mark", to: "mail" },
    { from: "mail", to: "ask" },
    { from: "ask", to: "end", branch: "yes" },
  ],
});

const otherWorkflow = (number: number) => ({
  name: `Other ${number}`,
  enabled: true,
  steps: [{ id: "start", type: "TRIGGER", config: { eventName: `other-${number}` } }],
  transitions: [],
});

async function benchStarts(options: Options): Promise<Aim[]> {
  const requests = options.isQuick ? 10_000 : 40_000;
  console.log(`workflows: ${whole(requests)} × POST /v1/track, the best of ${ROUNDS}`);
  const loads: Record<"none" | "ten" | "thousand" | "matching", Load> = {
    none: { others: 0, isMatching: false },
    ten: { others: 10, isMatching: false },
    thousand: { others: 1_000, isMatching: false },
    matching: { others: 10, isMatching: true },
  };
  const rates = { none: 0, ten: 0, thousand: 0, matching: 0 };
  const ended = { seconds: Infinity };
  const processor = { none: Infinity, ten: Infinity, thousand: Infinity, matching: Infinity };
  const loopAims: Aim[] = [];
  // The rounds alternate, so that other work on the machine affects all equally.
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ["none", "ten", "thousand", "matching"] as const) {
      const measured = await measureTracking(options, requests, loads[name]);
      rates[name] = Math.max(rates[name], measured.rate);
      processor[name] = Math.min(processor[name], measured.processorUs);
      if (name !== "matching") continue;
      ended.seconds = Math.min(ended.seconds, measured.endedAfter);
      if (round === ROUNDS - 1) loopAims.push(...measured.loop);
    }
  }
  const formatRate = (name: keyof typeof rates) =>
    `${whole(rates[name])}/s, ${whole(processor[name])} µs of processor time each`;
  printValue("accepted, no workflow (baseline)", formatRate("none"));
  printValue("accepted, 10 other workflows", formatRate("ten"));
  printValue("accepted, 1,000 other workflows", formatRate("thousand"));
  printValue("accepted, starting five steps", `${formatRate("matching")}, including all steps`);
  printValue("all executions ended", `${fixed(ended.seconds, 1)} s after the last was accepted`);
  const few = await measureMatching(10);
  const many = await measureMatching(1_000);
  printValue(
    "finding triggers, 10 and 1,000",
    `${fixed(few, 1)} and ${fixed(many, 1)} µs of processor time`,
  );
  return [
    {
      name: "accepted, starting five steps",
      isMet: rates.matching >= 3_000,
      measured: `${whole(rates.matching)}/s`,
      wanted: "≥ 3,000/s",
    },
    {
      name: "finding triggers, 1,000 to 10",
      isMet: many < 1.25 * few,
      measured: fixed(many / few, 2),
      wanted: "< 1.25",
    },
    ...loopAims,
  ];
}

async function measureTracking(
  { binary }: Options,
  requests: number,
  { others, isMatching }: Load,
): Promise<{ rate: number; endedAfter: number; processorUs: number; loop: Aim[] }> {
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const { post, close } = openStore(data);
  for (let number = 0; number < others; number++)
    await post(key, "/workflows", otherWorkflow(number));
  if (isMatching) await post(key, "/workflows", fiveSteps(await createTemplate(post, key)));
  await close();
  const server = await startProbedServer({ binary, data, args: FLAGS });
  const target = { port: server.port, path: "/v1/track", key, event: EVENT };
  await load(target, { requests: WARM_UP_REQUESTS, firstRecipient: requests });
  if (isMatching) await server.reportLoop("warming up");
  const before = processorMs(server.pid);
  const { seconds } = await load(target, { requests, firstRecipient: 0 });
  const startedAt = performance.now();
  if (isMatching) await waitUntilEnded(data, requests + WARM_UP_REQUESTS);
  const processorUs = ((processorMs(server.pid) - before) * 1000) / requests;
  const endedAfter = (performance.now() - startedAt) / 1000;
  const loop = isMatching ? await server.reportLoop("starting executions") : [];
  await server.stop();
  removeFolder(data);
  return { rate: requests / seconds, endedAfter, processorUs, loop };
}

/**
 * Measures the processor time, in µs, that the runner needs for an event that starts nothing. It runs
 * in this process on a separate log; the best of several runs counts.
 */
async function measureMatching(others: number): Promise<number> {
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const { app, post, close } = openStore(data);
  for (let number = 0; number < others; number++)
    await post(key, "/workflows", otherWorkflow(number));
  await post(key, "/contacts", { email: "ada@example.net" });
  await app.automation.start();
  await app.automation.idle();
  let best = Infinity;
  for (let run = 0; run < MATCH_RUNS; run++) {
    addEvents(data);
    const before = process.cpuUsage();
    app.automation.wake();
    await app.automation.idle();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / MATCH_EVENTS);
  }
  await app.automation.stop();
  await close();
  removeFolder(data);
  return best;
}

function addEvents(data: string): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run(
    `WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     INSERT INTO events (id, project_seq, name, contact_seq, data, created_at)
     SELECT 'e', project_seq, 'unknown-' || (n % 50), seq, '{"path":"/a"}', 0
     FROM numbers CROSS JOIN contacts`,
    [MATCH_EVENTS],
  );
  sqlite.close();
}

async function createTemplate(
  post: (key: string, path: string, body: unknown) => Promise<unknown>,
  key: string,
): Promise<string> {
  const created = await post(key, "/templates", {
    name: "Welcome",
    type: "MARKETING",
    subject: "Welcome, {{ name }}",
    body: "<p>Hello {{ name }}, your order is {{ order }}.</p>",
    from: SENDER,
  });
  return idOf(created);
}

function idOf(answer: unknown): string {
  const { data } = Object(answer);
  return String(Object(data).id);
}

async function waitUntilEnded(data: string, executions: number): Promise<void> {
  const reader = openReader(data);
  const deadline = performance.now() + LIMIT_MS;
  const ended = () => reader.count("workflow_executions WHERE status = 'EXITED'");
  while (ended() < executions) {
    if (performance.now() > deadline) {
      throw new Error(`only ${ended()} of ${executions} executions ended in ${LIMIT_MS} ms`);
    }
    await Bun.sleep(20);
  }
  const mails = reader.count("emails WHERE source = 'WORKFLOW'");
  const steps = reader.count("workflow_execution_steps");
  reader.close();
  if (mails !== executions || steps !== 5 * executions) {
    throw new Error(`${mails} mails and ${steps} steps for ${executions} executions`);
  }
}

/**
 * Measures how late waiting executions continue. Half of them wait for a time and half for an event,
 * which is tracked for a part of them.
 */
async function benchWaiting({ binary, isQuick }: Options): Promise<Aim[]> {
  const waiting = isQuick ? 20_000 : 100_000;
  const spreadMs = isQuick ? 20_000 : 60_000;
  const leadMs = 15_000;
  console.log(`workflows: ${whole(waiting)} waiting executions, due over ${spreadMs / 1000} s`);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const { post, close } = openStore(data);
  await post(key, "/workflows", waitWorkflow());
  await close();
  const from = Date.now() + leadMs;
  const at = { waiting, from, spreadMs };
  insertExecutions(data, at);
  const server = await startProbedServer({ binary, data, args: FLAGS });
  await server.reportLoop("starting up");
  const memory = [residentMiB(server.pid)];
  const events = Math.floor(waiting / 20);
  // While these events wake executions, the other half is woken by time.
  const target = { port: server.port, path: "/v1/track", key, event: "bought" };
  const { seconds } = await load(target, { requests: events, firstRecipient: waiting });
  while (Date.now() < from + spreadMs + 2_000) {
    await Bun.sleep(1_000);
    memory.push(residentMiB(server.pid));
  }
  const loop = await server.reportLoop("waking executions");
  await server.stop();
  const delayed = delaysOf(data, at);
  removeFolder(data);
  printValue("woken by their time", whole(delayed.byTime.length));
  const delays = (values: readonly number[]) =>
    [0.5, 0.99, 0.999, 1].map((q) => whole(quantile(values, q))).join(" / ");
  printValue("delay, p50 / p99 / p99.9 / max", `${delays(delayed.byTime)} ms`);
  printValue(
    "woken by an event",
    `${whole(delayed.byEvent.length)}, at ${whole(events / seconds)}/s`,
  );
  printValue("delay, p50 / p99 / p99.9 / max", `${delays(delayed.byEvent)} ms`);
  printValue("peak memory", `${whole(Math.max(...memory))} MiB`);
  const longestMs = Math.max(quantile(delayed.byTime, 1), quantile(delayed.byEvent, 1));
  const peakMiB = Math.max(...memory);
  return [
    {
      name: "all woken",
      isMet: delayed.byTime.length === waiting / 2 && delayed.byEvent.length === events,
      measured: `${whole(delayed.byTime.length)} and ${whole(delayed.byEvent.length)}`,
      wanted: `${whole(waiting / 2)} and ${whole(events)}`,
    },
    {
      name: "longest delay",
      isMet: longestMs < 1_000,
      measured: `${whole(longestMs)} ms`,
      wanted: "< 1,000 ms",
    },
    {
      name: "memory",
      isMet: peakMiB < 250,
      measured: `${whole(peakMiB)} MiB`,
      wanted: "< 250 MiB",
    },
    ...loop,
  ];
}

const waitWorkflow = () => ({
  name: "Waits",
  enabled: true,
  steps: [
    { id: "start", type: "TRIGGER", config: { eventName: EVENT } },
    { id: "delay", type: "DELAY", config: { amount: 1, unit: "days" } },
    { id: "wait", type: "WAIT_FOR_EVENT", config: { eventName: "bought", timeout: 86_400 } },
  ],
  transitions: [
    { from: "start", to: "delay" },
    { from: "delay", to: "wait" },
  ],
});

type Spread = { waiting: number; from: number; spreadMs: number };

/** SQL of the due time of execution `n` in the first half; ?1 to ?3 are the members of a Spread. */
const DUE = "?2 + (n * 7919 % (?1 / 2)) * ?3 / (?1 / 2)";

/** Inserts executions that started a day ago. The first half waits for a time, the second for an event. */
function insertExecutions(data: string, { waiting, from, spreadMs }: Spread): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  const numbers =
    "WITH numbers (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?)";
  sqlite.run("BEGIN");
  sqlite.run(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     ${numbers} SELECT 'c-' || n, p.seq, 'person-' || (n + ?1 / 2) || '@example.net', 1, '{}', 0, 0
     FROM numbers CROSS JOIN projects p`,
    [waiting],
  );
  sqlite.run(
    `INSERT INTO workflow_executions (id, project_seq, workflow_seq, version_seq, contact_seq,
       status, current_step_id, context, step_started_at, step_count, due_at, due_for,
       awaited_event, started_at)
     ${numbers} SELECT 'e-' || n, w.project_seq, w.seq, w.version_seq, c.seq, 'WAITING',
       iif(n < ?1 / 2, 'delay', 'wait'), '{}', 0, 1,
       iif(n < ?1 / 2, ${DUE}, ?2 + 86400000), 'TIME',
       iif(n < ?1 / 2, NULL, 'bought'), 0
     FROM numbers JOIN contacts c ON c.id = 'c-' || n CROSS JOIN workflows w`,
    [waiting, from, spreadMs],
  );
  sqlite.run("COMMIT");
  sqlite.close();
}

/** Returns the milliseconds from the due time, or from the event, to the completion of each step. */
function delaysOf(
  data: string,
  { waiting, from, spreadMs }: Spread,
): { byTime: number[]; byEvent: number[] } {
  const reader = openReader(data);
  const due = DUE.replaceAll("?1", String(waiting))
    .replaceAll("?2", String(from))
    .replaceAll("?3", String(spreadMs));
  const byTime = reader.numbers(`
    SELECT at - (${due}) AS n FROM (
      SELECT s.completed_at AS at, CAST(substr(e.id, 3) AS INTEGER) AS n FROM workflow_executions e
      JOIN workflow_execution_steps s ON s.execution_seq = e.seq WHERE s.step_id = 'delay')`);
  const byEvent = reader.numbers(`
    SELECT s.completed_at - ev.created_at AS n FROM workflow_executions e
    JOIN workflow_execution_steps s ON s.execution_seq = e.seq
    JOIN events ev ON ev.seq = e.event_seq WHERE s.step_id = 'wait'`);
  reader.close();
  return { byTime, byEvent };
}
