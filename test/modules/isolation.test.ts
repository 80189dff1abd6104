/**
 * A key gives access to its own project only: every operation is called for an object of another
 * project, and for one that does not exist.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../support/app.ts";
import { drawImage } from "../support/images.ts";
import { listAt, valueAt } from "../support/json.ts";
import { expectError } from "../support/refusal.ts";
import { chain, step } from "./workflows/graphs.ts";

let t: TestApp;
let stranger: string;
/** The id of an object for the first segment of a path, or for another parameter by its name. */
const ids: Record<string, string> = {};
beforeAll(async () => {
  t = await testApp(); // It is not started, so that no row changes by itself.
  stranger = (await t.makeProject("stranger")).secretKey;
  ids["templates"] = await t.create("/templates", TEMPLATE, "data.id");
  const layout = { name: "Letter", body: "<body>{{ content }}</body>" };
  ids["layouts"] = await t.create("/layouts", layout, "data.id");
  ids["forms"] = await t.create("/forms", { name: "News", title: "News" }, "data.id");
  const erased = { email: "gone@example.com" };
  ids["erasures"] = await t.create("/erasures", erased, "data.id");
  ids["topics"] = await t.create("/topics", { name: "News" }, "data.id");
  const image = await t.call("POST", "/images", undefined, {
    raw: await drawImage(3, 3, "png"),
    headers: { "content-type": "image/png" },
  });
  ids["images"] = image.text("data.id");
  ids["contacts"] = await t.create("/contacts", { email: ADA, data: { a: 1 } }, "id");
  ids["segments"] = await t.create("/segments", { name: "s", type: "STATIC" }, "data.id");
  const mail = { to: ADA, from: "a@acme.test", subject: "s", body: "b" };
  ids["emails"] = await t.create("/v1/send", mail, "data.emails.0.email");
  const campaign = { name: "c", subject: "s", body: "b", from: "a@acme.test", audienceType: "ALL" };
  ids["campaigns"] = await t.create("/campaigns", campaign, "data.id");
  const flow = chain(step("wait", "DELAY", { amount: 1, unit: "days" }));
  ids["workflows"] = await t.create("/workflows", { name: "w", ...flow }, "data.id");
  ids["stepId"] = "wait";
  ids["number"] = "1";
  const workflow = await t.call("GET", `/workflows/${ids["workflows"]}`);
  ids["transitionId"] = workflow.text("data.transitions.0.id");
  ids["domains"] = await t.create("/domains", { domain: "isolated.test" }, "data.id");
  ids["suppressions"] = await t.create("/suppressions", { email: "bad@example.com" }, "data.email");
  ids["inboxes"] = await t.create("/inboxes", { name: "mine" }, "data.id");
  const webhook = { url: "https://hooks.example.com/", events: ["bought"] };
  ids["webhooks"] = await t.create("/webhooks", webhook, "data.id");
  const relay = { provider: "MAILGUN" };
  ids["report-sources"] = await t.create("/report-sources", relay, "data.id");
  const mailbox = { protocol: "IMAP", host: "imap.acme.test", username: "a", password: "b" };
  ids["report-mailboxes"] = await t.create("/report-mailboxes", mailbox, "data.id");
  const event = { email: ADA, event: "bought" };
  ids["events"] = await t.create("/v1/track", event, "data.event");
  const bulk = { action: "unsubscribe", ids: ["none"] };
  ids["contacts/bulk"] = await t.create("/contacts/bulk", bulk, "data.jobId");
  BODIES["PUT /contacts/{id}/topics"] = {
    topics: [{ topicId: ids["topics"], subscribed: false }],
  };
  BODIES["POST /workflows/{id}/entries"] = { segmentId: null };
  BODIES["POST /workflows/{id}/executions"] = { contactId: ids["contacts"] };
});
afterAll(() => t.close());

const ADA = "ada@example.com";
const TEMPLATE = { name: "n", subject: "s", body: "b", type: "TRANSACTIONAL" };

/** Valid bodies of the requests that need one. */
const BODIES: Record<string, unknown> = {
  "PATCH /contacts/{id}": { data: { a: 2 } },
  "POST /contacts/import/{id}/run": {},
  "PATCH /templates/{id}": { name: "mine" },
  "PATCH /layouts/{id}": { name: "mine" },
  "PATCH /forms/{id}": { name: "mine" },
  "PATCH /topics/{id}": { name: "mine" },
  "PATCH /emails/{id}": { scheduledAt: "2026-03-09T10:00:00Z" },
  "POST /templates/{id}/test": { to: "me@example.com" },
  "POST /templates/{id}/preview": {},
  "PATCH /segments/{id}": { name: "mine" },
  "POST /segments/{id}/backtest": { days: 1 },
  "POST /segments/{id}/members": { emails: [ADA], createMissing: true },
  "DELETE /segments/{id}/members": { emails: [ADA] },
  "PATCH /webhooks/{id}": { enabled: false },
  "PATCH /report-sources/{id}": { signingKey: "key" },
  "POST /report-sources/{id}/test": { url: "https://mail.example.com/" },
  "PATCH /report-mailboxes/{id}": { name: "mine" },
  "PATCH /workflows/{id}": { name: "mine" },
  "POST /workflows/{id}/simulation": {},
  "POST /workflows/{id}/backtest": { days: 1 },
  "POST /workflows/{id}/steps": { ...step("end", "EXIT"), after: "wait" },
  "PATCH /workflows/{id}/steps/{stepId}": { name: "mine" },
  "POST /workflows/{id}/transitions": { from: "start", to: "wait" },
  "PATCH /workflows/{id}/transitions/{transitionId}": { to: "wait" },
  "PATCH /campaigns/{id}": { name: "mine" },
  "PATCH /relays/{id}": { port: 465 },
  "POST /campaigns/{id}/winner": { variantId: "A" },
  "POST /campaigns/{id}/test": { email: "me@example.com" },
  "POST /campaigns/{id}/preview": {},
  "DELETE /inboxes/{id}/messages": { all: true },
  "POST /inboxes/{id}/messages": {},
  "PATCH /inboxes/{id}/messages/{messageId}": { read: true },
  "POST /inboxes/{id}/messages/{messageId}/release": { to: ["me@example.com"] },
  "POST /inboxes/{id}/rules": { stage: "mail", action: { reply: "550 5.0.0 no" }, times: 1 },
};

/** The code of the error if the object of a path is missing. */
const CODES: Record<string, string> = {
  "contacts/import": "JOB_NOT_FOUND",
  "suppressions/import": "JOB_NOT_FOUND",
  "contacts/bulk": "JOB_NOT_FOUND",
  "template-previews": "PREVIEW_NOT_FOUND",
  "inbound-routes": "INBOUND_ROUTE_NOT_FOUND",
  "received-mails": "RECEIVED_MAIL_NOT_FOUND",
  inboxes: "INBOX_NOT_FOUND",
  "report-mailboxes": "REPORT_MAILBOX_NOT_FOUND",
};

type Operation = { method: string; path: string; kind: string };

/** All operations of an API key. */
async function operations(): Promise<Operation[]> {
  const { body } = await t.call("GET", "/openapi.json", undefined, { key: null });
  return Object.entries<object>(Object(valueAt(body, "paths"))).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => Object(operation).security === undefined)
      .map(([method]) => {
        const kind = /^\/([\w-]+(?:\/[\w-]+)?)\/\{/.exec(path)?.[1] ?? "";
        return { method: method.toUpperCase(), path, kind };
      }),
  );
}

const codeOf = (kind: string) =>
  CODES[kind] ?? `${kind.replace(/s$/, "").replaceAll("-", "_").toUpperCase()}_NOT_FOUND`;

/** The path with the ids of the objects; `own` replaces the first one. */
function fill({ path, kind }: Operation, own = ids[kind] ?? "none"): string {
  if (!path.includes("{")) return path;
  const rest = path.slice(path.indexOf("}") + 1);
  const filled = rest.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "none");
  return `/${kind}/${encodeURIComponent(own)}${filled}`;
}

describe("an object in a path", () => {
  test("is found with the key of its project", async () => {
    const kinds = new Set<string>();
    for (const operation of await operations()) {
      const { method, path, kind } = operation;
      if (method !== "GET" || ids[kind] === undefined || !path.endsWith("{id}")) continue;
      kinds.add(kind);
      expect([path, (await t.call("GET", fill(operation))).status]).toEqual([path, 200]);
    }
    expect(kinds.size).toBeGreaterThan(10);
  });

  test("is not found and not changed if it belongs to another project, or does not exist", async () => {
    const found = await operations();
    expect(found.length).toBeGreaterThan(90);
    const before = t.contents();
    for (const operation of found) {
      const { method, path, kind } = operation;
      if (!path.includes("{")) continue;
      const name = `${method} ${path}`;
      const body = BODIES[name];
      const refusal = { status: 404, code: codeOf(kind) };
      const unknown = ["none", "' OR 1=1 --"];
      for (const id of [ids[kind] ?? "none", ...unknown]) {
        const key = id === ids[kind] ? stranger : t.secretKey;
        const answer = await t.call(method, fill(operation, id), body, { key });
        expect([name, id, answer.status]).toEqual([name, id, 404]);
        expectError(answer, refusal);
      }
    }
    expect(t.contents()).toEqual(before);
  });

  test("is not sent if it is a template of another project", async () => {
    const before = t.contents();
    const mail = { to: "a@b.co", from: "a@stranger.test", template: ids["templates"] };
    const answer = await t.call("POST", "/v1/send", mail, { key: stranger });
    expectError(answer, { status: 404, code: "TEMPLATE_NOT_FOUND" });
    expect(t.contents()).toEqual(before);
  });
});

test("a public key may record events and nothing else", async () => {
  const { publicKey: key } = t;
  const before = t.contents();
  for (const operation of await operations()) {
    const { method, path } = operation;
    if (path === "/v1/track") continue;
    const answer = await t.call(method, fill(operation), BODIES[`${method} ${path}`], { key });
    expect([method, path, answer.status]).toEqual([method, path, 403]);
    expectError(answer, { status: 403, code: "FORBIDDEN" });
  }
  expect(t.contents()).toEqual(before);
});

describe("lists return only objects of their project", () => {
  const lists = [
    "/contacts",
    "/contacts/fields",
    "/templates",
    "/emails",
    "/events",
    "/events/names",
    "/webhooks",
    "/segments",
    "/suppressions",
    "/campaigns",
    "/workflows",
  ];
  for (const path of lists) {
    test(path, async () => {
      const items = path === "/contacts" ? "contacts" : "data.items";
      const total = path === "/contacts" ? "total" : "data.total";
      const own = await t.call("GET", path);
      expect(listAt(own.body, items).length).toBeGreaterThan(0);
      const answer = await t.call("GET", path, undefined, { key: stranger });
      expect([listAt(answer.body, items), answer.at(total)]).toEqual([[], 0]);
    });
  }

  const fillQuery = (path: string) => path.replace("{contact}", ids["contacts"] ?? "");
  const filters = [
    "/contacts?search=ada",
    "/emails?status=QUEUED",
    "/emails?contactId={contact}",
    "/events?contactId={contact}",
    "/events?email=ada@example.com",
    "/events?event=bought",
  ];
  for (const path of filters) {
    test(`${path} finds no object of another project`, async () => {
      const total = path.startsWith("/contacts") ? "total" : "data.total";
      expect(Number((await t.call("GET", fillQuery(path))).at(total))).toBeGreaterThan(0);
      const answer = await t.call("GET", fillQuery(path), undefined, { key: stranger });
      expect([answer.status, answer.at(total)]).toEqual([200, 0]);
    });
  }
});

test("contacts with the same address in two projects are separate", async () => {
  const { secretKey } = await t.makeProject("third");
  const before = (await t.call("GET", `/contacts/${ids["contacts"]}`)).body;
  const mail = {
    to: "ada@example.com",
    from: "a@third.test",
    subject: "{{ a }}|",
    body: "b",
    data: { a: null },
    subscribed: false,
  };
  const answer = await t.call("POST", "/v1/send", mail, { key: secretKey });
  expect(answer.at("emails.0.contact.id")).not.toBe(ids["contacts"]);
  expect((await t.call("GET", `/contacts/${ids["contacts"]}`)).body).toEqual(before);
});
