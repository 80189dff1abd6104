/** GET /app/api/live: what happens in a project, for the dashboard. */

import type { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { createLiveFeed } from "../../../src/modules/live.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { migrate } from "../../../src/db/migrate.ts";
import { manualClock } from "../../support/clock.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { readInBackground } from "../../support/event-stream.ts";
import { emptyInboxes, type InboxApp, inboxApp } from "../../support/inbox.ts";
import { listAt, stringAt, valueAt } from "../../support/json.ts";
import { signIn } from "../../support/session.ts";

type Line = { id: string; data: unknown };

/** Reads a stream in the background. */
function collect(stream: ReadableStream<Uint8Array>) {
  const { state, cancel } = readInBackground(stream);
  const lines = (): Line[] =>
    [...state.text.matchAll(/^id: (.*)\ndata: (.*)\n\n/gm)].map(([, id = "", data = ""]) => {
      const value: unknown = JSON.parse(data);
      return { id, data: value };
    });
  const lastId = (): string => [...state.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "";
  return { state, lines, lastId, cancel };
}

const dataOf = (lines: readonly Line[]) => lines.map(({ data }) => data);

describe("over HTTP", () => {
  const inboxes = emptyInboxes();
  let t: InboxApp;
  beforeEach(async () => {
    t = await inboxes.next();
  });

  async function listen(lastEventId?: string, key = t.secretKey) {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    const request = new Request("http://localhost/app/api/live", { headers });
    const response = await t.app.handle(request);
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    if (response.body === null) throw new Error("the response has no body");
    return collect(response.body);
  }

  async function flush(): Promise<void> {
    await settleEventLoop();
    t.clock.advance(100);
    await settleEventLoop();
  }

  const send = (to: string, key = t.secretKey) =>
    t.create(
      "/v1/send",
      { to, from: "a@acme.test", subject: "s", body: "b", subscribed: true },
      "data.emails.0.email",
      { key },
    );
  const track = (event: string) => t.call("POST", "/v1/track", { email: "ada@b.co", event });

  test("tells that the project or a role was changed", async () => {
    const owner = await signIn(t, { email: "owner@example.com" });
    const { user } = await signIn(t, { email: "member@example.com", isOwner: false });
    await t.app.writer.write(() => t.app.accounts.members.put(t.project.seq, user.seq, "EDITOR"));
    const stream = await listen();
    const changed = { type: "project.changed", id: t.project.id };
    for (const [i, [method, path, body]] of (
      [
        ["PATCH", `/projects/${t.project.id}`, { name: "New name" }],
        ["PATCH", `/team/${user.id}`, { role: "VIEWER" }],
        ["DELETE", `/team/${user.id}`, undefined],
      ] as const
    ).entries()) {
      const answer = await owner.call(method, path, body, { "x-project": t.project.id });
      expect([path, answer.status]).toEqual([path, method === "DELETE" ? 204 : 200]);
      await flush();
      expect(dataOf(stream.lines()).slice(i)).toEqual([changed]);
    }
    await stream.cancel();
  });

  test("events, queued mails and caught messages arrive with ids", async () => {
    const client = await listen();
    await track("order.paid");
    const contact = String((await t.call("GET", "/contacts")).at("contacts.0.id"));
    const email = await send("ada@b.co");
    await flush();
    expect(dataOf(client.lines())).toEqual(
      expect.arrayContaining([
        { type: "order.paid", id: contact },
        { type: "email.queued", id: email },
      ]),
    );
    await t.mail({ subject: "caught" });
    await t.caught();
    await flush();
    // The mail is captured as well, before or after the other message.
    const { body } = await t.call("GET", "/inboxes/default/messages");
    const caught = listAt(body, "data.items").find((each) => valueAt(each, "subject") === "caught");
    expect(dataOf(client.lines())).toContainEqual({
      type: "inbox.message",
      id: stringAt(caught, "id"),
    });
    await t.deliver();
    await flush();
    expect(dataOf(client.lines())).toContainEqual({ type: "email.sent", id: email });
    await client.cancel();
  });

  test("a client gets nothing of another project", async () => {
    const stranger = await t.makeProject("stranger");
    const own = await listen();
    const other = await listen(undefined, stranger.secretKey);
    await send("ada@b.co");
    await track("order.paid");
    await flush();
    expect(own.lines().length).toBeGreaterThan(1);
    expect(other.lines()).toEqual([]);
    const again = await listen("0.0.0", stranger.secretKey);
    expect(again.lines()).toEqual([]);
    for (const { cancel } of [own, other, again]) await cancel();
  });

  test("a client that reconnects gets what it missed, once", async () => {
    const first = await listen();
    await settleEventLoop();
    const start = first.lastId();
    expect(start).toMatch(/^\d+\.\d+\.\d+$/);
    await first.cancel();
    const email = await send("bob@b.co");
    await track("order.paid");
    await t.mail({ subject: "missed" });
    await t.caught();
    const second = await listen(start);
    await settleEventLoop();
    const types = second.lines().map(({ data }) => Object(data).type);
    expect(types).toContain("order.paid");
    expect(types.at(-1)).toBe("inbox.message");
    expect(dataOf(second.lines())).toContainEqual({ type: "email.queued", id: email });
    await second.cancel();
    const third = await listen(second.lastId());
    await flush();
    // Only what happened meanwhile, such as the sending of the mail, may follow.
    expect(dataOf(third.lines())).not.toContainEqual({ type: "email.queued", id: email });
    expect(JSON.stringify(third.lines())).not.toContain("order.paid");
    await third.cancel();
  });

  test("an id that is too old, or is none of ours, leads to reload", async () => {
    for (const id of [
      "x",
      "1",
      "1.2",
      "99999.99999.99999",
      "1.1.1.1",
      "-1.0.0",
      `${"1".repeat(16)}.0.0`,
      "",
    ]) {
      const client = await listen(id);
      await settleEventLoop();
      expect([id, dataOf(client.lines())]).toEqual([id, [{ type: "reload", id: "" }]]);
      await client.cancel();
    }
  });

  test("the user of a session is admitted to a project of theirs", async () => {
    const session = await signIn(t, { email: "viewer@b.co", isOwner: false });
    const { members } = t.app.accounts;
    const path = `http://localhost/app/api/live?project=${t.project.id}`;
    const open = () => {
      const headers = { cookie: session.cookie(), host: "localhost" };
      return t.app.handle(new Request(path, { headers }));
    };
    expect((await open()).status).toBe(403);
    await t.app.writer.write(() => members.put(t.project.seq, session.user.seq, "VIEWER"));
    const { body } = await open();
    if (body === null) throw new Error("the response has no body");
    const client = collect(body);
    await send("ada@b.co");
    await flush();
    expect(client.lines().length).toBeGreaterThan(0);
    for (let i = 1; i < 20; i++) expect((await open()).status).toBe(200);
    expect((await open()).status).toBe(429);
    expect((await listen()).state.isOver).toBe(false);
  });

  test("the stop of the server ends it", async () => {
    const own = await inboxApp({ config: { port: 0 } });
    const port = await own.app.listen();
    const headers = { authorization: `Bearer ${own.secretKey}` };
    const response = await fetch(`http://127.0.0.1:${port}/app/api/live`, { headers });
    if (response.body === null) throw new Error("the response has no body");
    const client = collect(response.body);
    await waitUntil(() => client.state.text.includes("connected"));
    await own.close();
    await waitUntil(() => client.state.isOver);
    expect(client.state.error).toBe("");
  });
});

describe("the feed", () => {
  function setup() {
    const db = openDatabase(":memory:");
    migrate(db.sqlite);
    db.sqlite.run(
      `INSERT INTO projects (id, name, tracking, language, is_enabled, created_at)
       VALUES ('p', 'p', 'DISABLED', 'en', 1, 0)`,
    );
    let reads = 0;
    const sqlite = readingEvents(db.sqlite, () => reads++);
    const clock = manualClock();
    const feed = createLiveFeed({ db: { sqlite }, clock });
    let last = 0;
    const addEvents = (count: number, name = "x") => {
      for (let i = 0; i < count; i++) {
        db.sqlite.run(
          "INSERT INTO events (id, project_seq, name, created_at) VALUES (?, 1, ?, 0)",
          [`e${++last}`, name],
        );
      }
    };
    const flush = async () => {
      feed.wake();
      clock.advance(100);
      await settleEventLoop();
    };
    return { feed, clock, addEvents, flush, readsOf: () => reads };
  }
  const reader = (owner = "a", projectSeq = 1) => ({
    projectSeq,
    owner,
    isAdmitted: () => true,
  });

  test("an announced change is sent once per flush, to its project alone", async () => {
    const { feed, flush } = setup();
    const item = { type: "webhook.delivery", id: "w" };
    feed.onAnnounced({ projectSeq: 1, ...item });
    const client = collect(feed.open(reader(), null));
    const other = collect(feed.open(reader("b", 2), null));
    for (let i = 0; i < 3; i++) feed.onAnnounced({ projectSeq: 1, ...item });
    await flush();
    expect(dataOf(client.lines())).toEqual([item]);
    feed.onAnnounced({ projectSeq: 1, ...item });
    await flush();
    expect(dataOf(client.lines())).toEqual([item, item]);
    expect(other.lines()).toEqual([]);
    await client.cancel();
    await other.cancel();
  });

  test("reads nothing without clients, and once for many wake-ups", async () => {
    const { feed, clock, addEvents, readsOf } = setup();
    addEvents(3);
    feed.wake();
    clock.advance(1_000);
    expect(readsOf()).toBe(0);
    const client = collect(feed.open(reader(), null));
    for (let i = 0; i < 50; i++) feed.wake();
    clock.advance(1_000);
    await settleEventLoop();
    expect(readsOf()).toBe(1);
    expect(client.lines()).toEqual([]);
    clock.advance(60_000);
    expect(readsOf()).toBe(1);
  });

  test("sends many events in several pieces, and all of them", async () => {
    const { feed, clock, addEvents } = setup();
    const client = collect(feed.open(reader(), null));
    addEvents(1_700);
    feed.wake();
    for (let i = 0; i < 5; i++) {
      clock.advance(100);
      await settleEventLoop();
    }
    expect(client.lines()).toHaveLength(1_700);
    expect(client.lines().at(-1)).toEqual({ id: "1700.0.0", data: { type: "x", id: "e1700" } });
  });

  test("replaces more rows than clients can use by reload", async () => {
    const { feed, addEvents, flush } = setup();
    const client = collect(feed.open(reader(), null));
    addEvents(2_001);
    await flush();
    expect(client.lines()).toEqual([{ id: "2001.0.0", data: { type: "reload", id: "" } }]);
    const late = collect(feed.open(reader(), "0.0.0"));
    await settleEventLoop();
    expect(dataOf(late.lines())).toEqual([{ type: "reload", id: "" }]);
  });

  test("refuses more than 20 clients of one user, and more than 200 in all", () => {
    const { feed } = setup();
    for (let i = 0; i < 20; i++) feed.open(reader(), null);
    expect(() => feed.open(reader(), null)).toThrow("You have 20 live connections open");
    for (let i = 20; i < 200; i++) feed.open(reader(`user ${Math.floor(i / 20)}`), null);
    expect(() => feed.open(reader("another"), null)).toThrow(
      "The server has 200 live connections open, which is its limit for all users.",
    );
    feed.close();
    expect(feed.size()).toBe(0);
    feed.open(reader(), null);
  });

  test("replaces missed rows that do not fit into the buffer of a client by reload", async () => {
    const { feed, addEvents, flush } = setup();
    collect(feed.open(reader(), null));
    for (let i = 0; i < 3; i++) {
      addEvents(500, "n".repeat(90));
      await flush();
    }
    const late = collect(feed.open(reader(), "0.0.0"));
    await settleEventLoop();
    expect([late.state.error, dataOf(late.lines())]).toEqual(["", [{ type: "reload", id: "" }]]);
  });

  test("disconnects a client that does not read, and no other", async () => {
    const { feed, addEvents, flush } = setup();
    const slow = feed.open(reader(), null);
    const fast = collect(feed.open(reader(), null));
    for (let i = 0; i < 20; i++) {
      addEvents(100, "n".repeat(90));
      await flush();
    }
    expect(feed.size()).toBe(1);
    expect(fast.lines()).toHaveLength(2_000);
    const broken = collect(slow);
    await waitUntil(() => broken.state.isOver);
    expect(broken.state.error).toContain("does not read");
  });

  test("sends a comment every 15 seconds, and ends a connection after ten minutes", async () => {
    const { feed, clock } = setup();
    const client = collect(feed.open(reader(), null));
    for (let i = 0; i < 2; i++) {
      clock.advance(15_000);
      await settleEventLoop();
    }
    expect(client.state.text.match(/^: /gm)).toHaveLength(3);
    clock.advance(600_000);
    await waitUntil(() => client.state.isOver);
    expect([client.state.error, feed.size()]).toEqual(["", 0]);
  });
});

/** The database; `onRead` is called when the feed reads the events after a position. */
function readingEvents(sqlite: Database, onRead: () => void): Database {
  const counted = <T extends object>(prepared: T): T =>
    new Proxy(prepared, {
      get(target, name) {
        if (name === "all") onRead();
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  return new Proxy(sqlite, {
    get(target, name) {
      if (name !== "prepare") return Reflect.get(target, name);
      return (sql: string) => {
        const prepared = target.prepare(sql);
        return sql.includes("FROM events e") ? counted(prepared) : prepared;
      };
    },
  });
}
