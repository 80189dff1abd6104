/**
 * The promise of workflows, put to the test: events come in without a pause while the server is
 * killed and started again. In the end every execution went its way, each step of it once; every
 * mail step made one mail; and a webhook was called twice only if its call was under way at a kill,
 * by the same name.
 */

import { readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { type Api, createApi } from "../bench/api.ts";
import { freePort, logFileOf, type Server } from "../bench/children.ts";
import { openReader } from "../bench/store.ts";
import { generator, inFlightAtStarts } from "./loop.ts";
import { openMailbox } from "./mailbox.ts";
import { RECIPIENT_DOMAIN } from "./sender.ts";
import {
  amountOf,
  expectedWay,
  GOODBYE,
  isOrder,
  ORDERED,
  orderWorkflow,
  PAID,
  trialWorkflow,
  TRIED,
  WELCOME,
} from "./workflow-graphs.ts";

const SHORTEST_LIFE_MS = 10;
const LONGEST_LIFE_MS = 800;
const POLL_MS = 100;
const CONNECTIONS = 24;
const REQUEST_LIMIT_MS = 10_000;
/** Of the receiver's answers; a part of the kills falls into them. */
const LONGEST_ANSWER_MS = 40;

export type WorkflowCrashOptions = {
  kills: number;
  executions: number;
  seed: number;
  data: string;
  key: string;
  launch: (life: number, at: { port: number; relayPort: number }) => Promise<Server>;
  /** For executions to end after the last kill. */
  drainLimitMs: number;
  /** Another start after this long, where lives differ in what time it is for them. */
  relaunchAfterMs?: number;
  onLife?: (life: number, tracked: number) => void;
};

export type WorkflowCrashReport = {
  executions: number;
  /** Executions that went another way than they have to, an example of it. */
  astray: number;
  example: string;
  missing: number;
  /** Email records beyond or below one per mail step. */
  surplusMails: number;
  missingMails: number;
  /** Mails that did not arrive. */
  lostMails: number;
  /** Steps that called, and calls beyond the first of each. */
  called: number;
  repeatedCalls: number;
  /** Calls under way at the kills: no more can be repeated. */
  callsAtKills: number;
  mailsAtKills: number;
  duplicateMails: number;
  /** Contacts that are not as their way leaves them. */
  wrongContacts: number;
};

const Made = Type.Object({ data: Type.Object({ id: Type.String() }) });

export async function runWorkflowCrash(
  options: WorkflowCrashOptions,
): Promise<WorkflowCrashReport> {
  const { data, key, kills, executions } = options;
  const mailbox = await openMailbox();
  const receiver = startReceiver();
  const at = { port: freePort(), relayPort: mailbox.port };
  const api = createApi(at, key);
  const random = generator(options.seed);
  const tracker = createTracker(at.port, key, executions);

  const preparing = await options.launch(0, at);
  await makeWorkflows(api, `http://127.0.0.1:${receiver.port}`);
  await preparing.stop();
  for (let life = 0; life < kills; life++) {
    const server = await options.launch(life, at);
    const sending = tracker.run(Math.ceil((executions * (life + 1)) / kills));
    await Bun.sleep(SHORTEST_LIFE_MS + random() * (LONGEST_LIFE_MS - SHORTEST_LIFE_MS));
    tracker.halt();
    await server.crash();
    await sending;
    options.onLife?.(life, tracker.done());
  }
  await untilEnded(options, at, tracker);
  const report = compare(data, executions, { mailbox, names: receiver.names });
  await mailbox.close();
  await receiver.close();
  return report;
}

/** Whether the promise was kept. */
export function isWorkflowKept(report: WorkflowCrashReport): boolean {
  return (
    report.astray + report.missing + report.surplusMails + report.missingMails === 0 &&
    report.lostMails + report.wrongContacts === 0 &&
    report.repeatedCalls <= report.callsAtKills &&
    report.duplicateMails <= report.mailsAtKills
  );
}

async function makeWorkflows(api: Api, url: string): Promise<void> {
  const make = async (path: string, body: unknown) =>
    (await api.read(Made, "POST", path, body)).data.id;
  const welcome = await make("/templates", WELCOME);
  const goodbye = await make("/templates", GOODBYE);
  await make("/workflows", orderWorkflow(url, { welcome, goodbye }));
  await make("/workflows", trialWorkflow({ goodbye }));
}

/** Answers after a while, and notes by which name it was called. */
function startReceiver() {
  const names = new Map<string, number>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch({ headers }) {
      const name = headers.get("webhook-id") ?? "";
      names.set(name, (names.get(name) ?? 0) + 1);
      await Bun.sleep(Math.random() * LONGEST_ANSWER_MS);
      return new Response("ok");
    },
  });
  return { port: server.port, names, close: () => server.stop(true) };
}

const addressOf = (number: number): string => `customer-${number}@${RECIPIENT_DOMAIN}`;

/** Tracks what happens to each contact, several at once; what was not answered is sent again. */
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
        return; // The server is gone.
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

async function untilEnded(
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
  for (let life = options.kills; ; life++) {
    const server = await options.launch(life, at);
    const relaunchAt = performance.now() + relaunchAfterMs;
    await tracker.run(options.executions);
    const isOver = () => started() >= options.executions && open() === 0;
    while (!isOver() && performance.now() < Math.min(deadline, relaunchAt))
      await Bun.sleep(POLL_MS);
    const wasOver = isOver();
    const code = await server.stop();
    if (code !== 0) throw new Error(`the server ended with ${code}`);
    if (wasOver) break;
    if (performance.now() >= deadline) throw new Error(`${open()} open after ${drainLimitMs} ms`);
  }
  reader.close();
}

function compare(
  data: string,
  executions: number,
  seen: { mailbox: Awaited<ReturnType<typeof openMailbox>>; names: Map<string, number> },
): WorkflowCrashReport {
  const reader = openReader(data);
  const ways = new Map<string, string[]>();
  for (const text of reader.texts(`
      SELECT c.email || ' ' || e.status || ' ' || coalesce(e.exit_reason, '') || ' ' || (
        SELECT group_concat(step) FROM (
          SELECT step_id || ':' || outcome || ':' || coalesce(branch, '') AS step
          FROM workflow_execution_steps WHERE execution_seq = e.seq ORDER BY number)) AS text
      FROM workflow_executions e JOIN contacts c ON c.seq = e.contact_seq`)) {
    const [address = ""] = text.split(" ", 1);
    ways.set(address, [...(ways.get(address) ?? []), text.slice(address.length + 1)]);
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
    executions: [...ways.values()].reduce((sum, all) => sum + all.length, 0),
    astray: 0,
    example: "",
    missing: 0,
    surplusMails: 0,
    missingMails: 0,
    lostMails: 0,
    wrongContacts: 0,
    duplicateMails: 0,
  };
  for (let number = 0; number < executions; number++) {
    const address = addressOf(number);
    const [way, ...more] = ways.get(address) ?? [];
    if (way === undefined) report.missing++;
    else if (way !== expectedWay(number) || more.length > 0) {
      report.astray++;
      report.example ||= `${address}: ${[way, ...more].join(" | ")}`;
    }
    const wanted = isOrder(number) ? 2 : 1;
    const made = mails.get(address) ?? 0;
    report.surplusMails += Math.max(0, made - wanted);
    report.missingMails += Math.max(0, wanted - made);
    const arrivals = seen.mailbox.to(address);
    const distinct = new Set(arrivals.map(({ messageId }) => messageId)).size;
    report.lostMails += Math.max(0, wanted - distinct);
    report.duplicateMails += arrivals.length - distinct;
    const stage = isOrder(number) ? "0 customer" : "1 lost";
    if (contacts.get(address) !== stage) report.wrongContacts++;
  }
  reader.close();
  const calls = [...seen.names.values()];
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

/** Each start says how many calls the process before it left under way. */
function callsAtStarts(data: string): number {
  const lines = readFileSync(logFileOf(data), "utf8").split("\n");
  return lines
    .map((line) => Number(/"webhooks of a stopped process.*"returned":(\d+)/.exec(line)?.[1] ?? 0))
    .reduce((sum, returned) => sum + returned, 0);
}
