/** GET /inboxes/{id}/wait, with a clock that stands still until the test advances it. */

import { beforeEach, describe, expect, test } from "bun:test";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { emptyInboxes, type InboxApp, inboxApp, invalid } from "../../support/inbox.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { openRequest } from "../../support/raw-http.ts";
import { expectError } from "../../support/refusal.ts";

const inboxes = emptyInboxes();
let t: InboxApp;
beforeEach(async () => {
  t = await inboxes.next();
});

const wait = (query = "") => t.call("GET", `/inboxes/default/wait?${query}`);
const waiting = () => t.inboxes.waiters.size();
const subjects = (body: unknown) =>
  listAt(body, "data.items").map((item) => stringAt(item, "subject"));

/** Starts a wait and resolves when it waits. */
async function begin(query: string) {
  const before = waiting();
  const answer = wait(query);
  await waitUntil(() => waiting() === before + 1);
  await settleEventLoop();
  return { answer };
}

describe("a wait", () => {
  test("answers at once if a message is there", async () => {
    await t.mail({ subject: "old" });
    await t.mail({ subject: "new" });
    const answer = await wait();
    expect(answer.at("data.matched")).toBe(true);
    expect(subjects(answer.body)).toEqual(["new"]);
    expect(waiting()).toBe(0);
  });

  test("answers as soon as the last of its messages arrives, without any time", async () => {
    const { answer } = await begin("count=2");
    await t.mail({ subject: "one" });
    await settleEventLoop();
    expect(waiting()).toBe(1);
    await t.mail({ subject: "two" });
    expect(subjects((await answer).body)).toEqual(["two", "one"]);
  });

  test("answers 200 at the end of its time, with the messages that arrived", async () => {
    const { answer } = await begin("count=2&timeoutSeconds=10");
    await t.mail({ subject: "one" });
    await t.caught();
    await settleEventLoop();
    t.clock.advance(9_999);
    await settleEventLoop();
    expect(waiting()).toBe(1);
    t.clock.advance(1);
    const { status, at, body } = await answer;
    expect([status, at("data.matched"), at("data.quiet")]).toEqual([200, false, false]);
    expect(subjects(body)).toEqual(["one"]);
  });

  test("with a time of 0 answers at once", async () => {
    expect((await wait("timeoutSeconds=0")).at("data")).toEqual({
      matched: false,
      quiet: false,
      items: [],
    });
  });

  test("regards only messages since a time or after a message", async () => {
    await t.mail({ subject: "before" });
    const [before] = await t.caught();
    t.clock.advance(1_000);
    const since = new Date(t.clock.now()).toISOString();
    expect((await wait(`since=${since}&timeoutSeconds=0`)).at("data.matched")).toBe(false);
    expect((await wait(`since=${before?.id}&timeoutSeconds=0`)).at("data.matched")).toBe(false);
    await t.mail({ subject: "after" });
    expect(subjects((await wait(`since=${since}&count=1`)).body)).toEqual(["after"]);
    expect(subjects((await wait(`since=${before?.id}&count=1`)).body)).toEqual(["after"]);
  });

  test("with a query ignores messages that do not match", async () => {
    const { answer } = await begin(`query=${encodeURIComponent('to:"a@x.example"')}`);
    await t.mail({ to: "aa@x.example" });
    await t.caught();
    await settleEventLoop();
    expect(waiting()).toBe(1);
    await t.mail({ to: "a@x.example", subject: "mine" });
    expect(subjects((await answer).body)).toEqual(["mine"]);
  });

  test("ignores messages of other inboxes", async () => {
    await t.createInbox("other");
    const { answer } = await begin("timeoutSeconds=5");
    await t.mail({}, { user: "other", pass: "x" });
    await t.caught();
    await settleEventLoop();
    expect(waiting()).toBe(1);
    t.clock.advance(5_000);
    expect((await answer).at("data.matched")).toBe(false);
  });
});

describe("a wait for quiet", () => {
  test("answers without a message after the given time", async () => {
    const { answer } = await begin("quietMs=500");
    t.clock.advance(499);
    await settleEventLoop();
    expect(waiting()).toBe(1);
    t.clock.advance(1);
    expect((await answer).at("data")).toEqual({ matched: false, quiet: true, items: [] });
  });

  test("begins anew with each message", async () => {
    const { answer } = await begin("quietMs=500");
    t.clock.advance(400);
    await t.mail({ subject: "one" });
    await t.caught();
    await settleEventLoop();
    t.clock.advance(499);
    await settleEventLoop();
    expect(waiting()).toBe(1);
    t.clock.advance(1);
    const { at, body } = await answer;
    expect([at("data.matched"), at("data.quiet")]).toEqual([true, true]);
    expect(subjects(body)).toEqual(["one"]);
  });

  test("ends at its time limit, and is not quiet then", async () => {
    const { answer } = await begin("quietMs=5000&timeoutSeconds=2");
    t.clock.advance(2_000);
    expect((await answer).at("data.quiet")).toBe(false);
  });
});

describe("waits end", () => {
  test("when the client disconnects", async () => {
    const own = await inboxApp({ config: { port: 0 } });
    const port = await own.app.listen();
    const head = ["GET /inboxes/default/wait HTTP/1.1", `Authorization: Bearer ${own.secretKey}`];
    const request = openRequest({ port, head });
    await waitUntil(() => own.inboxes.waiters.size() === 1);
    request.destroy();
    await waitUntil(() => own.inboxes.waiters.size() === 0);
    await own.close();
  });

  test("when the server stops", async () => {
    const own = await inboxApp();
    const answer = own.call("GET", "/inboxes/default/wait");
    await waitUntil(() => own.inboxes.waiters.size() === 1);
    await own.close();
    expect((await answer).at("data.matched")).toBe(false);
  });
});

test("a project has at most 100 waits; one more is 429", async () => {
  await t.call("GET", "/inboxes/default");
  const answers = Array.from({ length: 100 }, () => wait());
  await waitUntil(() => waiting() === 100);
  expectError(await wait(), { status: 429, code: "RATE_LIMIT_EXCEEDED" });
  const other = await t.makeProject("other");
  const key = other.secretKey;
  const theirs = t.call("GET", "/inboxes/default/wait?timeoutSeconds=0", undefined, { key });
  expect((await theirs).status).toBe(200);
  await t.mail();
  for (const answer of answers) expect((await answer).at("data.matched")).toBe(true);
});

test("a time or an id that is none is 422", async () => {
  for (const since of ["yesterday", "2026-13-01T00:00:00Z"]) {
    expectError(await wait(`since=${since}`), invalid("since", "invalid_format"));
  }
});
