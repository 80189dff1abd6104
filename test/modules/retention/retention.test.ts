import { afterEach, describe, expect, test } from "bun:test";
import type { Config } from "../../../src/config.ts";
import { createWriter } from "../../../src/db/writer.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { createReader } from "../../../src/events/reader.ts";
import { createRetention, type RetentionDays } from "../../../src/modules/retention/service.ts";
import { waitUntil } from "../../support/eventually.ts";
import { type Mailing, startMailing } from "../../support/mailing.ts";

const DAY = 24 * 60 * 60_000;
const HOUR = 60 * 60_000;
const OFF = { retainBodies: 0, retainRaw: 0, retainEvents: 0 } satisfies Partial<Config>;

const mailings: Mailing[] = [];

afterEach(async () => {
  for (const { t } of mailings.splice(0)) await t.close();
});

/** An application that removes nothing by itself, and a retention that does when it is told to. */
async function keeping(days: Partial<RetentionDays>) {
  const mailing = await startMailing({ config: OFF });
  mailings.push(mailing);
  const { t } = mailing;
  const retention = createRetention({
    db: t.db,
    writer: createWriter(t.db, silentLog),
    clock: t.clock,
    days: { bodies: 0, raw: 0, events: 0, deliveries: 0, ...days },
  });

  return {
    ...mailing,
    retention,

    /** Goes on until nothing is left; resolves to the number of steps. */
    async purge(): Promise<number> {
      t.clock.advance(HOUR);
      let steps = 1;
      while (await retention.step()) steps++;
      return steps;
    },

    /** One mail with content of its own; not sent by itself. */
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
  test("stay for as long as the setting says, then go, and the record stays", async () => {
    const { t, accept, purge, bodies } = await keeping({ bodies: 90 });
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

  test("stay for ever where the setting says 0", async () => {
    const { t, accept, purge, bodies } = await keeping({ bodies: 0 });
    await accept();
    await t.deliver();
    t.clock.advance(1000 * DAY);
    await purge();
    expect(bodies()).toEqual([KEPT]);
  });

  test("of mail that waits stay, and go when it has left", async () => {
    const { t, accept, purge, bodies } = await keeping({ bodies: 1 });
    await accept();
    t.clock.advance(3 * DAY);
    await purge();
    expect(bodies()).toEqual([KEPT]);
    await t.deliver();
    await purge();
    expect(bodies()).toEqual([GONE]);
  });

  test("that several mails share stay as long as one of them is young", async () => {
    const { t, accept, purge, bodies } = await keeping({ bodies: 10 });
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

  test("that several mails share stay as long as one of them waits", async () => {
    const { t, accept, purge, bodies } = await keeping({ bodies: 10 });
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

  test("attachments that another message has stay", async () => {
    const { t, accept, purge } = await keeping({ bodies: 10 });
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

  test("that went are stored anew when the same is sent again", async () => {
    const { t, accept, purge, bodies } = await keeping({ bodies: 1 });
    await accept();
    await t.deliver();
    t.clock.advance(3 * DAY);
    await purge();
    const id = await accept();
    await t.deliver();
    expect(bodies()).toEqual([GONE, KEPT]);
    expect((await t.call("GET", `/emails/${id}/raw`)).text("")).toContain("<p>Hello Ada</p>");
  });

  test("one mail that waits for long does not keep those after it", async () => {
    const { t, accept, purge, bodies } = await keeping({ bodies: 1 });
    await accept({ body: "<p>waits</p>" });
    t.db.sqlite.run("UPDATE emails SET next_at = 1e15");
    for (let i = 0; i < 3; i++) await accept({ body: `<p>${i}</p>` });
    await t.deliver();
    t.clock.advance(3 * DAY);
    await purge();
    expect(bodies().map(({ html }) => html)).toEqual(["<p>waits</p>", "", "", ""]);
  });

  test("links in mail whose body went still work", async () => {
    const { t, send, fetchAs, purge, submit, isSubscribed } = await keeping({ bodies: 1, raw: 1 });
    const letter = await send();
    t.clock.advance(400 * DAY);
    await purge();
    expect((await t.call("GET", `/emails/${letter.id}/raw`)).status).toBe(404);
    const link = letter.hrefs.find((href) => href.includes("/c/")) ?? "";
    expect((await fetchAs("GET", link)).headers.get("location")).toContain("https://example.com/a");
    expect((await fetchAs("GET", letter.pixel ?? "")).status).toBe(200);
    await submit(letter.unsubscribe, "List-Unsubscribe=One-Click");
    expect(isSubscribed()).toBe(false);
    t.clock.advance(1_000);
    await t.close();
    expect(t.eventNames()).toContain("email.clicked");
  });
});

describe("captured messages", () => {
  test("go when they are old", async () => {
    const { t, accept, purge } = await keeping({ raw: 30 });
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
  test("go when they are old; counts go down with them, when it was last stays known", async () => {
    const { t, purge } = await keeping({ events: 30 });
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

  test("of an age to keep stay", async () => {
    const { t, accept, purge } = await keeping({ events: 30 });
    await accept();
    await t.deliver();
    t.clock.advance(29 * DAY);
    // The domain is looked at again meanwhile.
    const kept = () => ({ ...t.contents(), domains: null });
    const before = kept();
    await purge();
    expect(kept()).toEqual(before);
  });

  test("that a reader has not seen yet stay", async () => {
    const { t, purge } = await keeping({ events: 30 });
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

  /** A disabled webhook with events `a` and, a week later, `b` of one contact; both wait. */
  async function waiting(days: Partial<RetentionDays>) {
    const kept = await keeping(days);
    const { t } = kept;
    await t.deliver();
    const path = `/webhooks/${await t.create("/webhooks", HOOK, "data.id")}`;
    const track = (event: string) => t.call("POST", "/v1/track", { event, email: "a@b.example" });
    await track("a");
    await waitUntil(() => t.countRows("webhook_deliveries") === 1);
    t.clock.advance(7 * DAY);
    await track("b");
    await waitUntil(() => t.countRows("webhook_deliveries") === 2);
    await t.call("PATCH", path, { enabled: false });
    return { ...kept, path };
  }

  test("go when they are old, and what waited for them waits no more", async () => {
    const kept = await waiting({ deliveries: 30 });
    const { t, purge } = kept;
    expect(statuses(kept).map(({ name }) => name)).toEqual(["a", "b"]);
    expect(statuses(kept)[1]?.nextAt).toBeNull();
    t.clock.advance(22 * DAY);
    await purge();
    expect(statuses(kept).length).toBe(2);
    t.clock.advance(DAY);
    await purge();
    expect(statuses(kept)).toMatchObject([{ name: "b", nextAt: expect.any(Number) }]);
    t.clock.advance(7 * DAY);
    await purge();
    expect(statuses(kept)).toEqual([]);
  });

  test("keep their events as long as they are pending", async () => {
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

  test("of a webhook that was deleted go with it", async () => {
    const { t, path, purge } = await waiting({ deliveries: 30 });
    await t.call("DELETE", path);
    await purge();
    expect([t.countRows("webhook_deliveries"), t.countRows("webhooks")]).toEqual([0, 0]);
  });
});

describe("the work", () => {
  test("is done in small steps", async () => {
    const { t, purge } = await keeping({ events: 1 });
    t.db.sqlite.run(`
      INSERT INTO events (id, project_seq, name, created_at)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      SELECT 'x' || i, 1, 'old', 0 FROM n`);
    t.db.sqlite.run("INSERT INTO event_names (project_seq, name, count) VALUES (1, 'old', 20000)");
    expect(await purge()).toBeGreaterThan(1);
    expect(t.countRows("events")).toBe(0);
    expect(t.db.sqlite.query("SELECT count FROM event_names WHERE name = 'old'").get()).toEqual({
      count: 0,
    });
  });

  test("rests for an hour when nothing is left", async () => {
    const { t, accept, retention, purge } = await keeping({ raw: 1 });
    await accept();
    await t.deliver();
    t.clock.advance(DAY - 2 * HOUR);
    await purge();
    t.clock.advance(HOUR - 1);
    t.db.sqlite.run("UPDATE emails SET created_at = 0");
    expect(await retention.step()).toBe(false);
    expect(t.countRows("captured_messages")).toBe(1);
    t.clock.advance(1);
    await retention.step();
    expect(t.countRows("captured_messages")).toBe(0);
  });

  test("goes on where it was after a refusal of the storage", async () => {
    const { t, accept, retention, purge, bodies } = await keeping({ bodies: 1 });
    for (let i = 0; i < 3; i++) await accept({ body: `<p>${i}</p>` });
    await t.deliver();
    t.clock.advance(3 * DAY);
    t.db.sqlite.run("PRAGMA query_only = ON");
    expect(await retention.step().catch((error: unknown) => error)).toMatchObject({ status: 503 });
    t.db.sqlite.run("PRAGMA query_only = OFF");
    await purge();
    expect(bodies().map(({ html }) => html)).toEqual(["", "", ""]);
  });

  test("does not look again at what is done", async () => {
    const { t, accept, purge } = await keeping({ bodies: 1 });
    for (let i = 0; i < 3; i++) await accept();
    await t.deliver();
    t.clock.advance(3 * DAY);
    await purge();
    expect(t.contents()["purge_marks"]).toEqual([{ name: "bodies", seq: 3 }]);
  });
});
