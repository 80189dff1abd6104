import { afterEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../src/lib/clock.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import { VERSION } from "../../../src/lib/version.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { waitUntil, settleEventLoop } from "../../support/eventually.ts";
import { valueAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";
import {
  receivedTypes,
  closeAll,
  DAY,
  webhookApp,
  HOUR,
  MINUTE,
  startReceiver,
  SECOND,
  startWebhook,
  verifiedBody,
  observe,
  webhooksPerTest,
} from "./setup.ts";

const { nextApp, nextWebhook } = webhooksPerTest();
afterEach(closeAll);

describe("an event", () => {
  test("is sent with the members of GET /events, signed", async () => {
    const { t, server, id, secret, track, attempted, rows } = await startWebhook({
      events: ["bought"],
    });
    const eventId = await track("bought", "ada@example.net", { price: 5, of: { x: ["ü"] } });
    await attempted(1);
    const [request] = server.requests;
    if (request === undefined) throw new Error("nothing receivedTypes");
    const event = (await t.call("GET", "/events?event=bought")).at("data.items.0");
    expect(valueAt(event, "id")).toBe(eventId);
    expect(verifiedBody(secret, request)).toEqual({
      type: "bought",
      timestamp: valueAt(event, "createdAt"),
      data: event,
    });
    expect(request).toMatchObject({
      method: "POST",
      path: "/hook",
      headers: {
        "content-type": "application/json",
        "user-agent": `Mailstead/${VERSION}`,
        "webhook-id": rows()[0]?.id,
        "webhook-timestamp": String(Math.floor(t.clock.now() / 1000)),
      },
    });
    expect((await t.call("GET", `/webhooks/${id}/deliveries`)).at("data.total")).toBe(1);
  });

  test("that the service records is sent with the id of its mail", async () => {
    const { t, server, attempted } = await nextWebhook({ events: ["email.*"] });
    const mail = { to: "ada@example.net", from: "a@acme.test", subject: "s", body: "b" };
    const emailId = await t.create("/v1/send", mail, "data.emails.0.email");
    await t.deliver();
    await attempted(1);
    expect(receivedTypes(server)).toEqual(["email.sent"]);
    expect(valueAt(JSON.parse(server.requests[0]?.body ?? ""), "data")).toMatchObject({
      emailId,
      contactEmail: "ada@example.net",
    });
  });

  test("is sent only to enabled webhooks of its project with a matching pattern", async () => {
    const { t, server, track, attempted } = await nextWebhook({ events: ["order.*"] });
    const others = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
    const [named, disabled, strangers] = others;
    if (named === undefined || disabled === undefined || strangers === undefined) throw new Error();
    await t.call("POST", "/webhooks", { url: named.origin, events: ["left", "order.paid"] });
    await t.call("POST", "/webhooks", { url: disabled.origin, events: ["*"], enabled: false });
    const { secretKey: key } = await t.makeProject("stranger");
    await t.call("POST", "/webhooks", { url: strangers.origin, events: ["*"] }, { key });
    for (const event of ["order.made", "order.paid", "left", "ordered"]) await track(event);
    await attempted(4);
    await settleEventLoop();
    expect(receivedTypes(server)).toEqual(["order.made", "order.paid"]);
    expect(receivedTypes(named).toSorted()).toEqual(["left", "order.paid"]);
    expect([disabled, strangers].flatMap(receivedTypes)).toEqual([]);
  });

  test("is not sent if it was recorded before the webhook was created or enabled", async () => {
    const t = await nextApp();
    const { track, attempted } = observe(t);
    await track("before");
    await t.deliver();
    await track("still before");
    const server = await startReceiver();
    const path = `/webhooks/${await t.create("/webhooks", { url: server.origin, events: ["*"] }, "data.id")}`;
    await track("a");
    await attempted(1);
    await t.call("PATCH", path, { enabled: false });
    await track("meanwhile");
    await t.call("PATCH", path, { enabled: true });
    await track("b");
    await attempted(2);
    await settleEventLoop();
    expect(receivedTypes(server)).toEqual(["a", "b"]);
  });

  test("is not sent if its change was rolled back", async () => {
    const { t, server, track, attempted } = await nextWebhook();
    await t.app.writer
      .write(() => {
        t.db.sqlite.run(
          "INSERT INTO events (id, project_seq, name, created_at) VALUES ('x', 1, 'x', 0)",
        );
        throw new Error("refused");
      })
      .catch(() => {});
    await track("a", "bea@example.net");
    await attempted(2);
    expect(receivedTypes(server).toSorted()).toEqual(["a", "contact.subscribed"]);
  });

  test("of a deleted contact is retried without personal data", async () => {
    const { t, server, track, attempted, advanceToNextTry } = await nextWebhook({
      events: ["a"],
      answer: (_, count) => ({ status: count === 1 ? 500 : 200 }),
    });
    await track("a", "ada@example.net", { secret: 1 });
    await attempted(1);
    const contact = (await t.call("GET", "/contacts")).text("contacts.0.id");
    expect((await t.call("DELETE", `/contacts/${contact}`)).status).toBe(204);
    await advanceToNextTry();
    const data = valueAt(JSON.parse(server.requests[1]?.body ?? ""), "data");
    expect(data).toMatchObject({ name: "a", data: null, contactId: null, contactEmail: null });
  });
});

describe("a delivery that fails", () => {
  test("is tried eight times in about a day, with the same id and new signatures", async () => {
    const { t, server, secret, track, attempted, advanceToNextTry, rows } = await startWebhook({
      events: ["a"],
      answer: () => ({ status: 503 }),
    });
    const startedAt = t.clock.now();
    await track("a");
    await attempted(1);
    for (let tries = 2; tries <= 8; tries++) {
      expect(rows()).toMatchObject([{ status: "PENDING", attempts: tries - 1 }]);
      await advanceToNextTry();
    }
    expect(rows()).toMatchObject([
      { status: "FAILED", attempts: 8, nextAt: null, error: "The receiver answered 503." },
    ]);
    const hours = (t.clock.now() - startedAt) / HOUR;
    expect(hours).toBeGreaterThan(20);
    expect(hours).toBeLessThan(27);
    const heads = server.requests.map(({ headers }) => headers);
    expect(new Set(heads.map((head) => head["webhook-id"])).size).toBe(1);
    expect(new Set(heads.map((head) => head["webhook-timestamp"])).size).toBe(8);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
    expect(() => server.requests.slice(1).map((request) => verifiedBody(secret, request))).toThrow(
      "too new",
    );
    t.clock.advance(3 * DAY);
    await settleEventLoop();
    expect(server.requests.length).toBe(8);
  });

  test("waits for the delay in Retry-After", async () => {
    const { t, track, attempted, rows } = await nextWebhook({
      events: ["a"],
      answer: () => ({ status: 429, headers: { "retry-after": "3600" } }),
    });
    await track("a");
    await attempted(1);
    expect(rows()[0]?.nextAt).toBe(t.clock.now() + HOUR);
  });

  test.each([301, 304, 400, 404, 500])("is pending after a response %i", async (status) => {
    const { track, attempted, rows } = await nextWebhook({
      events: ["a"],
      answer: () => ({ status }),
    });
    await track("a");
    await attempted(1);
    expect(rows()).toMatchObject([{ status: "PENDING", responseCode: status }]);
  });

  test.each([200, 201, 202, 204, 299])("has succeeded after a response %i", async (status) => {
    const { track, attempted, rows } = await nextWebhook({
      events: ["a"],
      answer: () => ({ status }),
    });
    await track("a");
    await attempted(1);
    expect(rows()).toMatchObject([{ status: "SUCCEEDED", error: null }]);
  });

  test("is pending if no server listens", async () => {
    const { server, track, attempted, rows } = await nextWebhook({ events: ["a"] });
    await server.close();
    await track("a");
    await attempted(1);
    expect(rows()).toMatchObject([
      { status: "PENDING", responseCode: null, error: expect.stringContaining("no connection") },
    ]);
  });

  test("does not reach a private address by a host name", async () => {
    const dnsServer = await startDnsServer({ records: { "hook.test": { A: ["127.0.0.1"] } } });
    const inside = await startReceiver();
    const dns = createDns({ servers: [dnsServer.server], clock: systemClock });
    const t = await webhookApp({ config: { allowPrivateAddresses: false }, dns });
    await t.deliver();
    const { track, attempted, rows } = observe(t);
    const url = `http://hook.test:${inside.port}/`;
    const id = await t.create("/webhooks", { url, events: ["a"] }, "data.id");
    await track("a");
    await attempted(1);
    const error = "hook.test has no address that may be asked";
    expect(rows()).toMatchObject([{ status: "PENDING", responseCode: null, error }]);
    const tested = await t.call("POST", `/webhooks/${id}/test`);
    expect(tested.at("data")).toMatchObject({ delivered: false, responseCode: null, error });
    expect(inside.requests).toEqual([]);
    await dnsServer.close();
  });
});

describe("events of one contact", () => {
  test("arrive in order, because a later one waits for an earlier one", async () => {
    const { server, track, attempted, advanceToNextTry, rows } = await nextWebhook({
      events: ["a", "b", "c"],
      answer: (_, count) => ({ status: count <= 2 ? 500 : 200 }),
    });
    await track("a");
    await attempted(1);
    await track("b");
    await track("c");
    await settleEventLoop();
    expect(rows().map(({ nextAt }) => nextAt !== null)).toEqual([true, false, false]);
    await advanceToNextTry();
    expect(receivedTypes(server)).toEqual(["a", "a"]);
    await advanceToNextTry();
    await attempted(5);
    expect(receivedTypes(server)).toEqual(["a", "a", "a", "b", "c"]);
    expect(rows().every(({ status }) => status === "SUCCEEDED")).toBe(true);
  });

  test("do not wait for more than three tries of an earlier one", async () => {
    const { t, server, track, attempted, advanceToNextTry } = await nextWebhook({
      events: ["a", "b", "c"],
      answer: ({ body }) => ({ status: body.includes('"type":"a"') ? 500 : 200 }),
    });
    const startedAt = t.clock.now();
    for (const event of ["a", "b", "c"]) await track(event);
    await attempted(1);
    await advanceToNextTry();
    expect(receivedTypes(server)).toEqual(["a", "a"]);
    await advanceToNextTry();
    await attempted(5);
    expect(receivedTypes(server)).toEqual(["a", "a", "a", "b", "c"]);
    expect(t.clock.now() - startedAt).toBeLessThan(2 * MINUTE);
    await advanceToNextTry();
    expect(receivedTypes(server).at(-1)).toBe("a");
  });

  test("do not wait for other contacts or other webhooks", async () => {
    const { t, track, attempted, rows } = await nextWebhook({
      events: ["a", "b"],
      answer: () => ({ status: 500 }),
    });
    const fine = await startReceiver();
    await t.call("POST", "/webhooks", { url: fine.origin, events: ["a", "b"] });
    await track("a", "ada@example.net");
    await track("b", "ada@example.net");
    await track("b", "bea@example.net");
    await attempted(5);
    expect(receivedTypes(fine).length).toBe(3);
    expect(rows().filter(({ attempts }) => attempts === 0).length).toBe(1);
  });

  test("continue in order after one has failed for good", async () => {
    let answer = () => {};
    const { t, id, server, track, attempted, rows } = await nextWebhook({
      events: ["a", "b", "c"],
      answer: () => ({ write: (response) => (answer = () => response.writeHead(410).end()) }),
    });
    for (const event of ["a", "b", "c"]) await track(event);
    await waitUntil(() => server.requests.length === 1 && rows().length === 3);
    answer();
    await attempted(1);
    server.answer = () => ({});
    await t.call("PATCH", `/webhooks/${id}`, { enabled: true });
    await attempted(3);
    expect(receivedTypes(server)).toEqual(["a", "b", "c"]);
  });
});

describe("a webhook that fails", () => {
  test("does not delay other webhooks while its calls hang", async () => {
    const { t, server, track } = await nextWebhook({ answer: () => ({ write: () => {} }) });
    const fine = await startReceiver();
    await t.call("POST", "/webhooks", { url: fine.origin, events: ["e"] });
    for (let i = 0; i < 150; i++) await track("e", `person-${i}@example.net`);
    await waitUntil(() => fine.requests.length === 150);
    // The initial concurrency limit of a webhook.
    expect(server.requests.length).toBe(8);
    await server.close();
  });

  test("is disabled after five days, and other webhooks receive webhook.disabled", async () => {
    const { t, id, server, track, attempted, rows } = await nextWebhook({
      events: ["a"],
      answer: () => ({ status: 500 }),
    });
    const watcher = await startReceiver();
    await t.call("POST", "/webhooks", { url: watcher.origin, events: ["webhook.*"] });
    await track("a");
    await attempted(1);
    const since = new Date(t.clock.now()).toISOString();
    const path = `/webhooks/${id}`;
    expect((await t.call("GET", path)).at("data.failingSince")).toBe(since);
    t.clock.advance(5 * DAY - MINUTE);
    await attempted(2);
    await track("a", "bea@example.net");
    await attempted(3);
    expect((await t.call("GET", path)).at("data.enabled")).toBe(true);
    t.clock.advance(MINUTE);
    await waitUntil(() => watcher.requests.length === 1);
    expect((await t.call("GET", path)).at("data")).toMatchObject({
      enabled: false,
      disabledReason: "FAILING",
      failingSince: since,
    });
    expect(valueAt(JSON.parse(watcher.requests[0]?.body ?? ""), "data")).toMatchObject({
      name: "webhook.disabled",
      contactId: null,
      data: { webhookId: id, url: `${server.origin}/hook`, reason: "FAILING" },
    });
    expect(t.eventNames().filter((name) => name === "webhook.disabled").length).toBe(1);

    // A disabled webhook sends nothing; after it is enabled, its pending deliveries are sent.
    const before = server.requests.length;
    await track("a", "cleo@example.net");
    t.clock.advance(DAY);
    await settleEventLoop();
    expect(server.requests.length).toBe(before);
    server.answer = () => ({});
    const enabled = await t.call("PATCH", path, { enabled: true });
    expect(enabled.at("data")).toMatchObject({ disabledReason: null, failingSince: null });
    await waitUntil(() => rows().every(({ status }) => status === "SUCCEEDED"));
    expect(rows().filter(({ event }) => event === "a").length).toBe(2);
  });

  test("is not disabled while some deliveries succeed", async () => {
    const { t, id, track, settled, rows } = await nextWebhook({
      events: ["a", "b"],
      answer: ({ body }) => ({ status: body.includes('"type":"a"') ? 500 : 200 }),
    });
    for (let halfDay = 0; halfDay < 12; halfDay++) {
      await track("a", `a${halfDay}@example.net`);
      await track("b", `b${halfDay}@example.net`);
      await settled(2 * (halfDay + 1));
      t.clock.advance(12 * HOUR);
      await settled(2 * (halfDay + 1));
    }
    expect(rows().filter(({ status }) => status === "SUCCEEDED").length).toBe(12);
    expect((await t.call("GET", `/webhooks/${id}`)).at("data.enabled")).toBe(true);
  });

  test("is disabled at once by a 410", async () => {
    const { t, id, server, track, attempted, rows } = await nextWebhook({
      events: ["a"],
      answer: () => ({ status: 410 }),
    });
    await track("a");
    await attempted(1);
    expect(rows()).toMatchObject([{ status: "FAILED", responseCode: 410 }]);
    expect((await t.call("GET", `/webhooks/${id}`)).at("data")).toMatchObject({
      enabled: false,
      disabledReason: "GONE",
    });
    await track("a");
    await settleEventLoop();
    expect(server.requests.length).toBe(1);
    const retry = await t.call("POST", `/webhooks/${id}/deliveries/${rows()[0]?.id}/retry`);
    expectError(retry, { status: 409, code: "INVALID_STATE" });
  });

  test("receives nothing after it is deleted", async () => {
    const { t, id, server, track, attempted, rows } = await nextWebhook({
      events: ["a"],
      answer: () => ({ status: 500 }),
    });
    await track("a");
    await attempted(1);
    await t.call("DELETE", `/webhooks/${id}`);
    await track("a");
    t.clock.advance(DAY);
    await settleEventLoop();
    expect([server.requests.length, rows().length]).toEqual([1, 1]);
  });
});

describe("requests of the API", () => {
  test("retry a delivery at once, whether it is pending, failed or succeeded", async () => {
    const { t, id, server, track, attempted, advanceToNextTry, rows } = await nextWebhook({
      events: ["a"],
      answer: () => ({ status: 500 }),
    });
    await track("a");
    await attempted(1);
    const path = `/webhooks/${id}/deliveries/${rows()[0]?.id}/retry`;
    const again = await t.call("POST", path);
    expect(again.at("data")).toMatchObject({ status: "PENDING", attempts: 1, responseCode: 500 });
    await attempted(2);
    for (let tries = 3; tries <= 8; tries++) await advanceToNextTry();
    expect(rows()[0]?.status).toBe("FAILED");
    await t.call("POST", path);
    await attempted(9);
    expect(rows()).toMatchObject([{ status: "FAILED", attempts: 9, nextAt: null }]);
    server.answer = () => ({});
    await t.call("POST", path);
    await attempted(10);
    expect(rows()[0]?.status).toBe("SUCCEEDED");
    await t.call("POST", path);
    await attempted(11);
    expect(rows()[0]?.status).toBe("SUCCEEDED");
    expect(new Set(server.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("do not retry a delivery that waits for an earlier one of its contact", async () => {
    const { t, id, track, attempted, rows } = await nextWebhook({
      events: ["a", "b"],
      answer: () => ({ status: 500 }),
    });
    await track("a");
    await track("b");
    await attempted(1);
    const answer = await t.call("POST", `/webhooks/${id}/deliveries/${rows()[1]?.id}/retry`);
    expect(answer.at("data")).toMatchObject({ status: "PENDING", nextAttemptAt: null });
    await settleEventLoop();
    expect(rows()[1]?.attempts).toBe(0);
  });

  test("do not find a delivery of another webhook", async () => {
    const { t, track, attempted, rows } = await nextWebhook({ events: ["a"] });
    await track("a");
    await attempted(1);
    const input = { url: "https://a.test/", events: ["b"] };
    const other = await t.create("/webhooks", input, "data.id");
    const answer = await t.call("POST", `/webhooks/${other}/deliveries/${rows()[0]?.id}/retry`);
    expectError(answer, { status: 404, code: "DELIVERY_NOT_FOUND" });
  });

  test("send a test message and return its result", async () => {
    const { t, id, server, secret } = await startWebhook({
      events: ["a"],
      answer: () => ({ status: 202, body: "got it" }),
    });
    await t.call("PATCH", `/webhooks/${id}`, { enabled: false });
    const tested = await t.call("POST", `/webhooks/${id}/test`);
    expect(tested.at("data")).toEqual({
      delivered: true,
      webhookId: String(server.requests[0]?.headers["webhook-id"]),
      responseCode: 202,
      responseExcerpt: "got it",
      error: null,
      durationMs: expect.any(Number),
    });
    const [request] = server.requests;
    if (request === undefined) throw new Error("nothing receivedTypes");
    expect(verifiedBody(secret, request)).toMatchObject({
      type: "webhook.test",
      data: { name: "webhook.test", contactId: null },
    });
    server.answer = () => ({ status: 500 });
    expect((await t.call("POST", `/webhooks/${id}/test`)).at("data")).toMatchObject({
      delivered: false,
      responseCode: 500,
      error: "The receiver answered 500.",
    });
    expect(t.countRows("webhook_deliveries")).toBe(0);
    expect(t.eventNames()).toEqual([]);
  });

  test("rotate a secret, and the old one also signs for a day", async () => {
    const { t, id, server, secret, track, attempted } = await startWebhook({ events: ["a"] });
    const rotated = await t.call("POST", `/webhooks/${id}/rotate-secret`);
    const next = rotated.text("data.secret");
    expect([rotated.status, next === secret]).toEqual([200, false]);
    await track("a");
    await attempted(1);
    const [request] = server.requests;
    if (request === undefined) throw new Error("nothing receivedTypes");
    for (const each of [secret, next]) {
      expect(verifiedBody(each, request)).toMatchObject({ type: "a" });
    }
    t.clock.advance(DAY - SECOND);
    await track("a");
    await attempted(2);
    t.clock.advance(SECOND);
    await track("a");
    await attempted(3);
    const signatures = server.requests.map(
      ({ headers }) => String(headers["webhook-signature"]).split(" ").length,
    );
    expect(signatures).toEqual([2, 2, 1]);
  });
});
