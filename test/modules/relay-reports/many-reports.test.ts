/** Requests with thousands of reports, and reports that arrive before the outcome of the attempt. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { INVARIANTS } from "../../../src/cli/check/invariants.ts";
import { bodiesOf } from "../../../src/http/body.ts";
import { waitUntil } from "../../support/eventually.ts";
import { ACCEPTED, DEFERRED } from "../../support/transport.ts";
import { PAYLOADS } from "../../protocols/relay-reports/payloads.ts";
import { reportApp, type ReportApp, signed } from "./setup.ts";

let t: ReportApp;
let path = "";
beforeAll(async () => {
  t = await reportApp();
  path = (await t.source("SENDGRID")).path;
});
afterAll(async () => {
  const violated = INVARIANTS.filter(
    ({ violations }) => t.db.sqlite.query(violations).get() !== null,
  );
  await t.close();
  expect(violated.map(({ name }) => name)).toEqual([]);
});

const post = (events: readonly unknown[]) =>
  t.post(path, signed("SENDGRID", events, t.clock.now()));

test("10,000 reports of one request are counted once, while other requests are answered", async () => {
  const mails: { id: string; to: string }[] = [];
  for (let i = 0; i < 10; i++) {
    const to = `many${i}@example.net`;
    mails.push({ id: await t.sent(to), to });
  }
  const at = t.clock.now();
  const events = Array.from({ length: 10_000 }, (_, i) => {
    const mail = i < 9_000 ? mails[i % 10] : { id: crypto.randomUUID(), to: "x@example.net" };
    if (mail === undefined) throw new Error("no mail");
    return PAYLOADS.SENDGRID.delivered({ ...mail, at });
  }).flat();

  const state = { isAnswered: false };
  const answer = post(events).finally(() => {
    state.isAnswered = true;
  });
  let others = 0;
  while (!state.isAnswered && others < 25) {
    await new Promise(setImmediate);
    await t.call("GET", `/emails/${mails[0]?.id}`);
    if (!state.isAnswered) others++;
  }
  expect((await answer).at("data")).toEqual({
    counted: 10,
    known: 8_990,
    unknown: 1_000,
    ignored: 0,
  });
  // One change has 50 reports, and others are answered between two changes.
  expect(others).toBeGreaterThan(20);
  await waitUntil(() => bodiesOf(t.app.app).takenBytes() === 0);
  const names = mails.flatMap(({ id }) => t.eventsOf(id).map(({ name }) => name));
  expect(names.filter((name) => name === "email.delivered")).toHaveLength(10);
});

test("a body that is larger, or has more values, is refused before it is parsed", async () => {
  const before = t.contents()["events"]?.length;
  const large = await post(["x".repeat(8 * 1024 * 1024)]);
  expect([large.status, large.at("error.code")]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  const many = await post(Array.from({ length: 250_001 }, () => 0));
  expect([many.status, many.at("error.code")]).toEqual([422, "VALIDATION_ERROR"]);
  await waitUntil(() => bodiesOf(t.app.app).takenBytes() === 0);
  expect(t.contents()["events"]?.length).toBe(before);
});

/** Reports about a mail whose attempt has no outcome yet. */
async function underWay() {
  t.transport.answer = null;
  const mail = { to: "early@example.net", subject: "s", body: "<p>b</p>", from: "hello@acme.test" };
  const id = await t.create("/v1/send", mail, "data.emails.0.email");
  await waitUntil(() => t.transport.open().length === 1);
  return { id, report: PAYLOADS.SENDGRID.delivered({ id, to: mail.to, at: t.clock.now() }) };
}
const end = async (id: string, outcome: typeof ACCEPTED) => {
  t.transport.answer = ACCEPTED;
  for (const mail of t.transport.open()) mail.end(outcome);
  const isUnderWay = "SELECT 1 FROM emails WHERE id = ? AND status = 'SENDING'";
  await waitUntil(() => t.db.sqlite.query(isUnderWay).get(id) === null);
};

test("a delivery that is reported before the outcome of the attempt is applied with it", async () => {
  const { id, report } = await underWay();
  for (const counted of [1, 0]) {
    expect((await post([report].flat())).at("data.counted")).toBe(counted);
  }
  expect(await t.email(id)).toMatchObject({ status: "SENDING", deliveredAt: null });
  await end(id, ACCEPTED);
  expect(t.eventsOf(id).map(({ name }) => name)).toEqual(["email.sent", "email.delivered"]);
  expect(await t.email(id)).toMatchObject({
    status: "DELIVERED",
    reports: [{ kind: "DELIVERY", form: "webhook: SENDGRID", reportingMta: "SendGrid" }],
  });
});

test("a delivery proves that a mail was accepted whose connection was lost at its end", async () => {
  const { id, report } = await underWay();
  const step = { step: "dot", command: ".", code: null, enhanced: null, text: "", ms: 1 } as const;
  const conversation = { host: "mx.test", address: null, port: 25, tls: null, reused: false };
  await end(id, { ...DEFERRED, conversations: [{ ...conversation, steps: [step] }] });
  expect(await t.email(id)).toMatchObject({ status: "QUEUED" });
  expect((await post([report].flat())).at("data.counted")).toBe(1);
  expect(await t.email(id)).toMatchObject({ status: "DELIVERED" });
  expect(t.eventsOf(id).map(({ name }) => name)).toEqual(["email.sent", "email.delivered"]);
});

test("a delivery of a mail that was never sent changes nothing", async () => {
  const mail = { to: "never@example.net", subject: "s", body: "<p>b</p>", from: "hello@acme.test" };
  t.transport.answer = { kind: "failed", class: "content", reason: "no", conversations: [] };
  const id = await t.create("/v1/send", mail, "data.emails.0.email");
  await t.deliver();
  t.transport.answer = ACCEPTED;
  const report = PAYLOADS.SENDGRID.delivered({ id, to: mail.to, at: t.clock.now() });
  expect((await post([report].flat())).at("data.known")).toBe(1);
  expect(await t.email(id)).toMatchObject({ status: "FAILED", deliveredAt: null });
});
