/** POST /workflows/{id}/simulation shows the path of a contact, and changes nothing. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Automation, HOUR, startAutomation } from "../../support/automation.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";

const ADA = "ada@example.net";

let a: Automation;
let templateId: string;
beforeAll(async () => {
  a = await startAutomation();
  templateId = await a.template({
    subject: "Welcome, {{ name }}",
    body: "<p>You have {{ plan }}.</p>",
  });
});
afterAll(() => a.close());

/** A series with a wait, a condition, a webhook and a change of the contact. */
const series = () => ({
  trigger: { type: "EVENT", eventName: "signed-up" },
  steps: [
    { id: "hello", type: "SEND_EMAIL", config: { templateId } },
    {
      id: "opened",
      type: "WAIT_FOR_EVENT",
      config: { eventName: "email.opened", timeout: 172800 },
    },
    { id: "crm", type: "WEBHOOK", config: { url: "https://crm.example/{{ id }}", method: "POST" } },
    {
      id: "vip",
      type: "CONDITION",
      config: { field: "context.webhook.vip", operator: "equals", value: true },
    },
    { id: "mark", type: "UPDATE_CONTACT", config: { updates: { plan: null, vip: true } } },
    { id: "known", type: "CONDITION", config: { field: "data.vip", operator: "exists" } },
    { id: "again", type: "SEND_EMAIL", config: { templateId } },
  ],
  transitions: [
    { from: "hello", to: "opened" },
    { from: "opened", to: "crm" },
    { from: "opened", to: "again", branch: "timeout" },
    { from: "crm", to: "vip" },
    { from: "vip", to: "mark", branch: "yes" },
    { from: "mark", to: "known" },
    { from: "known", to: "again", branch: "yes" },
  ],
});

async function simulate(id: string, input: object) {
  const answer = await a.t.call("POST", `/workflows/${id}/simulation`, input);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return valueAt(answer.body, "data");
}

/** The completed steps of the first execution as `stepId outcome[:branch] hours after the start`. */
function pathOf(simulation: unknown): string[] {
  const [execution] = listAt(simulation, "executions");
  const startAt = Date.parse(stringAt(simulation, "startAt"));
  return listAt(execution, "steps").map((step) => {
    const branch = valueAt(step, "branch") === null ? "" : `:${stringAt(step, "branch")}`;
    const hours = (Date.parse(stringAt(step, "completedAt")) - startAt) / HOUR;
    return `${stringAt(step, "stepId")} ${stringAt(step, "outcome")}${branch} ${hours}`;
  });
}

const stepOf = (simulation: unknown, stepId: string): unknown =>
  listAt(listAt(simulation, "executions")[0], "steps").find((s) => valueAt(s, "stepId") === stepId);

test("a simulation shows the path, the mails, the requests and the changes", async () => {
  await a.track("visited", { name: "Ada", plan: "pro" }, ADA);
  const id = await a.workflow(series(), { enabled: false });
  // The uses of the key and the positions in the log are stored some time after the event.
  const stored = () => ({ ...a.t.contents(), readers: [], api_keys: [] });
  await settleEventLoop();
  const before = stored();
  const startAt = a.t.clock.now();
  const at = new Date(startAt + 5 * HOUR).toISOString();
  const found = await simulate(id, {
    contactId: a.contactId(ADA),
    data: { source: "web" },
    events: [{ at, eventName: "email.opened" }],
    answers: { crm: { status: 200, body: { vip: true } } },
  });
  expect(pathOf(found)).toEqual([
    "trigger COMPLETED 0",
    "hello COMPLETED 0",
    "opened COMPLETED 5",
    "crm COMPLETED 5",
    "vip COMPLETED:yes 5",
    "mark COMPLETED 5",
    "known COMPLETED:yes 5",
    "again COMPLETED 5",
  ]);
  expect(stepOf(found, "hello")).toMatchObject({
    mail: { to: ADA, from: "news@acme.test", subject: "Welcome, Ada", suppressed: null },
  });
  expect(stringAt(stepOf(found, "hello"), "mail.html")).toContain("You have pro.");
  expect(stringAt(stepOf(found, "again"), "mail.html")).toContain("You have .");
  expect(valueAt(stepOf(found, "crm"), "request.url")).toBe(
    `https://crm.example/${a.contactId(ADA)}`,
  );
  expect(valueAt(stepOf(found, "mark"), "changes")).toEqual({
    subscribed: null,
    data: { vip: true, plan: null },
  });
  expect(valueAt(found, "contact.data")).toEqual({ name: "Ada", source: "web", vip: true });
  expect(stored()).toEqual(before);
});

test("a simulation stops at a time, and names the cause of its wait and the next step", async () => {
  const id = await a.workflow(series(), { enabled: false });
  const startAt = "2026-05-01T09:00:00.000Z";
  const until = "2026-05-02T09:00:00.000Z";
  const found = await simulate(id, { sample: { data: { name: "Bo" } }, startAt, until });
  expect(pathOf(found)).toEqual(["trigger COMPLETED 0", "hello COMPLETED 0"]);
  const timeout = "2026-05-03T09:00:00.001Z";
  expect(found).toMatchObject({ at: until, nextAt: timeout, hindrance: null });
  expect(valueAt(listAt(found, "executions")[0], "waiting")).toEqual({
    stepId: "opened",
    eventName: "email.opened",
    until: timeout,
    reason: null,
  });
  const later = await simulate(id, { sample: {}, startAt });
  expect(pathOf(later).at(-1)).toStartWith("again COMPLETED 48");
  expect(valueAt(later, "nextAt")).toBeNull();
});

test("marketing mail to an unsubscribed contact is skipped, and a suppressed one is shown", async () => {
  const id = await a.workflow(series(), { enabled: false });
  const skipped = await simulate(id, { sample: { email: "out@example.com", subscribed: false } });
  expect(stepOf(skipped, "hello")).toMatchObject({
    outcome: "SKIPPED",
    detail: { reason: "out@example.com is not subscribed." },
    mail: null,
  });
  await a.track("visited", {}, "stop@example.com");
  await a.t.call("POST", "/suppressions", { email: "stop@example.com" });
  const suppressed = await simulate(id, { contactId: a.contactId("stop@example.com") });
  expect(stepOf(suppressed, "hello")).toMatchObject({ mail: { suppressed: "MANUAL" } });
});

test("a mail is shown as a document, to the one who asked for it", async () => {
  const id = await a.workflow(series(), { enabled: false });
  const sample = { data: { plan: "free" } };
  const path = stringAt(await simulate(id, { sample, mail: 1 }), "documentUrl");
  const shown = await a.t.call("GET", path);
  expect(shown.headers.get("content-security-policy")).toContain("sandbox");
  expect(String(shown.body)).toContain("You have free.");
  expect(valueAt(await simulate(id, { sample, mail: 2 }), "documentUrl")).toBeNull();
});

test("a large answer leaves out bodies, apart from the mail that is asked for", async () => {
  const large = await a.template({ body: `<p>${"words ".repeat(100_000)}</p>` });
  const steps = Array.from({ length: 4 }, (_, i) => ({
    id: `m${i}`,
    type: "SEND_EMAIL",
    config: { templateId: large },
  }));
  const transitions = steps.slice(1).map(({ id: to }, i) => ({ from: `m${i}`, to }));
  const trigger = { type: "EVENT", eventName: "large" };
  const id = await a.workflow({ trigger, steps, transitions }, { enabled: false });
  const shown = async (input: object) => {
    const [execution] = listAt(await simulate(id, input), "executions");
    return listAt(execution, "steps")
      .slice(1)
      .map((step) => valueAt(step, "mail.html") !== null);
  };
  expect(await shown({})).toEqual([true, true, false, false]);
  expect(await shown({ mail: 3 })).toEqual([true, true, false, true]);
});

test("a webhook that answers 500 is tried again, and its workflow fails after a day", async () => {
  const id = await a.workflow(series(), { enabled: false });
  const at = new Date(a.t.clock.now()).toISOString();
  const events = [{ at, eventName: "email.opened" }];
  const found = await simulate(id, { events, answers: { crm: { status: 500 } } });
  expect(valueAt(stepOf(found, "crm"), "outcome")).toBe("FAILED");
  expect(valueAt(listAt(found, "executions")[0], "error")).toContain("last of 8 tries");
});

test("a graph that is not stored can be simulated, also one with a loop", async () => {
  const id = await a.workflow({
    trigger: { type: "EVENT", eventName: "signed-up" },
    steps: [],
    transitions: [],
  });
  const workflow = {
    steps: [
      { id: "start", type: "TRIGGER", config: { eventName: "signed-up" } },
      { id: "wait", type: "DELAY", config: { amount: 1, unit: "days" } },
    ],
    transitions: [
      { from: "start", to: "wait" },
      { from: "wait", to: "wait" },
    ],
  };
  const found = await simulate(id, { workflow });
  expect(valueAt(found, "isCutShort")).toBe(true);
  expect(pathOf(found)).toHaveLength(500);
  expect(listAt((await a.t.call("GET", `/workflows/${id}`)).body, "data.steps")).toHaveLength(1);
});

test("a workflow that is started by hand is simulated with its windows, splits and exits", async () => {
  const branches = ["x", "y"].map((name) => ({ id: name, weight: 1 }));
  const window = { days: ["MON"], from: "09:00", to: "10:00", timeZone: "UTC" };
  const id = await a.workflow({
    trigger: { type: "MANUAL" },
    exits: [{ on: "UNSUBSCRIBED" }],
    steps: [
      { id: "half", type: "SPLIT", config: { branches } },
      { id: "window", type: "TIME_WINDOW", config: window },
      { id: "order", type: "WAIT_FOR_EVENT", config: { eventName: "ordered" } },
    ],
    transitions: [
      { from: "half", to: "window", branch: "x" },
      { from: "half", to: "window", branch: "y" },
      { from: "window", to: "order" },
    ],
  });
  await a.track("visited", {}, "split@example.com");
  const contactId = a.contactId("split@example.com");
  const startAt = "2026-05-03T09:00:00.000Z"; // A Sunday.
  const events = [{ at: "2026-05-05T09:00:00.000Z", eventName: "contact.unsubscribed" }];
  const found = await simulate(id, { contactId, startAt, events });
  await a.t.call("POST", `/workflows/${id}/executions`, { contactId });
  await a.settle();
  const [, live] = (await a.only(id)).steps;
  expect(pathOf(found)).toEqual(["trigger COMPLETED 0", `${live} 0`, "window COMPLETED 24"]);
  expect(listAt(found, "executions")[0]).toMatchObject({
    status: "EXITED",
    exitReason: "The contact unsubscribed.",
    completedAt: "2026-05-05T09:00:00.000Z",
  });
});

test("a contact that entered before would not enter again", async () => {
  const id = await a.workflow(series());
  await a.track("signed-up", {}, "again@example.com");
  const found = await simulate(id, { contactId: a.contactId("again@example.com") });
  expect(stringAt(found, "hindrance")).toContain("re-entry is not allowed");
});

test.each([
  ["until", { startAt: "2026-05-02T09:00:00Z", until: "2026-05-01T09:00:00Z" }],
  ["until", { startAt: "2026-05-02T09:00:00Z", until: "2036-05-01T09:00:00Z" }],
  [
    "events.0.at",
    { startAt: "2026-05-02T09:00:00Z", events: [{ at: "2026-05-01T09:00:00Z", eventName: "a" }] },
  ],
  ["sample", { contactId: "x", sample: {} }],
  ["workflow.steps.0.type", { workflow: { steps: [{ id: "a", type: "NOTHING" }] } }],
])("a simulation refuses a wrong %s", async (field, input) => {
  const id = await a.workflow(series(), { enabled: false });
  const answer = await a.t.call("POST", `/workflows/${id}/simulation`, input);
  expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
});

test("an unknown contact or workflow is not found", async () => {
  const id = await a.workflow(series(), { enabled: false });
  const contact = await a.t.call("POST", `/workflows/${id}/simulation`, { contactId: "none" });
  expect([contact.status, contact.at("error.code")]).toEqual([404, "CONTACT_NOT_FOUND"]);
  expect((await a.t.call("POST", "/workflows/none/simulation", {})).status).toBe(404);
});
