/**
 * Tracks events without pause while the server is killed and restarted. Afterwards each execution
 * must have taken its expected path with each step done once, and each mail step must have created
 * one mail. A webhook may have been called twice only if its call was under way at a kill, and then
 * with the same `webhook-id`.
 */

import { Type } from "@sinclair/typebox";
import { type Api, createApi } from "../bench/api.ts";
import { relayTo } from "../bench/children.ts";
import { limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { openReader } from "../bench/store.ts";
import {
  type CrashOptions,
  killRepeatedly,
  leasedAtStarts,
  runUntilDone,
  stopAndCheck,
  sum,
  withCrashStore,
} from "./kills.ts";
import { type Mailbox, openMailbox } from "./mailbox.ts";
import { RECIPIENT_DOMAIN } from "./sender.ts";
import {
  amountOf,
  EVENTS,
  expectedContact,
  expectedPath,
  GOODBYE,
  type Ids,
  kindOf,
  memberWorkflow,
  orderWorkflow,
  PAID,
  trialWorkflow,
  visitWorkflow,
  WELCOME,
} from "./workflow-graphs.ts";

const MAX_UPTIME_MS = 800;
const CONNECTIONS = 24;
const REQUEST_LIMIT_MS = 10_000;
/** Longest delay of a response of the webhook receiver, so that some calls are under way at kills. */
const MAX_RESPONSE_DELAY_MS = 40;

/** Calls that were due at a start are made 5 s later, because the killed process may have made them. */
const REPEATED_CALLS_MS = 7_000;

export type WorkflowCrashOptions = CrashOptions & { executions: number };

const Created = Type.Object({ data: Type.Object({ id: Type.String() }) });

export function crashWorkflows(options: WorkflowCrashOptions): Promise<Outcome> {
  const { kills, executions } = options;
  return withCrashStore(options, {}, async (store) => {
    const { data, key, port } = store;
    const mailbox = await openMailbox();
    const receiver = startReceiver();
    const args = [...relayTo(mailbox.port, 0), "--allow-private-addresses", "true"];
    const tracker = createTracker(port, key, executions);
    const countRepeatable = createRepeatableCount(data, receiver.callCounts);
    let callsAtKills = 0;

    await killRepeatedly(store, options, {
      args,
      maxUptimeMs: MAX_UPTIME_MS,
      async begin(kill) {
        if (kill > 0) return;
        await createWorkflows(createApi(store, key), `http://127.0.0.1:${receiver.port}`);
      },
      work: (kill, isOver) => tracker.run(Math.ceil((executions * (kill + 1)) / kills), isOver),
      // A kill often comes while a webhook is called, because its request is progress.
      progress: () => tracker.done() + receiver.callCounts.size,
      maxProgress: executions / kills,
      expectsProgress: () => true,
      async end(server) {
        await server.crash();
        await Bun.sleep(MAX_RESPONSE_DELAY_MS);
        callsAtKills += countRepeatable();
      },
    });
    const reader = openReader(data);
    const { server } = await runUntilDone(store, options, {
      args,
      start: kills,
      begin: () => tracker.run(executions, () => false),
      progress: () => reader.count("workflow_execution_steps"),
      quietMs: REPEATED_CALLS_MS,
      isDone: () =>
        reader.count("workflow_executions") >= executions &&
        reader.count("workflow_executions WHERE status IN ('RUNNING', 'WAITING')") === 0 &&
        reader.count("emails WHERE status IN ('QUEUED', 'SENDING')") === 0,
      describeLeft: () => describeLeft(reader, executions),
    });
    reader.close();
    const checks = await stopAndCheck(server, data);
    const found = compareResults(data, executions, mailbox);
    await mailbox.close();
    await receiver.close();
    const calls = [...receiver.callCounts.values()];
    const mailsAtKills = sum(leasedAtStarts(data));
    return {
      figures: [
        ["executions", whole(found.executions)],
        ["webhook steps that sent a request", whole(calls.length)],
        ["calls, mails under way at kills", `${callsAtKills}, ${mailsAtKills}`],
        ...(found.example === "" ? [] : [["example of a wrong path", found.example] as const]),
      ],
      aims: [
        limitAim("executions that did not start", found.missing),
        limitAim("executions on a wrong path", found.astray),
        limitAim("mails created beyond one per step", found.surplusMails),
        limitAim("mails not created", found.missingMails),
        limitAim("mails that did not arrive", found.lostMails),
        limitAim("contacts with wrong data", found.wrongContacts),
        presenceAim("webhook steps that sent a request", calls.length, Math.floor(executions / 2)),
        limitAim(
          "calls repeated with the same id",
          sum(calls) - calls.length,
          callsAtKills,
          "the calls under way at kills",
        ),
        limitAim(
          "mails that arrived twice",
          found.duplicateMails,
          mailsAtKills,
          "the mails under way at kills",
        ),
        ...checks,
      ],
    };
  });
}

async function createWorkflows(api: Api, url: string): Promise<void> {
  const create = async (path: string, body: unknown) =>
    (await api.read(Created, "POST", path, body)).data.id;
  const welcome = await create("/templates", WELCOME);
  const goodbye = await create("/templates", GOODBYE);
  await create("/workflows", orderWorkflow(url, { welcome, goodbye }));
  await create("/workflows", trialWorkflow({ goodbye }));
  await create("/workflows", visitWorkflow({ goodbye }, Date.now()));
  await create("/workflows", memberWorkflow({ welcome }));
}

/**
 * Describes the work that is left after the time limit. A mail whose second attempt was deferred is
 * due after more than ten minutes, and a busy machine alone may defer one.
 */
function describeLeft(reader: ReturnType<typeof openReader>, executions: number): string {
  const missing = executions - reader.count("workflow_executions");
  const groups = reader.texts(`
    SELECT count(*) || ' executions at ' || current_step_id || ', due for ' || coalesce(due_for, 'nothing')
      || ' in ' || coalesce(max(due_at) / 1000 - unixepoch(), '?') || ' s' AS text
    FROM workflow_executions WHERE status IN ('RUNNING', 'WAITING') GROUP BY current_step_id, due_for
    UNION ALL
    SELECT count(*) || ' mails ' || status || ' after ' || attempts || ' attempts, due in '
      || coalesce(max(next_at) / 1000 - unixepoch(), '?') || ' s: ' || coalesce(last_error, 'no error')
    FROM emails WHERE status IN ('QUEUED', 'SENDING') GROUP BY status, attempts, last_error`);
  return [`${missing} executions not started`, ...groups].join("; ");
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

/**
 * Counts, after a kill, the calls of the killed process whose result was not stored: a later process
 * repeats them. `sent` is the number of requests by the id of the call.
 */
function createRepeatableCount(data: string, sent: ReadonlyMap<string, number>): () => number {
  const counted = new Map<string, number>();
  return () => {
    const reader = openReader(data);
    const waiting = reader.texts(`
      SELECT id || '.' || (step_count + 1) AS text FROM workflow_executions WHERE due_for = 'CALL'`);
    reader.close();
    const repeatable = waiting.filter((id) => (sent.get(id) ?? 0) > (counted.get(id) ?? 0));
    for (const id of repeatable) counted.set(id, sent.get(id) ?? 0);
    return repeatable.length;
  };
}

const addressOf = (number: number): string => `customer-${number}@${RECIPIENT_DOMAIN}`;

/** Tracks the events of each contact over several connections, and repeats unanswered requests. */
function createTracker(port: number, key: string, executions: number) {
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

  async function work(upTo: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
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
    return { number, events: [...EVENTS[kindOf(number)]] };
  }

  return {
    done: () => done,
    /** Tracks the contacts up to this number, until `isOver` or the server is gone. */
    async run(upTo: number, isOver: () => boolean): Promise<void> {
      await Promise.all(Array.from({ length: CONNECTIONS }, () => work(upTo, isOver)));
    },
  };
}

class RefusedError extends Error {}

function compareResults(data: string, executions: number, mailbox: Mailbox) {
  const reader = openReader(data);
  const paths = new Map<string, string[]>();
  const idsOf = new Map<string, Ids>();
  for (const text of reader.texts(`
      SELECT c.email || ' ' || c.id || ' ' || w.id AS text FROM workflow_executions e
      JOIN contacts c ON c.seq = e.contact_seq JOIN workflows w ON w.seq = e.workflow_seq`)) {
    const [address = "", contactId = "", workflowId = ""] = text.split(" ");
    idsOf.set(address, { contactId, workflowId });
  }
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
    duplicateMails: 0,
  };
  for (let number = 0; number < executions; number++) {
    const address = addressOf(number);
    const [path, ...more] = paths.get(address) ?? [];
    const ids = idsOf.get(address) ?? { contactId: "", workflowId: "" };
    if (path === undefined) report.missing++;
    else if (path !== expectedPath(number, ids) || more.length > 0) {
      report.astray++;
      report.example ||= `${address}: ${[path, ...more].join(" | ")}`;
    }
    const expectedMails = kindOf(number) === "ORDER" ? 2 : 1;
    const createdMails = mails.get(address) ?? 0;
    report.surplusMails += Math.max(0, createdMails - expectedMails);
    report.missingMails += Math.max(0, expectedMails - createdMails);
    const arrivals = mailbox.to(address);
    const distinct = new Set(arrivals.map(({ messageId }) => messageId)).size;
    report.lostMails += Math.max(0, expectedMails - distinct);
    report.duplicateMails += arrivals.length - distinct;
    if (contacts.get(address) !== expectedContact(number, ids)) report.wrongContacts++;
  }
  reader.close();
  return report;
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
