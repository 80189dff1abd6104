import { afterEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import type { Config } from "../../src/config/settings.ts";
import { createReader } from "../../src/events/reader.ts";
import { removeOldData, type RetentionDays } from "../../src/modules/retention.ts";
import { waitUntil } from "../support/eventually.ts";
import { type Mailing, startMailing } from "../support/mailing.ts";

const DAY = 24 * 60 * 60_000;
const HOUR = 60 * 60_000;
const OFF = { retainBodies: 0, retainRaw: 0, retainEvents: 0 } satisfies Partial<Config>;

const opened: Mailing[] = [];

afterEach(async () => {
  for (const { t } of opened.splice(0)) await t.close();
});

/** An application without retention of its own, and a retention that the test runs. */
async function setUp(days: Partial<RetentionDays>) {
  const mailing = await startMailing({ config: OFF });
  opened.push(mailing);
  const { t } = mailing;
  const app = { ...t.app.app };
  const step = () => removeOldData(app, { bodies: 0, raw: 0, events: 0, deliveries: 0, ...days });

  return {
    ...mailing,
    step,

    /** Runs steps until nothing is left; resolves to the number of steps. */
    async purge(): Promise<number> {
      t.clock.advance(HOUR);
      let steps = 1;
      while (await step()) steps++;
      return steps;
    },

    /** Accepts one mail with its own content, without sending it. */
    async accept(body: object = {}): Promise<string> {
      return t.create(
        "/v1/send",
        {
          to: "ada@example.net",
          from: "news@acme.test",
          subject: "Hi",
          body: "<p>Hello {{ name }}</p>",
          data: { name: "Ada" },
          ...body,
        },
        "emails.0.email",
      );
    },

    bodies: () =>
      t.db.sqlite
        .query<{ variables: string | null; html: string; headers: string }, []>(
          `SELECT e.variables, m.html, m.headers
           FROM emails e JOIN messages m ON m.seq = e.message_seq ORDER BY e.seq`,
        )
        .all(),
  };
}

const KEPT = { variables: '{"name":"Ada"}', html: "<p>Hello {{ name }}</p>", headers: "[]" };
const GONE = { variables: null, html: "", headers: "[]" };
const PDF = { filename: "a.pdf", content: btoa("pdf ".repeat(1000)) };

describe("bodies", () => {
  test("are removed after the retention period, and the record stays", async () => {
    const { t, accept, purge, bodies } = await setUp({ bodies: 90 });
    const id = await accept({ headers: { "X-A": "1" }, attachments: [PDF] });
    await t.deliver();
    const before = await t.call("GET", `/emails/${id}`);
    t.clock.advance(90 * DAY - 2 * HOUR);
    await purge();
    expect(bodies()).toEqual([{ ...KEPT, headers: '[["X-A","1"]]' }]);
    t.clock.advance(2 * HOUR);
    await purge();
    expect(bodies()).toEqual([GONE]);
    expect(t.countRows("message_attachments")).toBe(0);
    expect(t.countRows("attachment_contents")).toBe(0);
    expect((await t.call("GET", `/emails/${id}`)).body).toEqual(before.body);
  });

  test("stay for ever with a retention period of 0", async () => {
    const { t, accept, purge, bodies } = await setUp({ bodies: 0 });
    await accept();
    await t.deliver();
    t.clock.advance(1000 * DAY);
    await purge();
    expect(bodies()).toEqual([KEPT]);
  });

  test("of queued mail stay, and are removed once it has left", async () => {
    const { t, accept, purge, bodies } = await setUp({ bodies: 1 });
    await accept();
    t.clock.advance(3 * DAY);
    await purge();
    expect(bodies()).toEqual([KEPT]);
    await t.deliver();
    await purge();
    expect(bodies()).toEqual([GONE]);
  });

  test("that several mails share stay as long as one of the mails is young", async () => {
    const { t, accept, purge, bodies } = await setUp({ bodies: 10 });
    await accept();
    await t.deliver();
    t.clock.advance(9 * DAY);
    await accept();
    await t.deliver();
    t.clock.advance(2 * DAY);
    await purge();
    expect(bodies()).toEqual([{ ...KEPT, variables: null }, KEPT]);
    t.clock.advance(9 * DAY);
    await purge();
    expect(bodies()).toEqual([GONE, GONE]);
  });

  test("that several mails share stay as long as one of the mails is queued", async () => {
    const { t, accept, purge, bodies } = await setUp({ bodies: 10 });
    await accept();
    t.db.sqlite.run("UPDATE emails SET next_at = 1e15");
    await accept();
    await t.deliver();
    t.clock.advance(20 * DAY);
    await purge();
    expect(bodies()).toEqual([KEPT, { ...KEPT, variables: null }]);
    t.db.sqlite.run("UPDATE emails SET status = 'FAILED', next_at = NULL WHERE seq = 1");
    await purge();
    expect(bodies()).toEqual([GONE, GONE]);
  });

  test("keep the attachments that another message has as well", async () => {
    const { t, accept, purge } = await setUp({ bodies: 10 });
    await accept({ attachments: [PDF] });
    await t.deliver();
    t.clock.advance(9 * DAY);
    await accept({ attachments: [PDF], subject: "Other", body: "<p>other</p>" });
    await t.deliver();
    t.clock.advance(2 * DAY);
    await purge();
    expect(t.countRows("message_attachments")).toBe(1);
    expect(t.countRows("attachment_contents")).toBe(1);
    t.clock.advance(20 * DAY);
    await purge();
    expect(t.countRows("attachment_contents")).toBe(0);
  });

  test("that were removed are stored again when the same content is sent", async () => {
    const { t, accept, purge, bodies } = await setUp({ bodies: 1 });
    await accept();
    await t.deliver();
    t.clock.advance(3 * DAY);
    await purge();
    const id = await accept();
    await t.deliver();
    expect(bodies()).toEqual([GONE, KEPT]);
    const raw = (await t.call("GET", `/emails/${id}/raw`)).text("");
    expect((await simpleParser(raw)).html).toContain("<p>Hello Ada</p>");
  });

  test("of later mails are removed while an older mail is queued", async () => {
    const { t, accept, purge, bodies } = await setUp({ bodies: 1 });
    await accept({ body: "<p>waits</p>" });
    t.db.sqlite.run("UPDATE emails SET next_at = 1e15");
    for (let i = 0; i < 3; i++) await accept({ body: `<p>${i}</p>` });
    await t.deliver();
    t.clock.advance(3 * DAY);
    await purge();
    expect(bodies().map(({ html }) => html)).toEqual(["<p>waits</p>", "", "", ""]);
  });

  test("that were removed leave the links in the mail working", async () => {
    const { t, send, fetchAs, purge, submit, isSubscribed } = await setUp({ bodies: 1, raw: 1 });
    const mail = await send();
    t.clock.advance(400 * DAY);
    await purge();
    expect((await t.call("GET", `/emails/${mail.id}/raw`)).status).toBe(404);
    const link = mail.hrefs.find((href) => href.includes("/c/")) ?? "";
    expect((await fetchAs("GET", link)).headers.get("location")).toContain("https://example.com/a");
    expect((await fetchAs("GET", mail.pixel ?? "")).status).toBe(200);
    await submit(mail.unsubscribe, "List-Unsubscribe=One-Click");
    expect(isSubscribed()).toBe(false);
    t.clock.advance(1_000);
    await t.close();
    expect(t.eventNames()).toContain("email.clicked");
  });
});

describe("captured messages", () => {
  test("are removed after the retention period", async () => {
    const { t, accept, purge } = await setUp({ raw: 30 });
    const old = await accept();
    await t.deliver();
    t.clock.advance(29 * DAY);
    const young = await accept();
    await t.deliver();
    t.clock.advance(2 * DAY);
    await purge();
    expect((await t.call("GET", `/emails/${old}/raw`)).status).toBe(404);
    expect((await t.call("GET", `/emails/${young}/raw`)).status).toBe(200);
  });
});

describe("events", () => {
  test("are removed with their counts, and the time of the latest event stays", async () => {
    const { t, purge } = await setUp({ events: 30 });
    const track = (event: string) =>
      t.create("/v1/track", { event, email: "ada@example.net" }, "data.event");
    await track("login");
    await track("login");
    await track("signup");
    t.clock.advance(29 * DAY);
    await track("login");
    const lastAt = () => t.db.sqlite.query("SELECT name_seq, last_at FROM contact_events").all();
    const before = lastAt();
    t.clock.advance(2 * DAY);
    await purge();
    const logins = await t.call("GET", "/events?event=login");
    expect(logins.at("data.total")).toBe(1);
    expect(logins.at("data.items.1")).toBeUndefined();
    expect((await t.call("GET", "/events")).at("data.total")).toBe(1);
    expect((await t.call("GET", "/events?event=signup")).at("data.total")).toBe(0);
    expect(lastAt()).toEqual(before);
    const ofAda = await t.call("GET", "/events?email=ada@example.net");
    expect(ofAda.at("data")).toMatchObject({ total: 1, items: [{ name: "login" }] });
    expect(t.db.sqlite.query("SELECT sum(count) AS n FROM event_names").get()).toEqual({
      n: t.countRows("events"),
    });
  });

  test("within the retention period stay, and so does all other data", async () => {
    const { t, accept, purge } = await setUp({ events: 30 });
    await accept();
    await t.deliver();
    t.clock.advance(29 * DAY);
    // The domain is checked again meanwhile, and the readers of events store their positions.
    const contents = () => ({ ...t.contents(), domains: null, readers: null });
    const before = contents();
    const { readers } = t.contents();
    await purge();
    expect(contents()).toEqual(before);
    expect(t.contents()).toMatchObject({ readers: expect.arrayContaining([readers].flat()) });
  });

  test("that a reader has not read yet stay", async () => {
    const { t, purge } = await setUp({ events: 30 });
    for (const event of ["a", "b", "c"]) {
      await t.call("POST", "/v1/track", { event, email: "ada@example.net" });
    }
    const readers = ["quick", "slow"].map((name) => createReader({ db: t.db, name }));
    await t.app.writer.write(() => readers.forEach((reader, index) => reader.advance(4 - index)));
    t.clock.advance(31 * DAY);
    await purge();
    expect(t.eventNames()).toEqual(["c"]);
    await t.app.writer.write(() => readers.forEach((reader) => reader.skip()));
    await purge();
    expect(t.eventNames()).toEqual([]);
  });
});

describe("deliveries to webhooks", () => {
  const HOOK = { url: "https://hooks.example.com/", events: ["a", "b"] };
  const statuses = ({ t }: Mailing) =>
    t.db.sqlite
      .query<{ name: string; nextAt: number | null }, []>(
        `SELECT e.name, d.next_at AS nextAt FROM webhook_deliveries d
         JOIN events e ON e.seq = d.event_seq ORDER BY d.seq`,
      )
      .all();

  /** A disabled webhook with two pending events of one contact: `a` and, a week later, `b`. */
  async function waiting(days: Partial<RetentionDays>) {
    const setup = await setUp(days);
    const { t } = setup;
    await t.deliver();
    const path = `/webhooks/${await t.create("/webhooks", HOOK, "data.id")}`;
    const track = (event: string) => t.call("POST", "/v1/track", { event, email: "a@b.example" });
    await track("a");
    await waitUntil(() => t.countRows("webhook_deliveries") === 1);
    t.clock.advance(7 * DAY);
    await track("b");
    await waitUntil(() => t.countRows("webhook_deliveries") === 2);
    await t.call("PATCH", path, { enabled: false });
    return { ...setup, path };
  }

  test("are removed after the retention period, and release those that waited for them", async () => {
    const setup = await waiting({ deliveries: 30 });
    const { t, purge } = setup;
    expect(statuses(setup).map(({ name }) => name)).toEqual(["a", "b"]);
    expect(statuses(setup)[1]?.nextAt).toBeNull();
    t.clock.advance(22 * DAY);
    await purge();
    expect(statuses(setup).length).toBe(2);
    t.clock.advance(DAY);
    await purge();
    expect(statuses(setup)).toMatchObject([{ name: "b", nextAt: expect.any(Number) }]);
    t.clock.advance(7 * DAY);
    await purge();
    expect(statuses(setup)).toEqual([]);
  });

  test("that are pending prevent the removal of their events", async () => {
    const { t, purge } = await waiting({ events: 1 });
    await t.app.writer.write(() => t.db.sqlite.run("UPDATE readers SET seq = 1000"));
    t.clock.advance(10 * DAY);
    await purge();
    expect(t.eventNames()).toEqual(["a", "b"]);
    await t.app.writer.write(() =>
      t.db.sqlite.run("UPDATE webhook_deliveries SET status = 'FAILED', next_at = NULL"),
    );
    await purge();
    expect([t.eventNames(), t.countRows("webhook_deliveries")]).toEqual([[], 0]);
  });

  test("of a deleted webhook are removed with it", async () => {
    const { t, path, purge } = await waiting({ deliveries: 30 });
    await t.call("DELETE", path);
    await purge();
    expect([t.countRows("webhook_deliveries"), t.countRows("webhooks")]).toEqual([0, 0]);
  });
});

describe("a round of purges", () => {
  test("runs in small steps", async () => {
    const { t, purge } = await setUp({ events: 1 });
    t.db.sqlite.run(`
      INSERT INTO events (id, project_seq, name, created_at)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      SELECT 'x' || i, 1, 'old', 0 FROM n`);
    t.db.sqlite.run("INSERT INTO event_names (project_seq, name, count) VALUES (1, 'old', 5000)");
    expect(await purge()).toBeGreaterThan(1);
    expect(t.countRows("events")).toBe(0);
    expect(t.db.sqlite.query("SELECT count FROM event_names WHERE name = 'old'").get()).toEqual({
      count: 0,
    });
  });

  test("starts an hour after the end of the previous one", async () => {
    const { t, accept, step, purge } = await setUp({ raw: 1 });
    await accept();
    await t.deliver();
    t.clock.advance(DAY - 2 * HOUR);
    await purge();
    t.clock.advance(HOUR - 1);
    t.db.sqlite.run("UPDATE emails SET created_at = 0");
    expect(await step()).toBe(false);
    expect(t.countRows("captured_messages")).toBe(1);
    t.clock.advance(1);
    await purge();
    expect(t.countRows("captured_messages")).toBe(0);
  });

  test("continues after a storage error", async () => {
    const { t, accept, step, purge, bodies } = await setUp({ bodies: 1 });
    for (let i = 0; i < 3; i++) await accept({ body: `<p>${i}</p>` });
    await t.deliver();
    t.clock.advance(3 * DAY);
    t.db.sqlite.run("PRAGMA query_only = ON");
    expect(await step().catch((error: unknown) => error)).toMatchObject({ status: 503 });
    t.db.sqlite.run("PRAGMA query_only = OFF");
    await purge();
    expect(bodies().map(({ html }) => html)).toEqual(["", "", ""]);
  });

  test("stores how far all bodies are removed", async () => {
    const { t, accept, purge } = await setUp({ bodies: 1 });
    for (let i = 0; i < 3; i++) await accept();
    await t.deliver();
    t.clock.advance(3 * DAY);
    await purge();
    expect(t.contents()["purge_marks"]).toEqual([{ name: "bodies", seq: 3 }]);
  });
});
