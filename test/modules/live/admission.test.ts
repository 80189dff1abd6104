/** Live streams, and requests that wait, end with the session, the membership, the user or the key with which they were opened. */

import { beforeEach, describe, expect, test } from "bun:test";
import { settleEventLoop } from "../../support/eventually.ts";
import { readInBackground } from "../../support/event-stream.ts";
import { emptyInboxes, type InboxApp } from "../../support/inbox.ts";
import { removeUsers, signIn, type UserSession } from "../../support/session.ts";

const SECOND_MS = 1_000;

const inboxes = emptyInboxes();
let t: InboxApp;
let owner: UserSession;
let member: Awaited<ReturnType<typeof signIn>>;
beforeEach(async () => {
  t = await inboxes.next();
  removeUsers(t);
  owner = await signIn(t, { email: "owner@example.com" });
  member = await signIn(t, { email: "member@example.com", isOwner: false });
  await t.app.writer.write(() =>
    t.app.accounts.members.put(t.project.seq, member.user.seq, "EDITOR"),
  );
});

async function open(path: string, headers: Record<string, string>) {
  const response = await t.app.handle(new Request(`http://localhost${path}`, { headers }));
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status}`);
  const stream = readInBackground(response.body);
  await settleEventLoop();
  return stream;
}

const asOwner = (method: string, path: string, body?: unknown) =>
  owner.call(method, path, body, { "x-project": t.project.id });

const PATHS = ["/app/api/live", "/inboxes/default/events"];
const ENDS: [name: string, end: () => Promise<unknown>][] = [
  ["the user signs out", () => member.post("/app/api/logout")],
  ["the member is removed", () => asOwner("DELETE", `/team/${member.user.id}`)],
  [
    "the user is disabled",
    () => asOwner("PATCH", `/app/api/users/${member.user.id}`, { isDisabled: true }),
  ],
  [
    "the session is ended elsewhere",
    () => t.app.writer.write(() => t.app.accounts.sessions.endOthers(member.user.seq, null)),
  ],
];

test.each(ENDS)("a request that waits for a message gets none after %s", async (_, end) => {
  const waiting = member.get(`/inboxes/default/wait?project=${t.project.id}&query=secret`);
  await settleEventLoop();
  await end();
  await t.mail({ subject: "secret" });
  const answer = await waiting;
  expect(answer.status).toBe(403);
  expect(JSON.stringify(answer.body)).not.toContain("secret");
});

describe.each(PATHS)("a stream of %s", (path) => {
  test.each(ENDS)("gets nothing more after %s, and ends", async (_, end) => {
    const query = `?project=${t.project.id}`;
    const stream = await open(path + query, { cookie: member.cookie(), host: "localhost" });
    const other = await open(path, { authorization: `Bearer ${t.secretKey}` });
    await end();
    const before = stream.state.text;
    await t.mail({ subject: "secret" });
    await t.caught();
    t.clock.advance(SECOND_MS);
    await settleEventLoop();
    expect([stream.state.text, stream.state.isOver]).toEqual([before, true]);
    expect(other.state.isOver).toBe(false);
    expect(other.state.text).toContain(path === PATHS[0] ? "inbox.message" : "secret");
    await other.cancel();
  });

  test("ends within two seconds after its key is revoked, although nothing happens", async () => {
    const created = await asOwner("POST", "/keys", { name: "live" });
    const key = created.text("data.text");
    const stream = await open(path, { authorization: `Bearer ${key}` });
    t.clock.advance(2 * SECOND_MS);
    expect(stream.state.isOver).toBe(false);
    await asOwner("DELETE", `/keys/${created.text("data.id")}`);
    t.clock.advance(2 * SECOND_MS);
    await settleEventLoop();
    expect(stream.state).toMatchObject({ isOver: true, error: "" });
  });
});
