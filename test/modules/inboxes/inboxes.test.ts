/** The routes of inboxes themselves: create, list, get, delete, expiry. */

import { beforeEach, describe, expect, test } from "bun:test";
import { createKey } from "../../../src/modules/keys.ts";
import { emptyInboxes, type InboxApp, invalid } from "../../support/inbox.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { expectError } from "../../support/refusal.ts";

const inboxes = emptyInboxes();
let t: InboxApp;
beforeEach(async () => {
  t = await inboxes.next();
});

const names = (body: unknown) => listAt(body, "data").map((inbox) => stringAt(inbox, "name"));

describe("GET /inboxes", () => {
  test("lists the default inbox from the beginning, and others in the order of creation", async () => {
    expect(names((await t.call("GET", "/inboxes")).body)).toEqual(["default"]);
    await t.createInbox("second");
    await t.createInbox("third");
    expect(names((await t.call("GET", "/inboxes")).body)).toEqual(["default", "second", "third"]);
  });

  test("shows no inbox of another project", async () => {
    const other = await t.makeProject("other");
    await t.createInbox("mine");
    const key = other.secretKey;
    expect(names((await t.call("GET", "/inboxes", undefined, { key })).body)).toEqual(["default"]);
    expectError(await t.call("GET", "/inboxes/mine", undefined, { key }), {
      status: 404,
      code: "INBOX_NOT_FOUND",
    });
  });
});

test("a key that only reads does not see the password, which also deletes mail", async () => {
  const id = await t.createInbox("mine");
  const scoped = { kind: "SECRET", scope: "READ", name: "reader", expiresAt: null } as const;
  const { text: key } = createKey(t.app.app, t.project.seq, scoped);
  for (const path of ["/inboxes", `/inboxes/${id}`]) {
    const { status, body } = await t.call("GET", path, undefined, { key });
    const shown = [valueAt(body, "data")].flat().map((inbox) => stringAt(inbox, "password"));
    expect([status, new Set(shown)]).toEqual([200, new Set(["(hidden)"])]);
  }
});

describe("POST /inboxes", () => {
  test("answers with SMTP user, password, and address suffix", async () => {
    const answer = await t.call("POST", "/inboxes", { name: "signup-1", ttlSeconds: 60 });
    expect(answer.status).toBe(201);
    const id = answer.text("data.id");
    expect(answer.at("data")).toMatchObject({
      name: "signup-1",
      username: id,
      addressSuffix: `@${id}.inbox.test`,
      total: 0,
      unread: 0,
      expiresAt: new Date(t.clock.now() + 60_000).toISOString(),
    });
    expect(answer.text("data.password")).toHaveLength(24);
  });

  test("mail with its SMTP user arrives there alone", async () => {
    const created = await t.call("POST", "/inboxes", { name: "mine" });
    const auth = { user: created.text("data.username"), pass: created.text("data.password") };
    await t.mail({ subject: "for mine" }, auth);
    await t.mail({ subject: "by name" }, { user: "mine", pass: "x" });
    await t.mail({ subject: "for all" });
    expect((await t.call("GET", "/inboxes/mine")).at("data.total")).toBe(2);
    expect((await t.call("GET", "/inboxes/default")).at("data.total")).toBe(1);
  });

  test("mail to its address suffix arrives there without AUTH", async () => {
    const created = await t.call("POST", "/inboxes", { name: "mine" });
    await t.mail({ to: `ada${created.text("data.addressSuffix")}` });
    expect((await t.call("GET", "/inboxes/mine")).at("data.total")).toBe(1);
  });

  test("a name that is taken is 409, and one with a space is 422", async () => {
    await t.createInbox("mine");
    const again = await t.call("POST", "/inboxes", { name: "mine" });
    expectError(again, { status: 409, code: "CONFLICT" });
    const spaced = await t.call("POST", "/inboxes", { name: "a b" });
    expectError(spaced, invalid("name", "invalid_format"));
  });
});

describe("an inbox is removed with its messages", () => {
  test("by DELETE, by id or name", async () => {
    const id = await t.createInbox("mine");
    await t.mail({}, { user: "mine", pass: "x" });
    await t.caught();
    expect((await t.call("DELETE", `/inboxes/${id}`)).status).toBe(204);
    expectError(await t.call("GET", "/inboxes/mine"), { status: 404, code: "INBOX_NOT_FOUND" });
    for (const table of ["inbox_messages", "inbox_raw", "inbox_texts"]) {
      expect([table, t.countRows(table)]).toEqual([table, 0]);
    }
  });

  test("when its time is over", async () => {
    await t.call("POST", "/inboxes", { name: "short", ttlSeconds: 5 });
    await t.mail({}, { user: "short", pass: "x" });
    await t.caught();
    t.clock.advance(4_999);
    await t.app.recurring.find(({ name }) => name === "inbox expiry")?.run();
    expect((await t.call("GET", "/inboxes/short")).at("data.total")).toBe(1);
    t.clock.advance(1);
    await t.app.recurring.find(({ name }) => name === "inbox expiry")?.run();
    expect((await t.call("GET", "/inboxes/short")).status).toBe(404);
  });
});
