/**
 * Tracks events without pause while the server is killed and restarted. Afterwards each execution
 * must have taken its expected path with each step done once, and each mail step must have created
 * one mail. A webhook may have been called twice only if its call was under way at a kill, and then
 * with the same `webhook-id`.
 */

import { readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { type Api, createApi } from "../bench/api.ts";
import { freePort, logFileOf, type Server } from "../bench/children.ts";
import { openReader } from "../bench/store.ts";
import { createGenerator, inFlightAtStarts } from "./loop.ts";
import { openMailbox } from "./mailbox.ts";
import { RECIPIENT_DOMAIN } from "./sender.ts";
import {
  amountOf,
  expectedPath,
  GOODBYE,
  isOrder,
  ORDERED,
  orderWorkflow,
  PAID,
  trialWorkflow,
  TRIED,
  WELCOME,
} from "./workflow-graphs.ts";

const MIN_UPTIME_MS = 10;
const MAX_UPTIME_MS = 800;
const POLL_MS = 100;
const CONNECTIONS = 24;
const REQUEST_LIMIT_MS = 10_000;
/** Longest delay of a response of the webhook receiver, so that some calls are under way at kills. */
const MAX_RESPONSE_DELAY_MS = 40;

export type WorkflowCrashOptions = {
  kills: number;
  executions: number;
  seed: number;
  data: string;
  key: string;
  /** Starts the server; `start` counts from 0. Resolves once the server is ready. */
  launch: (start: number, at: { port: number; relayPort: number }) => Promise<Server>;
  /** Time limit for all executions to end after the last kill, in milliseconds. */
  drainLimitMs: number;
  /** Restarts the server after this time; used when each start has a later clock. */
  relaunchAfterMs?: number;
  /** Receives the number of the kill, from 0, and the number of contacts tracked so far. */
  onKill?: (kill: number, tracked: number) => void;
};

export type WorkflowCrashReport = {
  executions: number;
  /** Executions that took another path than expected. */
  astray: number;
  /** One of these executions; empty if there are none. */
  example: string;
  /** Expected executions that do not exist. */
  missing: number;
  /** Email records in excess of one per mail step. */
  surplusMails: number;
  /** Mail steps without an email record. */
  missingMails: number;
  /** Mails that did not arrive. */
  lostMails: number;
  /** Webhook steps that sent at least one request. */
  called: number;
  /** Requests after the first one of each webhook step. */
  repeatedCalls: number;
  /** Webhook calls under way at the kills; only these may be repeated. */
  callsAtKills: number;
  /** Mails under way at the kills; only these may arrive twice. */
  mailsAtKills: number;
  duplicateMails: number;
  /** Contacts whose data or subscription differs from what the workflow sets. */
  wrongContacts: number;
  /** Projects whose counters differ from their rows. */
  wrongCounters: number;
};

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });

export async function runWorkflowCrash(
  options: WorkflowCrashOptions,
): Promise<WorkflowCrashReport> {
  const { data, key, kills, executions } = options;
  const mailbox = await openMailbox();
  const receiver = startReceiver();
  const at = { port: freePort(), relayPort: mailbox.port };
  const api = createApi(at, key);
  const random = createGenerator(options.seed);
  const tracker = createTracker(at.port, key, executions);

  const preparing = await options.launch(0, at);
  await createWorkflows(api, `http://127.0.0.1:${receiver.port}`);
  await preparing.stop();
  for (let kill = 0; kill < kills; kill++) {
    const server = await options.launch(kill, at);
    const tracking = tracker.run(Math.ceil((executions * (kill + 1)) / kills));
    await Bun.sleep(MIN_UPTIME_MS + random() * (MAX_UPTIME_MS - MIN_UPTIME_MS));
    tracker.halt();
    await server.crash();
    await tracking;
    options.onKill?.(kill, tracker.done());
  }
  await waitUntilEnded(options, at, tracker);
  const report = compareResults(data, executions, { mailbox, callCounts: receiver.callCounts });
  await mailbox.close();
  await receiver.close();
  return report;
}

/** Returns whether every step happened once, except calls and mails under way at a kill. */
export function isWorkflowKept(report: WorkflowCrashReport): boolean {
  return (
    report.astray + report.missing + report.surplusMails + report.missingMails === 0 &&
    report.lostMails + report.wrongContacts + report.wrongCounters === 0 &&
    report.repeatedCalls <= report.callsAtKills &&
    report.duplicateMails <= report.mailsAtKills
  );
}

async function createWorkflows(api: Api, url: string): Promise<void> {
  const create = async (path: string, body: unknown) =>
    (await api.read(Created, "POST", path, body)).data.id;
  const welcome = await create("/templates", WELCOME);
  const goodbye = await create("/templates", GOODBYE);
  await create("/workflows", orderWorkflow(url, { welcome, goodbye }));
  await create("/workflows", trialWorkflow({ goodbye }));
}

/** Starts a webhook receiver that responds after a random delay and counts requests by id. */
function startReceiver() {
  const callCounts = new Map<string, number>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ headers }) {
      const id = headers.get("webhook-id") ?? "";
      callCounts.set(id, (callCounts.get(id) ?? 0) + 1);
      await Bun.sleep(Math.random() * MAX_RESPONSE_DELAY_MS);
      return new Response("ok");
    },
  });
  return { port: server.port, callCounts, close: () => server.stop(true) };
}

const addressOf = (number: number): string => `customer-${number}@${RECIPIENT_DOMAIN}`;

/** Tracks the events of each contact over several connections, and repeats unanswered requests. */
function createTracker(port: number, key: string, executions: number) {
  const state = { isHalted: false };
  let next = 0;
  let done = 0;
  const open: { number: number; events: string[] }[] = [];

  async function track(event: string, number: number): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${port}/v1/track`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": `${event} ${number}`,
      },
      body: JSON.stringify({
        event,
        email: addressOf(number),
        data: event === PAID ? { amount: amountOf(number) } : { number },
      }),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });
    const text = await response.text();
    if (response.status !== 200) throw new RefusedError(`${response.status}: ${text}`);
  }

  async function work(upTo: number): Promise<void> {
    while (!state.isHalted) {
      if (open.length === 0 && next >= Math.min(upTo, executions)) return;
      const item = open.shift() ?? begin(next++);
      try {
        for (let event = item.events[0]; event !== undefined; event = item.events[0]) {
          await track(event, item.number);
          item.events.shift();
        }
        done++;
      } catch (error) {
        open.push(item);
        if (error instanceof RefusedError) throw error;
        return; // The server was killed.
      }
    }
  }

  function begin(number: number) {
    return { number, events: isOrder(number) ? [ORDERED, PAID] : [TRIED] };
  }

  return {
    done: () => done,
    halt() {
      state.isHalted = true;
    },
    async run(upTo: number): Promise<void> {
      state.isHalted = false;
      await Promise.all(Array.from({ length: CONNECTIONS }, () => work(upTo)));
    },
  };
}

class RefusedError extends Error {}

async function waitUntilEnded(
  options: WorkflowCrashOptions,
  at: { port: number; relayPort: number },
  tracker: ReturnType<typeof createTracker>,
): Promise<void> {
  const { data, drainLimitMs, relaunchAfterMs = Infinity } = options;
  const deadline = performance.now() + drainLimitMs;
  const reader = openReader(data);
  const open = () =>
    reader.count("workflow_executions WHERE status IN ('RUNNING', 'WAITING')") +
    reader.count("emails WHERE status IN ('QUEUED', 'SENDING')");
  const started = () => reader.count("workflow_executions");
  for (let start = options.kills; ; start++) {
    const server = await options.launch(start, at);
    const relaunchAt = performance.now() + relaunchAfterMs;
    await tracker.run(options.executions);
    const isOver = () => started() >= options.executions && open() === 0;
    while (!isOver() && performance.now() < Math.min(deadline, relaunchAt))
      await Bun.sleep(POLL_MS);
    const wasOver = isOver();
    const code = await server.stop();
    if (code !== 0) throw new Error(`the server exited with code ${code}`);
    if (wasOver) break;
    if (performance.now() >= deadline) {
      throw new Error(`${open()} executions and mails are unfinished after ${drainLimitMs} ms`);
    }
  }
  reader.close();
}

function compareResults(
  data: string,
  executions: number,
  seen: { mailbox: Awaited<ReturnType<typeof openMailbox>>; callCounts: Map<string, number> },
): WorkflowCrashReport {
  const reader = openReader(data);
  const paths = new Map<string, string[]>();
  for (const text of reader.texts(`
      SELECT c.email || ' ' || e.status || ' ' || coalesce(e.exit_reason, '') || ' ' || (
        SELECT group_concat(step) FROM (
          SELECT step_id || ':' || outcome || ':' || coalesce(branch, '') AS step
          FROM workflow_execution_steps WHERE execution_seq = e.seq ORDER BY number)) AS text
      FROM workflow_executions e JOIN contacts c ON c.seq = e.contact_seq`)) {
    const [address = ""] = text.split(" ", 1);
    paths.set(address, [...(paths.get(address) ?? []), text.slice(address.length + 1)]);
  }
  const mails = mailsOf(reader);
  const contacts = new Map(
    reader
      .texts(
        "SELECT email || ' ' || is_subscribed || ' ' || json_extract(data, '$.stage') AS text FROM contacts",
      )
      .map((text) => [text.slice(0, text.indexOf(" ")), text.slice(text.indexOf(" ") + 1)]),
  );
  const report = {
    executions: [...paths.values()].reduce((sum, all) => sum + all.length, 0),
    astray: 0,
    example: "",
    missing: 0,
    surplusMails: 0,
    missingMails: 0,
    lostMails: 0,
    wrongContacts: 0,
    wrongCounters: reader.wrongCounters(),
    duplicateMails: 0,
  };
  for (let number = 0; number < executions; number++) {
    const address = addressOf(number);
    const [path, ...more] = paths.get(address) ?? [];
    if (path === undefined) report.missing++;
    else if (path !== expectedPath(number) || more.length > 0) {
      report.astray++;
      report.example ||= `${address}: ${[path, ...more].join(" | ")}`;
    }
    const expectedMails = isOrder(number) ? 2 : 1;
    const createdMails = mails.get(address) ?? 0;
    report.surplusMails += Math.max(0, createdMails - expectedMails);
    report.missingMails += Math.max(0, expectedMails - createdMails);
    const arrivals = seen.mailbox.to(address);
    const distinct = new Set(arrivals.map(({ messageId }) => messageId)).size;
    report.lostMails += Math.max(0, expectedMails - distinct);
    report.duplicateMails += arrivals.length - distinct;
    const stage = isOrder(number) ? "0 customer" : "1 lost";
    if (contacts.get(address) !== stage) report.wrongContacts++;
  }
  reader.close();
  const calls = [...seen.callCounts.values()];
  return {
    ...report,
    called: calls.length,
    repeatedCalls: calls.reduce((sum, count) => sum + count - 1, 0),
    callsAtKills: callsAtStarts(data),
    mailsAtKills: inFlightAtStarts(data),
  };
}

function mailsOf(reader: ReturnType<typeof openReader>): Map<string, number> {
  const mails = new Map<string, number>();
  for (const address of reader.texts(
    "SELECT to_address AS text FROM emails WHERE source = 'WORKFLOW' AND execution_seq IS NOT NULL",
  )) {
    mails.set(address, (mails.get(address) ?? 0) + 1);
  }
  return mails;
}

/** Sums up how many calls were under way at the kills: each start of the server logs that number. */
function callsAtStarts(data: string): number {
  const lines = readFileSync(logFileOf(data), "utf8").split("\n");
  return lines
    .map((line) => Number(/\bwebhook.*"returned":(\d+)/i.exec(line)?.[1] ?? 0))
    .reduce((sum, returned) => sum + returned, 0);
}
