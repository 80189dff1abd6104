import { beforeEach, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { valueAt, listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { plansOfReads } from "../../support/reads.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
let id: string;
beforeEach(async () => {
  t = await projects.next();
  id = await t.create("/contacts", { email: "ada@x.io" }, "id");
});

const activity = (query = "", contactId = id) =>
  t.call("GET", `/contacts/${contactId}/activity${query}`);
const track = (event: string, data?: object) =>
  t.call("POST", "/v1/track", { email: "ada@x.io", event, ...(data && { data }) });
const send = () =>
  t.create(
    "/v1/send",
    { to: "ada@x.io", from: "shop@acme.test", subject: "Hello", body: "<p>Hi</p>" },
    "data.emails.0.email",
  );
const brief = (items: unknown[]) =>
  items.map((item) => valueAt(item, "event.name") ?? valueAt(item, "email.subject"));

test("lists events and mails in one timeline, newest first", async () => {
  const times: string[] = [];
  const nextSecond = () => {
    t.clock.advance(1000);
    times.unshift(new Date(t.clock.now()).toISOString());
  };
  nextSecond();
  await track("login", { from: "app" });
  nextSecond();
  const email = await send();
  await t.deliver();
  const answer = await activity();
  const items = listAt(answer.body, "data.items");
  expect(brief(items)).toEqual(["email.sent", "Hello", "login", "contact.subscribed"]);
  expect(answer.at("data")).toMatchObject({ nextCursor: null, hasMore: false, total: 4 });
  expect(items[0]).toEqual({
    kind: "EVENT",
    createdAt: times[0],
    event: {
      id: expect.any(String),
      name: "email.sent",
      data: valueAt(items[0], "event.data"),
      emailId: email,
      emailSubject: "Hello",
    },
    email: null,
  });
  expect(items[1]).toEqual({
    kind: "EMAIL",
    createdAt: times[0],
    event: null,
    email: {
      id: email,
      subject: "Hello",
      status: valueAt(items[1], "email.status"),
      source: "TRANSACTIONAL",
      templateId: null,
    },
  });
  expect(items[2]).toMatchObject({
    event: { name: "login", data: { from: "app" }, emailId: null, emailSubject: null },
  });
});

test("pages continue within one millisecond, and new entries cause no repetition", async () => {
  for (let i = 0; i < 4; i++) {
    await track(`a${i}`);
    await send();
    await track(`b${i}`);
    if (i % 2 === 1) t.clock.advance(1);
  }
  await t.deliver();
  const whole = listAt((await activity("?limit=100")).body, "data.items");
  expect(whole.length).toBe(17);
  for (const limit of [1, 2, 5]) {
    const seen: unknown[] = [];
    let cursor: unknown = null;
    do {
      const from = typeof cursor === "string" ? `&cursor=${cursor}` : "";
      const page = await activity(`?limit=${limit}${from}`);
      seen.push(...listAt(page.body, "data.items"));
      cursor = page.at("data.nextCursor");
      if (seen.length < 6) t.clock.advance(1);
      if (seen.length < 6) await track("later");
    } while (cursor !== null);
    expect(seen.filter((item) => valueAt(item, "event.name") !== "later")).toEqual(whole);
  }
});

test("pages are complete after the clock was set back", async () => {
  const { sqlite } = t.db;
  for (let i = 0; i < 6; i++) {
    await track(`a${i}`);
    await send();
    sqlite.run("UPDATE events SET created_at = created_at - ? WHERE name = ?", [i * 100, `a${i}`]);
    await t.deliver();
    t.clock.advance(40);
  }
  const seen: unknown[] = [];
  for (let cursor = ""; ;) {
    const page = await activity(`?limit=2${cursor}`);
    seen.push(...brief(listAt(page.body, "data.items")));
    if (page.at("data.nextCursor") === null) break;
    cursor = `&cursor=${String(page.at("data.nextCursor"))}`;
  }
  const names = ["a0", "a1", "a2", "a3", "a4", "a5", "contact.subscribed"];
  const sent = ["Hello", "email.sent"].flatMap((name) => Array<string>(6).fill(name));
  expect(seen.map(String).sort()).toEqual([...names, ...sent].sort());
});

test("does not contain entries of other contacts", async () => {
  await t.create("/contacts", { email: "bob@x.io" }, "id");
  expect((await activity()).at("data.total")).toBe(1);
});

test("refuses a cursor of another contact", async () => {
  await track("login");
  const page = await activity("?limit=1");
  const bob = await t.create("/contacts", { email: "bob@x.io" }, "id");
  expectError(await activity(`?cursor=${page.text("data.nextCursor")}`, bob), {
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [["cursor", "invalid_value"]],
  });
});

test("reads only the mails of the contact", async () => {
  const id = await t.create("/contacts", { email: "eve@example.com" }, "id");
  const plans = await plansOfReads(t.app.app, () =>
    t.call("GET", `/contacts/${id}/activity?limit=1`),
  );
  expect(plans).toEqual([
    expect.stringContaining("SEARCH emails USING INDEX emails_contact (contact_seq=? AND rowid<?)"),
    "SEARCH emails USING COVERING INDEX emails_contact (contact_seq=?)",
  ]);
});
