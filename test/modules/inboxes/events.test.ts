/** GET /inboxes/{id}/events: server-sent events. */

import { beforeEach, describe, expect, test } from "bun:test";
import { inboxChanges } from "../../../src/modules/inboxes/changes.ts";
import { inboxLive } from "../../../src/modules/inboxes/live/stream.ts";
import { NO_MESSAGES } from "../../../src/modules/inboxes/messages/numbers.ts";
import { bareApp } from "../../support/bare-app.ts";
import { migratedDatabase } from "../../support/database.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { readInBackground } from "../../support/event-stream.ts";
import { emptyInboxes, type InboxApp, inboxApp } from "../../support/inbox.ts";
import { stringAt, valueAt } from "../../support/json.ts";
import { openRequest } from "../../support/raw-http.ts";

type Event = { id: string; name: string; data: unknown };

/** Reads a stream in the background. */
function collect(stream: ReadableStream<Uint8Array>) {
  const { state, cancel } = readInBackground(stream);
  const events = (): Event[] =>
    [...state.text.matchAll(/^id: (.*)\nevent: (.*)\ndata: (.*)\n\n/gm)].map(
      ([, id = "", name = "", data = ""]) => {
        const value: unknown = JSON.parse(data);
        return { id, name, data: value };
      },
    );
  return { state, events, cancel };
}

const names = (events: readonly Event[]) => events.map(({ name }) => name);

describe("over HTTP", () => {
  const inboxes = emptyInboxes();
  let t: InboxApp;
  beforeEach(async () => {
    t = await inboxes.next();
  });

  async function listen(lastEventId?: string) {
    const headers = {
      authorization: `Bearer ${t.secretKey}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    };
    const url = "http://localhost/inboxes/default/events";
    const response = await t.app.handle(new Request(url, { headers }));
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    if (response.body === null) throw new Error("the response has no body");
    return collect(response.body);
  }

  test("messages and changes arrive in their order, then the counts", async () => {
    const client = await listen();
    await t.mail({ subject: "one" });
    const latest = "/inboxes/default/messages/latest";
    await t.call("PATCH", latest, { read: true, tags: ["x"] });
    await t.call("DELETE", latest);
    await settleEventLoop();
    t.clock.advance(250);
    await settleEventLoop();
    expect(names(client.events())).toEqual(["stats", "message", "updated", "deleted", "stats"]);
    const [, message, updated, deleted, stats] = client.events();
    const id = stringAt(message?.data, "id");
    expect(valueAt(message?.data, "subject")).toBe("one");
    expect(updated?.data).toEqual({ id, read: true, pinned: false, tags: ["x"] });
    expect(deleted?.data).toEqual({ id });
    expect(stats?.data).toEqual({ total: 0, unread: 0 });
    await client.cancel();
    expect(t.inboxes.live.size()).toBe(0);
  });

  test("a client that reconnects gets what it missed", async () => {
    const first = await listen();
    await t.mail({ subject: "seen" });
    await t.caught();
    await settleEventLoop();
    const last = first.events().at(-1)?.id ?? "";
    await first.cancel();
    await t.mail({ subject: "missed" });
    await t.caught();
    const second = await listen(last);
    await settleEventLoop();
    expect(names(second.events())).toEqual(["message", "stats"]);
    expect(valueAt(second.events()[0]?.data, "subject")).toBe("missed");
  });

  test("an id of another process, or no id of ours, leads to reload", async () => {
    for (const id of ["AbCdEfGh.3", "x", "1", ".", ""]) {
      const client = await listen(id);
      await settleEventLoop();
      expect([id, names(client.events())]).toEqual([id, ["reload", "stats"]]);
      await client.cancel();
    }
  });

  test("it ends after ten minutes, and the client then gets what it missed", async () => {
    const first = await listen();
    await t.mail({ subject: "seen" });
    await t.caught();
    await settleEventLoop();
    t.clock.advance(600_000);
    await waitUntil(() => first.state.isOver);
    expect([first.state.error, t.inboxes.live.size()]).toEqual(["", 0]);
    expect(names(first.events())).toContain("message");
    for (const subject of ["missed 1", "missed 2"]) {
      await t.mail({ subject });
      await t.caught();
    }
    const second = await listen(first.events().at(-1)?.id ?? "");
    await settleEventLoop();
    const subjects = second.events().map(({ data }) => Object(data).subject);
    expect(subjects).toEqual(["missed 1", "missed 2", undefined]);
    expect(second.state.text).toStartWith(": connected\n\nretry: 1000\n\n");
    await second.cancel();
  });

  test("a revoked key keeps it for at most ten minutes", async () => {
    t = await inboxApp();
    const client = await listen();
    t.db.sqlite.run("UPDATE api_keys SET revoked_at = 1");
    t.clock.advance(600_000);
    await waitUntil(() => client.state.isOver);
    await t.mail({ subject: "after the revocation" });
    await t.caught();
    await settleEventLoop();
    expect(client.state.text).not.toContain("after the revocation");
    const answer = await t.call("GET", "/inboxes/default/events");
    expect(answer.status).toBe(401);
    await t.close();
  });

  test("a project can open 200, and those of another project are not affected", async () => {
    const stranger = await t.makeProject("stranger");
    const opened: Response[] = [];
    const statusOf = async (key: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const url = "http://localhost/inboxes/default/events";
      const response = await t.app.handle(new Request(url, { headers }));
      opened.push(response);
      return response.status;
    };
    for (let i = 0; i < 200; i++) expect(await statusOf(t.secretKey)).toBe(200);
    expect(await statusOf(t.secretKey)).toBe(429);
    expect(await statusOf(stranger.secretKey)).toBe(200);
    for (const { body } of opened) await body?.cancel();
  });

  test("a comment comes every 15 seconds", async () => {
    const client = await listen();
    for (let i = 0; i < 3; i++) {
      t.clock.advance(15_000);
      await settleEventLoop();
    }
    expect(client.state.text.match(/^: /gm)).toHaveLength(4);
    await client.cancel();
  });

  test("the stop of the server ends it", async () => {
    const own = await inboxApp({ config: { port: 0 } });
    const port = await own.app.listen();
    const head = ["GET /inboxes/default/events HTTP/1.1", `Authorization: Bearer ${own.secretKey}`];
    const request = openRequest({ port, head });
    await waitUntil(() => own.inboxes.live.size() === 1);
    await own.close();
    await request.closed;
  });

  test("a client that disconnects is forgotten", async () => {
    const own = await inboxApp({ config: { port: 0 } });
    const port = await own.app.listen();
    const head = ["GET /inboxes/default/events HTTP/1.1", `Authorization: Bearer ${own.secretKey}`];
    const request = openRequest({ port, head });
    await waitUntil(() => own.inboxes.live.size() === 1);
    request.destroy();
    await own.mail();
    await waitUntil(() => own.inboxes.live.size() === 0);
    await own.close();
  });
});

describe("limits", () => {
  function setup() {
    const app = bareApp(migratedDatabase());
    const changes = inboxChanges(app);
    const live = inboxLive(app);
    const open = (lastEventId: string | null = null, owner = "a") => {
      const inbox = { seq: 1, projectSeq: 1 };
      const counted = { counts: NO_MESSAGES, latest: changes.latest() };
      return live.open({ inbox, counted, owner, isAdmitted: () => true }, lastEventId);
    };
    /** The id of the event with this number, as the stream of this process numbers it. */
    async function idOf(number: number): Promise<string> {
      const first = collect(open());
      await settleEventLoop();
      await first.cancel();
      return `${first.events()[0]?.id.split(".")[0]}.${number}`;
    }
    return { changes, live, open, idOf };
  }

  test("200 clients get every event", async () => {
    const { changes, open } = setup();
    const clients = Array.from({ length: 200 }, () => collect(open()));
    for (let i = 0; i < 50; i++) changes.publish(1, { type: "deleted", id: `m${i}` });
    await settleEventLoop();
    for (const client of clients) expect(client.events()).toHaveLength(51);
  });

  test("refuses more than 200 clients of one owner, and more than 500 in all", () => {
    const { live, open } = setup();
    for (let i = 0; i < 200; i++) open();
    expect(() => open()).toThrow("You have 200 live connections open");
    for (let i = 200; i < 500; i++) open(null, `owner ${i % 2}`);
    expect(() => open(null, "another")).toThrow("The server has 500 live connections open");
    live.close();
    expect(live.size()).toBe(0);
    open();
  });

  test("a client that does not read is disconnected, and the others are not", async () => {
    const { changes, live, open } = setup();
    const slow = open();
    const fast = collect(open());
    for (let i = 0; i < 30; i++) {
      changes.publish(1, { type: "deleted", id: "x".repeat(64 * 1024) });
      await settleEventLoop();
    }
    expect(live.size()).toBe(1);
    expect(fast.events()).toHaveLength(31);
    const broken = collect(slow);
    await waitUntil(() => broken.state.isOver);
    expect(broken.state.error).toContain("does not read");
  });

  test("more changes than are kept lead to reload", async () => {
    const { changes, open, idOf } = setup();
    const seen = await idOf(1);
    for (let i = 0; i < 5_000; i++) changes.publish(1, { type: "deleted", id: "a" });
    const client = collect(open(seen));
    await settleEventLoop();
    expect(names(client.events())).toEqual(["reload", "stats"]);
  });

  test("changes that do not fit into the buffer of a client lead to reload", async () => {
    const { changes, live, open, idOf } = setup();
    const [seen, last] = [await idOf(0), await idOf(30)];
    for (let i = 0; i < 30; i++) {
      changes.publish(1, { type: "deleted", id: "x".repeat(64 * 1024) });
    }
    const client = collect(open(seen));
    await settleEventLoop();
    expect([names(client.events()), live.size()]).toEqual([["reload", "stats"], 1]);
    expect(client.events().at(-1)?.id).toBe(last);
  });
});
