/** Mail that is sent later: `scheduledAt`, `PATCH /emails/{id}`, `POST /emails/{id}/cancel`. */

import { beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { EMAIL_INVARIANTS } from "../../../src/outbox/invariants.ts";
import { findWrongUsage } from "../../../src/db/usage-recount.ts";
import type { TestApp } from "../../support/app.ts";
import { waitUntil } from "../../support/eventually.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { ACCEPTED, DEFERRED, testTransport } from "../../support/transport.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const MAIL = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };

/** This transport leaves mails open until a test ends them. */
const transport = testTransport();
const projects = projectPerTest({ transport });
const capturing = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
  transport.answer = ACCEPTED;
  transport.handed.length = 0;
});

const inTime = (ms: number) => new Date(t.clock.now() + ms).toISOString();
const send = (fields: object) => t.call("POST", "/v1/send", { ...MAIL, ...fields });
const record = async (id: string) => (await t.call("GET", `/emails/${id}`)).at("data");

async function scheduled(afterMs: number, fields: object = {}): Promise<string> {
  return (await send({ scheduledAt: inTime(afterMs), ...fields })).text("emails.0.email");
}

const findings = () => [
  ...EMAIL_INVARIANTS.flatMap(({ violations }) => t.db.sqlite.query(violations).all()),
  ...findWrongUsage(t.db.sqlite),
];

describe("a scheduled mail", () => {
  test("waits for its time and then leaves", async () => {
    const at = inTime(30 * MINUTE);
    const id = await scheduled(30 * MINUTE);
    await t.deliver();
    expect(await record(id)).toMatchObject({
      status: "QUEUED",
      scheduledAt: at,
      nextAttemptAt: at,
      wait: { cause: "SCHEDULED", name: null, reason: null, until: at },
    });
    t.clock.advance(30 * MINUTE);
    await t.deliver();
    expect(await record(id)).toMatchObject({ status: "SENT", scheduledAt: at, wait: null });
  });

  test("has the date for which it was scheduled", async () => {
    t = await capturing.next();
    const at = inTime(30 * MINUTE);
    const id = await scheduled(30 * MINUTE);
    t.clock.advance(31 * MINUTE);
    await t.deliver();
    const { body } = await t.call("GET", `/emails/${id}/raw`);
    expect((await simpleParser(String(body))).date?.toISOString()).toBe(at);
  });

  test("is retried for as long as other mail from its time on", async () => {
    transport.answer = DEFERRED;
    const id = await scheduled(29 * DAY);
    t.clock.advance(29 * DAY);
    await t.deliver();
    expect(await record(id)).toMatchObject({ status: "QUEUED", wait: { cause: "RETRY" } });
  });

  test("with copies has a record for each, which are changed one by one", async () => {
    const answer = await send({ scheduledAt: inTime(MINUTE), cc: "cy@example.com" });
    const [first, copy] = ["emails.0.email", "emails.1.email"].map((path) => answer.text(path));
    expect((await t.call("POST", `/emails/${copy}/cancel`)).status).toBe(200);
    t.clock.advance(MINUTE);
    await t.deliver();
    expect(transport.handed.map(({ object }) => object.envelope.to)).toEqual(["ada@example.com"]);
    expect(await record(first ?? "")).toMatchObject({ status: "SENT" });
  });

  test("to a suppressed address is suppressed at once", async () => {
    await t.call("POST", "/suppressions", { email: MAIL.to });
    expect(await record(await scheduled(MINUTE))).toMatchObject({
      status: "SUPPRESSED",
      nextAttemptAt: null,
    });
  });

  test.each<[string, (now: number) => string, string]>([
    ["is now", (now) => new Date(now).toISOString(), "too_small"],
    ["has passed", (now) => new Date(now - DAY).toISOString(), "too_small"],
    ["is more than 30 days away", (now) => new Date(now + 30 * DAY + 1).toISOString(), "too_big"],
    ["has no offset", () => "2026-03-09T10:00:00", "invalid_format"],
    ["is in words", () => "in 1 hour", "invalid_format"],
    ["is no day", () => "2026-02-30T10:00:00Z", "invalid_format"],
  ])("is refused if its time %s", async (_, timeAt, code) => {
    const id = await scheduled(MINUTE);
    const before = t.contents();
    const scheduledAt = timeAt(t.clock.now());
    const refusal = {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["scheduledAt", code] as const],
    };
    expectError(await send({ scheduledAt }), refusal);
    expectError(await t.call("PATCH", `/emails/${id}`, { scheduledAt }), refusal);
    expect(t.contents()).toEqual(before);
  });
});

describe("another time", () => {
  test("moves the mail earlier and later", async () => {
    const id = await scheduled(60 * MINUTE);
    await t.deliver();
    const later = await t.call("PATCH", `/emails/${id}`, { scheduledAt: inTime(2 * DAY) });
    expect([later.status, later.at("data.scheduledAt")]).toEqual([200, inTime(2 * DAY)]);
    t.clock.advance(60 * MINUTE);
    await t.deliver();
    expect(await record(id)).toMatchObject({ status: "QUEUED" });
    await t.call("PATCH", `/emails/${id}`, { scheduledAt: inTime(MINUTE) });
    t.clock.advance(MINUTE);
    await waitUntil(() => transport.handed.length === 1);
    await t.deliver();
    expect(await record(id)).toMatchObject({ status: "SENT" });
    expect(findings()).toEqual([]);
  });

  test("is refused for mail that was not scheduled, has left, is unknown or of another project", async () => {
    const plain = (await send({})).text("emails.0.email");
    const body = { scheduledAt: inTime(DAY) };
    expect((await t.call("PATCH", `/emails/${plain}`, body)).at("error.code")).toBe("CONFLICT");
    await t.deliver();
    const left = await scheduled(MINUTE);
    t.clock.advance(MINUTE);
    await t.deliver();
    expect((await t.call("PATCH", `/emails/${left}`, body)).status).toBe(409);
    expect((await t.call("PATCH", `/emails/${left.replace(/.$/, "x")}`, body)).status).toBe(404);
    transport.answer = DEFERRED;
    const retried = await scheduled(MINUTE);
    t.clock.advance(MINUTE);
    await t.deliver();
    const refusal = await t.call("PATCH", `/emails/${retried}`, body);
    expect([refusal.status, refusal.text("error.message")]).toEqual([
      409,
      "The mail left at its time, and waits for another attempt.",
    ]);
    const foreign = await scheduled(MINUTE);
    t = await projects.next();
    expect((await t.call("PATCH", `/emails/${foreign}`, body)).status).toBe(404);
    expect((await t.call("POST", `/emails/${foreign}/cancel`)).status).toBe(404);
  });
});

describe("a mail that is cancelled", () => {
  test("is not sent, and its event says so", async () => {
    const id = await scheduled(MINUTE);
    const answer = await t.call("POST", `/emails/${id}/cancel`);
    expect([answer.status, answer.at("data")]).toMatchObject([
      200,
      { status: "CANCELLED", nextAttemptAt: null, lastError: "It was cancelled by a request." },
    ]);
    t.clock.advance(DAY);
    await t.deliver();
    expect(transport.handed).toEqual([]);
    expect(t.eventNames()).toContain("email.cancelled");
    expect((await t.call("POST", `/emails/${id}/cancel`)).status).toBe(409);
    expect(findings()).toEqual([]);
  });

  test("may also be one that waits for another attempt", async () => {
    transport.answer = DEFERRED;
    const id = (await send({})).text("emails.0.email");
    await t.deliver();
    expect((await t.call("POST", `/emails/${id}/cancel`)).at("data.status")).toBe("CANCELLED");
  });

  test("answers the same if the request is repeated with its key", async () => {
    const id = await scheduled(MINUTE);
    const headers = { "Idempotency-Key": "cancel-1" };
    const first = await t.call("POST", `/emails/${id}/cancel`, undefined, { headers });
    const second = await t.call("POST", `/emails/${id}/cancel`, undefined, { headers });
    expect([second.status, second.body]).toEqual([200, first.body]);
  });

  test("is not one that is under way: it is refused, and the mail is sent", async () => {
    transport.answer = null;
    const id = await scheduled(MINUTE);
    await t.start();
    t.clock.advance(MINUTE);
    await waitUntil(() => transport.handed.length === 1);
    expect((await t.call("POST", `/emails/${id}/cancel`)).at("error.code")).toBe("CONFLICT");
    const body = { scheduledAt: inTime(DAY) };
    expect((await t.call("PATCH", `/emails/${id}`, body)).status).toBe(409);
    transport.handed[0]?.end(ACCEPTED);
    await t.deliver();
    expect(await record(id)).toMatchObject({ status: "SENT" });
  });

  test("is never both cancelled and sent, whoever comes first", async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, () => scheduled(MINUTE)));
    await t.start();
    t.clock.advance(MINUTE);
    const answers = await Promise.all(ids.map((id) => t.call("POST", `/emails/${id}/cancel`)));
    await t.deliver();
    const cancelled = answers.filter(({ status }) => status === 200).length;
    expect(transport.handed).toHaveLength(ids.length - cancelled);
    const states = await Promise.all(ids.map(record));
    expect(states.filter((each) => Object(each).status === "CANCELLED")).toHaveLength(cancelled);
    expect(findings()).toEqual([]);
  });
});

test("a clock that is set does not move the time of a scheduled mail", async () => {
  const { prepareBulkChanges } = await import("../../../src/outbox/lane/queue-rows.ts");
  const at = inTime(60 * MINUTE);
  const id = await scheduled(60 * MINUTE);
  await t.app.writer.write(() =>
    prepareBulkChanges(t.db).shift({ byMs: 10 * DAY, after: t.clock.now() }),
  );
  expect(await record(id)).toMatchObject({ scheduledAt: at, nextAttemptAt: at });
});
