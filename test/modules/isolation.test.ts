/** A key gives access to its own project only: every route is called for objects of another one. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";
import { listAt } from "../support/json.ts";
import { expectError } from "../support/refusal.ts";

let t: TestApp;
let stranger: string;
const ids: Record<"contact" | "template" | "email" | "webhook" | "delivery", string> = {
  contact: "",
  template: "",
  email: "",
  webhook: "",
  delivery: "",
};
beforeAll(async () => {
  t = await testApp();
  stranger = (await t.makeProject("stranger")).secretKey;
  const template = { name: "n", subject: "s", body: "b", type: "TRANSACTIONAL" };
  ids.template = await t.create("/templates", template, "data.id");
  ids.contact = await t.create("/contacts", { email: "ada@example.com", data: { a: 1 } }, "id");
  const mail = { to: "ada@example.com", from: "a@acme.test", subject: "s", body: "b" };
  ids.email = await t.create("/v1/send", mail, "data.emails.0.email");
  // The delivery fails, because no host can be resolved here, and its record remains.
  const webhook = { url: "https://hooks.example.com/", events: ["bought"] };
  ids.webhook = await t.create("/webhooks", webhook, "data.id");
  await t.call("POST", "/v1/track", { email: "ada@example.com", event: "bought" });
  await t.deliver();
  const findDelivery = t.db.sqlite.query<{ id: string }, []>(
    "SELECT id FROM webhook_deliveries WHERE attempts = 1",
  );
  await waitUntil(() => findDelivery.get() !== null);
  ids.delivery = findDelivery.get()?.id ?? "";
  await t.app.stop(); // Recurring work would change rows.
});
afterAll(() => t.close());

type Case = [method: string, path: string, code: string, body?: unknown];
const cases: Case[] = [
  ["GET", "/contacts/{contact}", "CONTACT_NOT_FOUND"],
  ["PATCH", "/contacts/{contact}", "CONTACT_NOT_FOUND", { data: { a: 2 } }],
  ["DELETE", "/contacts/{contact}", "CONTACT_NOT_FOUND"],
  ["GET", "/templates/{template}", "TEMPLATE_NOT_FOUND"],
  ["PATCH", "/templates/{template}", "TEMPLATE_NOT_FOUND", { name: "mine" }],
  ["DELETE", "/templates/{template}", "TEMPLATE_NOT_FOUND"],
  ["GET", "/emails/{email}", "EMAIL_NOT_FOUND"],
  ["GET", "/emails/{email}/raw", "EMAIL_NOT_FOUND"],
  ["GET", "/webhooks/{webhook}", "WEBHOOK_NOT_FOUND"],
  ["PATCH", "/webhooks/{webhook}", "WEBHOOK_NOT_FOUND", { enabled: false }],
  ["DELETE", "/webhooks/{webhook}", "WEBHOOK_NOT_FOUND"],
  ["GET", "/webhooks/{webhook}/deliveries", "WEBHOOK_NOT_FOUND"],
  ["GET", "/webhooks/{webhook}/deliveries/{delivery}", "WEBHOOK_NOT_FOUND"],
  ["POST", "/webhooks/{webhook}/deliveries/retry", "WEBHOOK_NOT_FOUND"],
  ["POST", "/webhooks/{webhook}/rotate-secret", "WEBHOOK_NOT_FOUND"],
  ["POST", "/webhooks/{webhook}/test", "WEBHOOK_NOT_FOUND"],
  ["POST", "/webhooks/{webhook}/deliveries/{delivery}/retry", "WEBHOOK_NOT_FOUND"],
];

const fill = (path: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: keyof typeof ids) => ids[name]);

describe("an object of another project is not found and not changed", () => {
  for (const [method, path, code, body] of cases) {
    test(`${method} ${path}`, async () => {
      // The object exists for its owner.
      const readable = fill(path).replace(/\/(?:rotate-secret|test|[\w-]+\/retry)$/, "");
      expect((await t.call("GET", readable)).status).toBe(200);
      const before = t.contents();
      const answer = await t.call(method, fill(path), body, { key: stranger });
      expectError(answer, { status: 404, code });
      expect(t.contents()).toEqual(before);
    });
  }

  test("every route of these resources with an id is in this table", () => {
    const registered = t.app.http.routes
      .filter(({ path }) => /^\/((contacts|templates|emails)\/:id(\/raw)?$|webhooks\/:)/.test(path))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, "")}`);
    const tested = cases.map(([method, path]) => `${method} ${path.replaceAll(/\{\w+\}/g, "")}`);
    expect(registered.sort()).toEqual(tested.sort());
  });

  test("a template of another project cannot be sent", async () => {
    const before = t.contents();
    const mail = { to: "a@b.co", from: "a@stranger.test", template: ids.template };
    const answer = await t.call("POST", "/v1/send", mail, { key: stranger });
    expectError(answer, { status: 404, code: "TEMPLATE_NOT_FOUND" });
    expect(t.contents()).toEqual(before);
  });
});

describe("lists return only objects of their project", () => {
  const lists = ["/contacts", "/templates", "/emails", "/events", "/events/names", "/webhooks"];
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

  const filters = [
    "/contacts?search=ada",
    "/emails?status=SENT",
    "/emails?contactId={contact}",
    "/events?contactId={contact}",
    "/events?email=ada@example.com",
    "/events?event=bought",
  ];
  for (const path of filters) {
    test(`${path} finds no object of another project`, async () => {
      const total = path.startsWith("/contacts") ? "total" : "data.total";
      expect(Number((await t.call("GET", fill(path))).at(total))).toBeGreaterThan(0);
      const answer = await t.call("GET", fill(path), undefined, { key: stranger });
      expect([answer.status, answer.at(total)]).toEqual([200, 0]);
    });
  }
});

test("contacts with the same address in two projects are separate", async () => {
  const { secretKey } = await t.makeProject("third");
  const before = (await t.call("GET", `/contacts/${ids.contact}`)).body;
  const mail = {
    to: "ada@example.com",
    from: "a@third.test",
    subject: "{{ a }}|",
    body: "b",
    data: { a: null },
    subscribed: false,
  };
  const answer = await t.call("POST", "/v1/send", mail, { key: secretKey });
  expect(answer.at("emails.0.contact.id")).not.toBe(ids.contact);
  expect((await t.call("GET", `/contacts/${ids.contact}`)).body).toEqual(before);
});
