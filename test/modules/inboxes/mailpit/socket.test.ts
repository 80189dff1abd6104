/** Tests the limits of the WebSocket /api/events, over real sockets. */

import { afterEach, beforeEach, expect, test } from "bun:test";
import { basic, mailpitApp } from "../../../support/mailpit.ts";
import { settleEventLoop, waitUntil } from "../../../support/eventually.ts";
import { openRequest, rawRequest } from "../../../support/raw-http.ts";
import { inboxParts } from "../../../support/inbox-parts.ts";

const LIFETIME_MS = 600_000;

let t: Awaited<ReturnType<typeof mailpitApp>>;
let port = 0;
beforeEach(async () => {
  t = await mailpitApp({ config: { port: 0 } });
  port = await t.app.listen();
});
afterEach(() => t.close());

const size = () => inboxParts(t.app.app).sockets.size();

/** Opens a socket. `state` has what arrived, and the code and reason with which it was closed. */
async function openSocket(authorization: string | null = t.credentials) {
  const state = { frames: 0, isOpen: false, code: 0, reason: "" };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/events`, {
    headers: authorization === null ? {} : { authorization },
  });
  socket.addEventListener("message", () => void state.frames++);
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => {
      Object.assign(state, { isOpen: false, code, reason });
      resolve();
    });
  });
  await new Promise<void>((resolve) => {
    socket.addEventListener("open", () => {
      state.isOpen = true;
      resolve();
    });
    socket.addEventListener("error", () => resolve());
  });
  return { state, closed, close: () => socket.close() };
}

type OpenedSocket = Awaited<ReturnType<typeof openSocket>>;

const upgradeHead = (authorization: string) => [
  "GET /api/events HTTP/1.1",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  `Authorization: ${authorization}`,
];

/** The credentials of an inbox of another project, with its own name for this test. */
async function credentialsOfStranger(): Promise<string> {
  const { project } = await t.makeProject("stranger");
  const { inboxes } = inboxParts(t.app.app);
  const inbox = await t.app.writer.write(inboxes.create(project.seq, { name: "theirs" }));
  return basic(inbox.id, inboxes.passwordOf(inbox));
}

test("a project can open 200, and those of another project are not affected", async () => {
  const stranger = await credentialsOfStranger();
  const sockets = [];
  for (let i = 0; i < 200; i++) sockets.push(await openSocket());
  expect(size()).toBe(200);
  const answer = await rawRequest({ port, head: upgradeHead(t.credentials) });
  expect(answer).toStartWith("HTTP/1.1 429 ");
  expect(answer).toMatch(/^retry-after: 5\r$/im);
  expect(answer).toContain("You have 200 live connections open");
  expect(answer).toContain("Close some of them");
  const other = await openSocket(stranger);
  expect(other.state.isOpen).toBe(true);
  sockets[0]?.close();
  await waitUntil(() => size() === 200);
  expect((await openSocket()).state.isOpen).toBe(true);
});

test("the inboxes of a project count together", async () => {
  const { inboxes } = inboxParts(t.app.app);
  const second = await t.app.writer.write(inboxes.create(t.project.seq, { name: "two" }));
  const credentials = [t.credentials, basic("two", inboxes.passwordOf(second))];
  for (let i = 0; i < 200; i++) await openSocket(credentials[i % 2]);
  expect((await openSocket(credentials[1])).state.isOpen).toBe(false);
});

test("requests that wait for the same commit are closed with 1013 beyond the limit", async () => {
  const own = await mailpitApp({ hasOpenInboxes: true, config: { port: 0 } });
  port = await own.app.listen();
  // The default inbox is missing, so all requests wait for the commit that creates it.
  await own.app.writer.write(() => inboxParts(own.app.app).inboxes.remove(own.inbox.seq));
  const sockets = await Promise.all(Array.from({ length: 230 }, () => openSocket(null)));
  const isOpen = ({ state }: OpenedSocket) => state.isOpen;
  await waitUntil(() => sockets.filter(isOpen).length === 200);
  expect(inboxParts(own.app.app).sockets.size()).toBe(200);
  const closed = sockets.filter(({ state }) => state.code === 1013);
  expect(closed.length).toBeGreaterThan(0);
  for (const { state } of closed) {
    expect(state.reason).toContain("You have 200 live connections open");
  }
  await own.close();
});

test("a request without credentials is refused before it counts", async () => {
  const answer = await rawRequest({ port, head: upgradeHead(basic("default", "wrong")) });
  expect(answer).toStartWith("HTTP/1.1 401 ");
  expect(size()).toBe(0);
});

test("a connection ends after ten minutes, and the client can connect again", async () => {
  const first = await openSocket();
  t.clock.advance(LIFETIME_MS - 1);
  await settleEventLoop();
  expect([first.state.isOpen, size()]).toEqual([true, 1]);
  t.clock.advance(1);
  await first.closed;
  expect(first.state.code).toBe(1001);
  expect(first.state.reason).toContain("Connect again");
  expect(size()).toBe(0);
  const second = await openSocket();
  await waitUntil(() => second.state.frames === 1);
});

test("a client that closes its connection gives its place back", async () => {
  const { close } = await openSocket();
  await waitUntil(() => size() === 1);
  close();
  await waitUntil(() => size() === 0);
  t.clock.advance(LIFETIME_MS);
  expect(size()).toBe(0);
});

test("a client that does not read is disconnected, and the others are not", async () => {
  const fast = await openSocket();
  const slow = openRequest({ port, head: upgradeHead(t.credentials) });
  await waitUntil(() => size() === 2);
  slow.pause();
  const { changes } = inboxParts(t.app.app);
  let published = 0;
  while (size() === 2 && published < 1_000) {
    changes.publish(t.inbox.seq, { type: "deleted", id: "x".repeat(64 * 1024) });
    published++;
    await waitUntil(() => fast.state.frames > published);
  }
  expect(size()).toBe(1);
  expect(fast.state).toMatchObject({ isOpen: true, frames: published + 1 });
  slow.destroy();
});

test("a burst of as many changes as are published one by one disconnects nobody", async () => {
  const client = await openSocket();
  const { changes } = inboxParts(t.app.app);
  for (let i = 0; i < 500; i++) {
    changes.publish(t.inbox.seq, { type: "updated", id: `message-${i}`, tags: ["x".repeat(900)] });
  }
  await waitUntil(() => client.state.frames === 501);
  expect(client.state.isOpen).toBe(true);
});

test("the stop of the server ends it", async () => {
  const own = await mailpitApp({ config: { port: 0 } });
  port = await own.app.listen();
  const client = await openSocket(own.credentials);
  expect(client.state.isOpen).toBe(true);
  await own.close();
  await client.closed;
  expect(client.state.code).toBe(1001);
});
