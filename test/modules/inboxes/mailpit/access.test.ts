/** Tests the access to Mailpit's interface and its events, over real sockets. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { basic, mailpitApp } from "../../../support/mailpit.ts";
import { waitUntil } from "../../../support/eventually.ts";
import { inboxParts } from "../../../support/inbox-parts.ts";

let server: Awaited<ReturnType<typeof mailpitApp>>;
let dev: Awaited<ReturnType<typeof mailpitApp>>;
let serverPort = 0;
let devPort = 0;
beforeAll(async () => {
  server = await mailpitApp({ config: { port: 0 } });
  serverPort = await server.app.listen();
  dev = await mailpitApp({ hasOpenInboxes: true, config: { port: 0 } });
  devPort = await dev.app.listen();
});
afterAll(async () => {
  await server.close();
  await dev.close();
});

const get = async (port: number, headers: Record<string, string> = {}) => {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/messages`, { headers });
  return [answer.status, answer.headers.get("www-authenticate")?.split(" ")[0] ?? null];
};

describe("serve", () => {
  test("asks for credentials", async () => {
    expect(await get(serverPort)).toEqual([401, "Basic"]);
    expect(await get(serverPort, { authorization: basic("default", "wrong") })).toEqual([
      401,
      "Basic",
    ]);
    expect(await get(serverPort, { authorization: basic("other", "x") })).toEqual([401, "Basic"]);
    expect(await get(serverPort, { authorization: "Basic !" })).toEqual([401, "Basic"]);
  });

  test("accepts the name or the id of an inbox with its password", async () => {
    expect(await get(serverPort, { authorization: server.credentials })).toEqual([200, null]);
    const password = inboxParts(server.app.app).inboxes.passwordOf(server.inbox);
    expect(await get(serverPort, { authorization: basic(server.inbox.id, password) })).toEqual([
      200,
      null,
    ]);
  });

  test("shows only the inbox of the credentials", async () => {
    await server.deliver("Subject: mine\n\nx");
    const { inboxes } = inboxParts(server.app.app);
    const other = await server.app.writer.write(
      inboxes.create(server.project.seq, { name: "two" }),
    );
    const authorization = basic("two", inboxes.passwordOf(other));
    const answer = await fetch(`http://127.0.0.1:${serverPort}/api/v1/messages`, {
      headers: { authorization },
    });
    expect(await answer.json()).toMatchObject({ total: 0, messages: [] });
  });

  test("refuses a page of another origin", async () => {
    const foreign = { authorization: server.credentials, origin: "https://evil.example" };
    expect(await get(serverPort, foreign)).toEqual([403, null]);
    const own = { authorization: server.credentials, origin: `http://127.0.0.1:${serverPort}` };
    expect(await get(serverPort, own)).toEqual([200, null]);
  });
});

describe("dev", () => {
  test("needs no credentials from this machine", async () => {
    expect(await get(devPort)).toEqual([200, null]);
  });

  test("refuses another host name and another origin", async () => {
    expect(await get(devPort, { host: "evil.example" })).toEqual([403, null]);
    expect(await get(devPort, { origin: "https://evil.example" })).toEqual([403, null]);
  });
});

test("without the setting, the interface is not there", async () => {
  const off = await mailpitApp({ config: { mailpitApi: false } });
  expect((await off.mailpit("GET", "/api/v1/messages")).status).toBe(404);
  await off.close();
});

type Frame = { Type: string; Data: unknown };

async function openSocket(headers: Record<string, string> = {}) {
  const frames: Frame[] = [];
  const socket = new WebSocket(`ws://127.0.0.1:${devPort}/api/events`, { headers });
  socket.addEventListener("message", ({ data }) => void frames.push(JSON.parse(String(data))));
  const opened = await new Promise<boolean>((resolve) => {
    socket.addEventListener("open", () => resolve(true));
    socket.addEventListener("error", () => resolve(false));
  });
  return { frames, opened, close: () => socket.close() };
}

describe("the WebSocket /api/events", () => {
  test("sends each change as an event, in order, and the numbers", async () => {
    await dev.mailpit("DELETE", "/api/v1/messages");
    const { frames, opened, close } = await openSocket();
    expect(opened).toBe(true);
    await waitUntil(() => frames.length === 1);
    const id = await dev.deliver("From: a@example.com\nSubject: live\n\nx");
    await dev.mailpit("PUT", "/api/v1/messages", { body: { IDs: [id], Read: true } });
    await dev.mailpit("PUT", "/api/v1/tags", { body: { IDs: [id], Tags: ["t"] } });
    await dev.mailpit("DELETE", "/api/v1/messages", { body: { IDs: [id] } });
    await dev.deliver("Subject: second\n\nx");
    await dev.mailpit("DELETE", "/api/v1/messages");
    await waitUntil(() => frames.some(({ Type }) => Type === "truncate"));
    dev.clock.advance(1_000);
    await waitUntil(() => frames.at(-1)?.Type === "stats");
    const changes = frames.filter(({ Type }) => Type !== "stats");
    expect(changes).toEqual([
      {
        Type: "new",
        Data: expect.objectContaining({ ID: id, Subject: "live", Cc: [], Read: false }),
      },
      { Type: "update", Data: { ID: id, Read: true } },
      { Type: "update", Data: { ID: id, Tags: ["t"] } },
      { Type: "delete", Data: { ID: id } },
      { Type: "new", Data: expect.objectContaining({ Subject: "second" }) },
      { Type: "truncate", Data: null },
    ]);
    expect(frames.at(-1)).toEqual({
      Type: "stats",
      Data: { Total: 0, Unread: 0, Version: expect.any(String) },
    });
    close();
  });

  test("refuses a page of another origin", async () => {
    const { opened } = await openSocket({ origin: "https://evil.example" });
    expect(opened).toBe(false);
  });
});
