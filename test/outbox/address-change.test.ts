/** Queued mail of a contact whose address changes. */

import { expect, test } from "bun:test";
import { type Automation, automationPerTest, DAY } from "../support/automation.ts";
import { waitUntil } from "../support/eventually.ts";
import { ACCEPTED, DEFERRED, testTransport } from "../support/transport.ts";

const OLD = "old@example.net";
const NEW = "new@example.net";

const transport = testTransport({ answer: DEFERRED });
const start = automationPerTest({ transport });
let a: Automation;

const senders: [name: string, type: string, send: (type: string) => Promise<void>][] = [
  ["a workflow", "MARKETING", sendByWorkflow],
  ["a workflow", "TRANSACTIONAL", sendByWorkflow],
  ["/v1/send", "MARKETING", sendByRequest],
  ["/v1/send", "TRANSACTIONAL", sendByRequest],
];

async function sendByWorkflow(type: string): Promise<void> {
  const templateId = await a.template({ type });
  await a.workflow({
    trigger: { type: "EVENT", eventName: "go" },
    steps: [{ id: "m", type: "SEND_EMAIL", config: { templateId } }],
    transitions: [],
  });
  await a.track("go", {}, OLD);
}

async function sendByRequest(type: string): Promise<void> {
  await a.t.call("POST", "/contacts", { email: OLD });
  const template = await a.template({ type });
  expect((await a.t.call("POST", "/v1/send", { to: OLD, template })).status).toBe(200);
}

test.each(senders)(
  "mail of %s with a %s template goes to the right address",
  async (_, type, send) => {
    transport.answer = DEFERRED;
    transport.handed.length = 0;
    a = await start();
    await send(type);
    const queued = a.t.db.sqlite.query<{ n: number }, []>(
      "SELECT count(*) AS n FROM emails WHERE status = 'QUEUED' AND attempts = 1",
    );
    await waitUntil(() => queued.get()?.n === 1);
    await a.t.call("PATCH", `/contacts/${a.contactId(OLD)}`, { email: NEW });
    await a.t.call("POST", "/contacts", { email: OLD, subscribed: false });
    transport.answer = ACCEPTED;
    a.t.clock.advance(DAY);
    await waitUntil(() => transport.handed.length === 2);
    const to = transport.handed.map(({ object }) => object.envelope.to);
    expect(to).toEqual([OLD, type === "MARKETING" ? NEW : OLD]);
  },
);
