import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { listAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import { closeAll, webhooksPerTest } from "./setup.ts";

const { nextApp, nextWebhook } = webhooksPerTest();
afterEach(closeAll);

const INPUT = { url: "https://hooks.example.com/in?a=b", events: ["email.*", "bought"] };

/** The contents of the whole database as one string. */
function everything(t: TestApp): string {
  return JSON.stringify(t.contents(), (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
  );
}

describe("webhooks", () => {
  test("are created with a secret that is shown once and stored sealed", async () => {
    const t = await nextApp();
    const created = await t.call("POST", "/webhooks", { ...INPUT, description: "Shop", extra: 1 });
    expect(created.status).toBe(201);
    const webhook = {
      id: created.text("data.id"),
      ...INPUT,
      shape: "MAILSTEAD",
      enabled: true,
      description: "Shop",
      disabledReason: null,
      failingSince: null,
      createdAt: new Date(t.clock.now()).toISOString(),
      updatedAt: new Date(t.clock.now()).toISOString(),
    };
    const secret = created.text("data.secret");
    expect(created.at("data")).toEqual({ ...webhook, secret });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    const read = await t.call("GET", `/webhooks/${webhook.id}`);
    expect([read.status, read.at("data")]).toEqual([200, webhook]);
    expect((await t.call("GET", "/webhooks")).at("data")).toEqual({
      items: [webhook],
      nextCursor: null,
      hasMore: false,
      total: 1,
    });
    const stored = everything(t);
    expect(stored).toContain(webhook.id);
    expect(stored).not.toContain(secret.slice(6));
    expect(stored).not.toContain(Buffer.from(secret.slice(6), "base64").toString("latin1"));
  });

  test("accept an Idempotency-Key, and the stored response does not contain the secret", async () => {
    const t = await nextApp();
    const headers = { "idempotency-key": "k" };
    const first = await t.call("POST", "/webhooks", INPUT, { headers });
    const second = await t.call("POST", "/webhooks", INPUT, { headers });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect([second.status, second.body]).toEqual([201, first.body]);
    const id = first.text("data.id");
    const rotate = () => t.call("POST", `/webhooks/${id}/rotate-secret`, undefined, { headers });
    const rotated = await rotate();
    expect((await rotate()).body).toEqual(rotated.body);
    const stored = everything(t);
    expect(t.countRows("idempotency_keys")).toBe(2);
    expect(stored).not.toContain(first.text("data.secret"));
    expect(stored).not.toContain(rotated.text("data.secret"));
  });

  test("are changed field by field", async () => {
    const t = await nextApp();
    const id = await t.create("/webhooks", { ...INPUT, enabled: false }, "data.id");
    const path = `/webhooks/${id}`;
    t.clock.advance(1000);
    const before = (await t.call("GET", path)).at("data");
    const url = "http://other.example.com/";
    const changed = await t.call("PATCH", path, { url, events: ["*"], description: "d" });
    const updatedAt = new Date(t.clock.now()).toISOString();
    expect(changed.at("data")).toEqual({
      ...Object(before),
      url,
      events: ["*"],
      description: "d",
      updatedAt,
    });
    expect((await t.call("PATCH", path, { enabled: true })).at("data.enabled")).toBe(true);
    expect((await t.call("PATCH", path, { enabled: false })).at("data.enabled")).toBe(false);
    expect((await t.call("PATCH", path, { description: null })).at("data.description")).toBeNull();
    expect((await t.call("PATCH", path, {})).at("data.url")).toBe(url);
  });

  test("are deleted", async () => {
    const t = await nextApp();
    const id = await t.create("/webhooks", INPUT, "data.id");
    expect((await t.call("DELETE", `/webhooks/${id}`)).status).toBe(204);
    expect((await t.call("GET", "/webhooks")).at("data.total")).toBe(0);
    expectError(await t.call("GET", `/webhooks/${id}`), {
      status: 404,
      code: "WEBHOOK_NOT_FOUND",
    });
  });

  test("are at most 50 in a project", async () => {
    const t = await nextApp();
    for (let i = 0; i < 50; i++) await t.create("/webhooks", INPUT, "data.id");
    const before = t.contents();
    const refused = await t.call("POST", "/webhooks", INPUT);
    expectError(refused, { status: 409, code: "CONFLICT" });
    expect(t.contents()).toEqual(before);
    const page = await t.call("GET", "/webhooks?limit=30");
    const rest = await t.call("GET", `/webhooks?limit=30&cursor=${page.text("data.nextCursor")}`);
    expect([listAt(page.body, "data.items").length, page.at("data.total")]).toEqual([30, 50]);
    expect([listAt(rest.body, "data.items").length, rest.at("data.hasMore")]).toEqual([20, false]);
  });
});

describe("invalid input", () => {
  let t: TestApp;
  let id: string;
  beforeAll(async () => {
    // The default configuration refuses private addresses.
    t = await testApp();
    id = await t.create("/webhooks", INPUT, "data.id");
  });
  afterAll(() => t.close());

  type Case = [body: unknown, ...errors: [field: string, code: string][]];
  const cases: Case[] = [
    [{ url: "hooks" }, ["url", "invalid_format"]],
    [{ url: "http://[fe80::1%25eth0]/" }, ["url", "invalid_format"]],
    [{ url: "ftp://a.test/" }, ["url", "invalid_value"]],
    [{ url: "file:///etc/passwd" }, ["url", "invalid_value"]],
    [{ url: "https://a:b@a.test/" }, ["url", "invalid_value"]],
    [{ url: "https://a.test:25/" }, ["url", "invalid_value"]],
    [{ url: "http://localhost/" }, ["url", "invalid_value"]],
    [{ url: "http://127.0.0.1:3000/" }, ["url", "invalid_value"]],
    [{ url: "http://2130706433/" }, ["url", "invalid_value"]],
    [{ url: "http://[::ffff:10.0.0.1]/" }, ["url", "invalid_value"]],
    [{ url: "http://169.254.169.254/latest/" }, ["url", "invalid_value"]],
    [{ events: ["*.sent"] }, ["events.0", "invalid_format"]],
    [{ events: ["a", "a**"] }, ["events.1", "invalid_format"]],
    [{ events: ["a *b "] }, ["events.0", "invalid_format"]],
    [
      { url: "x", events: ["**"], enabled: 1 },
      ["events.0", "invalid_format"],
      ["enabled", "invalid_type"],
      ["url", "invalid_format"],
    ],
  ];

  for (const [body, ...errors] of cases) {
    const refusal = { status: 422, code: "VALIDATION_ERROR", errors };
    test(`refuses ${JSON.stringify(body).slice(0, 70)}: ${errors.join("; ")}`, async () => {
      const before = t.contents();
      expectError(await t.call("PATCH", `/webhooks/${id}`, body), refusal);
      expectError(await t.call("POST", "/webhooks", { ...INPUT, ...Object(body) }), refusal);
      expect(t.contents()).toEqual(before);
    });
  }

  const unknown: [method: string, path: string, code: string][] = [
    ["GET", "/webhooks/none", "WEBHOOK_NOT_FOUND"],
    ["PATCH", "/webhooks/none", "WEBHOOK_NOT_FOUND"],
    ["DELETE", "/webhooks/none", "WEBHOOK_NOT_FOUND"],
    ["POST", "/webhooks/none/rotate-secret", "WEBHOOK_NOT_FOUND"],
    ["POST", "/webhooks/none/test", "WEBHOOK_NOT_FOUND"],
    ["GET", "/webhooks/none/deliveries", "WEBHOOK_NOT_FOUND"],
    ["POST", "/webhooks/none/deliveries/none/retry", "WEBHOOK_NOT_FOUND"],
    ["POST", "/webhooks/{id}/deliveries/none/retry", "DELIVERY_NOT_FOUND"],
  ];
  test.each(unknown)("%s %s responds 404 %s", async (method, path, code) => {
    const body = method === "PATCH" ? {} : undefined;
    const answer = await t.call(method, path.replace("{id}", id), body);
    expectError(answer, { status: 404, code });
  });

  test("refuses a cursor of its own making", async () => {
    const answer = await t.call("GET", `/webhooks/${id}/deliveries?cursor=abc`);
    const errors = [["cursor", "invalid_value"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  });

  test.each(["webhook.disabled", "webhook.test"])(
    "refuses %s as a tracked event",
    async (event) => {
      const answer = await t.call("POST", "/v1/track", { event, email: "ada@example.net" });
      const errors = [["event", "reserved_event"]] as const;
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    },
  );
});

describe("deliveries", () => {
  test("are listed newest first with the response, filtered by status", async () => {
    const { t, id, track, attempted } = await nextWebhook({
      events: ["a", "b"],
      answer: ({ body }) =>
        body.includes('"type":"a"')
          ? { body: "thanks\u0000" }
          : { status: 500, body: "x".repeat(70_000) },
    });
    const eventIds = [await track("a"), await track("b", "bea@example.net")];
    await attempted(2);
    const list = await t.call("GET", `/webhooks/${id}/deliveries`);
    const now = new Date(t.clock.now()).toISOString();
    expect(list.at("data")).toMatchObject({
      items: [
        {
          eventId: eventIds[1],
          eventName: "b",
          status: "PENDING",
          attempts: 1,
          responseCode: 500,
          responseExcerpt: "x".repeat(500),
          error: "The receiver answered 500.",
          lastAttemptAt: now,
          nextAttemptAt: expect.stringMatching(/^2.*Z$/),
        },
        {
          eventId: eventIds[0],
          eventName: "a",
          status: "SUCCEEDED",
          attempts: 1,
          responseCode: 200,
          responseExcerpt: "thanks\ufffd",
          error: null,
          lastAttemptAt: now,
          nextAttemptAt: null,
        },
      ],
      total: 2,
      hasMore: false,
    });
    for (const [status, name] of [
      ["SUCCEEDED", "a"],
      ["PENDING", "b"],
    ] as const) {
      const some = await t.call("GET", `/webhooks/${id}/deliveries?status=${status}&limit=1`);
      expect([some.at("data.total"), some.at("data.items.0.eventName")]).toEqual([1, name]);
    }
    const none = await t.call("GET", `/webhooks/${id}/deliveries?status=FAILED`);
    expect(none.at("data")).toEqual({ items: [], nextCursor: null, hasMore: false, total: 0 });
  });
});
