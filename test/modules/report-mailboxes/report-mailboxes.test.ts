/** Mailboxes of reports: fetched by IMAP and POP3 from servers on loopback, and set up. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mailboxPoller } from "../../../src/modules/report-mailboxes/mailbox-poller.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import {
  deliver,
  hostileServer,
  imapServer,
  type MailboxServer,
  pop3Server,
} from "../../support/mailbox-servers.ts";
import { expectError } from "../../support/refusal.ts";
import {
  bounceApp,
  type BounceApp,
  complaint,
  returning,
  returnPathOf,
  UNKNOWN_USER,
  vacation,
} from "../bounces/reports.ts";

let t: BounceApp;
let server: MailboxServer;
beforeAll(async () => {
  t = await bounceApp({ config: { allowPrivateAddresses: true } });
});
afterAll(() => t.close());

const poller = () => mailboxPoller(t.app.app);

let recipients = 0;
/** Each mail has a recipient of its own, because a bounce suppresses the address. */
const sent = () => t.sent(`person-${++recipients}@example.net`);

/** A report to the signed address of a mail, as a provider that catches all addresses keeps it. */
const addressed = (raw: string, emailId: string) =>
  `Delivered-To: ${returnPathOf(emailId)}\r\n${raw}`;

const inputOf = (protocol: "IMAP" | "POP3", { port, state }: MailboxServer) => ({
  protocol,
  security: "PLAIN",
  host: "localhost",
  port,
  username: state.username,
  password: state.password,
});

const add = (input: object) => t.create("/report-mailboxes", input, "data.id");

async function mailbox(id: string): Promise<unknown> {
  const items = (await t.call("GET", "/report-mailboxes")).at("data.items");
  if (!Array.isArray(items)) throw new Error("there is no list");
  return items.find((item) => item.id === id);
}

/** Lets a round of all mailboxes run that are due after so many minutes. */
async function runAfter(minutes: number): Promise<void> {
  t.clock.advance(minutes * 60_000);
  await settleEventLoop();
  await poller().idle();
}

async function runOnce(): Promise<void> {
  poller().start();
  await poller().idle();
}

afterEach(async () => {
  await poller().stop();
  for (const { id } of t.db.sqlite
    .query<{ id: string }, []>("SELECT id FROM report_mailboxes")
    .all())
    await t.call("DELETE", `/report-mailboxes/${id}`);
});

describe.each([
  ["IMAP" as const, imapServer],
  ["POP3" as const, pop3Server],
])("by %s", (protocol, makeServer) => {
  beforeEach(async () => {
    server = await makeServer();
  });
  afterEach(() => server.close());

  test("bounces and complaints are counted, and other mail is left alone", async () => {
    const [bounced, complained, foreign] = [await sent(), await sent(), await sent()];
    deliver(server.state, addressed(UNKNOWN_USER, bounced));
    deliver(server.state, addressed(complaint(), complained));
    deliver(server.state, returning([`Message-ID: <${crypto.randomUUID()}@acme.test>`]));
    deliver(server.state, vacation());
    deliver(server.state, "..\r\n.\r\nno mail at all");
    const id = await add(inputOf(protocol, server));
    await runOnce();
    expect(await t.email(bounced)).toMatchObject({ status: "BOUNCED" });
    expect(await t.email(complained)).toMatchObject({ status: "COMPLAINED" });
    expect(await t.email(foreign)).toMatchObject({ status: "SENT" });
    const counts = { received: 5, counted: 2, unknown: 3, failure: null };
    expect(await mailbox(id)).toMatchObject({ ...counts, lastFetchedAt: expect.any(String) });
    const left = server.state.messages.filter(({ isSeen }) => !isSeen);
    expect(left.length).toBe(3);
    expect(server.state.messages.length).toBe(protocol === "IMAP" ? 5 : 3);

    // The next round, five minutes later, reads only new messages.
    server.state.commands.length = 0;
    await runAfter(4);
    expect(server.state.commands).toEqual([]);
    const late = await sent();
    deliver(server.state, addressed(UNKNOWN_USER, late));
    await runAfter(1);
    expect(await t.email(late)).toMatchObject({ status: "BOUNCED" });
    expect(await mailbox(id)).toMatchObject({ received: 6, counted: 3, unknown: 3 });
  });

  test("a message counts once, also if the server ends the session after the commit", async () => {
    const id = await add(inputOf(protocol, server));
    const bounced = await sent();
    deliver(server.state, addressed(UNKNOWN_USER, bounced));
    const mark = protocol === "IMAP" ? "UID STORE" : "QUIT";
    server.state.breaksAt = (command) => command.startsWith(mark);
    await runOnce();
    const { failure } = Object(await mailbox(id));
    expect(failure).toMatch(/closed the connection|reset by the server/);
    server.state.breaksAt = () => false;
    await runAfter(5);
    expect(await mailbox(id)).toMatchObject({ received: 1, counted: 1, failure: null });
    expect(t.eventsOf(bounced).filter(({ name }) => name === "email.bounced").length).toBe(1);
    if (protocol === "POP3") expect(server.state.messages).toEqual([]);
  });

  test("nothing is marked, deleted or counted if the storage refuses the effect", async () => {
    const id = await add(inputOf(protocol, server));
    const bounced = await sent();
    deliver(server.state, addressed(UNKNOWN_USER, bounced));
    t.db.sqlite.run(
      `CREATE TEMP TRIGGER refuse BEFORE UPDATE OF counted ON report_mailboxes
         BEGIN SELECT RAISE(ABORT, 'no'); END`,
    );
    await runOnce();
    t.db.sqlite.run("DROP TRIGGER refuse");
    expect(await t.email(bounced)).toMatchObject({ status: "SENT" });
    const failure = "this server could not store what it read";
    expect(await mailbox(id)).toMatchObject({ received: 0, failure });
    expect(server.state.messages).toMatchObject([{ isSeen: false }]);
    await runAfter(5);
    expect(await t.email(bounced)).toMatchObject({ status: "BOUNCED" });
    expect(await mailbox(id)).toMatchObject({ received: 1, counted: 1, failure: null });
  });

  /** Answers to a request for a message. */
  const refusals =
    protocol === "IMAP"
      ? { temporary: "NO [UNAVAILABLE] later", gone: "NO [EXPUNGEISSUED] it is gone" }
      : { temporary: "-ERR [SYS/TEMP] later", gone: "-ERR no such message" };
  /** The command with which the client asks for the message that was delivered as the n-th. */
  const asksFor = (nth: number, uid: number) =>
    protocol === "IMAP" ? `UID FETCH ${uid} ` : `RETR ${nth}`;

  test("a message that is refused is shown and read later", async () => {
    const id = await add(inputOf(protocol, server));
    const [first, second] = [await sent(), await sent()];
    deliver(server.state, addressed(UNKNOWN_USER, first));
    const ask = asksFor(2, deliver(server.state, addressed(UNKNOWN_USER, second)));
    server.state.refuses = (command) => (command.startsWith(ask) ? refusals.temporary : null);
    await runOnce();
    expect(await t.email(first)).toMatchObject({ status: "BOUNCED" });
    expect(await t.email(second)).toMatchObject({ status: "SENT" });
    const failure = expect.stringContaining(`was refused: ${refusals.temporary}`);
    expect(await mailbox(id)).toMatchObject({ received: 1, counted: 1, failure });
    // The report that was read is marked or deleted all the same.
    const left = server.state.messages.filter(({ isSeen }) => !isSeen);
    expect(left.length).toBe(1);
    server.state.refuses = () => null;
    await runAfter(5);
    expect(await t.email(second)).toMatchObject({ status: "BOUNCED" });
    expect(await mailbox(id)).toMatchObject({ received: 2, counted: 2, failure: null });
  });

  test("a message that does not exist any more is skipped", async () => {
    const id = await add(inputOf(protocol, server));
    const bounced = await sent();
    const ask = asksFor(1, deliver(server.state, "Subject: hi\r\n\r\nhello\r\n"));
    deliver(server.state, addressed(UNKNOWN_USER, bounced));
    server.state.refuses = (command) => (command.startsWith(ask) ? refusals.gone : null);
    await runOnce();
    expect(await t.email(bounced)).toMatchObject({ status: "BOUNCED" });
    expect(await mailbox(id)).toMatchObject({ counted: 1, failure: null });
  });

  test("after five rounds a refused message blocks no later one that can be read", async () => {
    const id = await add(inputOf(protocol, server));
    const [blocked, later] = [await sent(), await sent()];
    const uid = deliver(server.state, addressed(UNKNOWN_USER, blocked));
    const ask = asksFor(1, uid);
    deliver(server.state, addressed(UNKNOWN_USER, later));
    const isAsk = (command: string) => /^(UID FETCH|RETR) /.test(command);
    server.state.refuses = (command) => (isAsk(command) ? refusals.temporary : null);
    await runOnce();
    for (const minutes of [5, 10, 20, 40]) await runAfter(minutes);
    expect(server.state.commands.filter(isAsk).length).toBe(5);
    // The sixth round asks for both. As none can be read, none is given up.
    await runAfter(60);
    expect(server.state.commands.filter(isAsk).length).toBe(7);
    expect(await mailbox(id)).toMatchObject({ received: 0, failure: expect.any(String) });
    server.state.refuses = (command) => (command.startsWith(ask) ? refusals.temporary : null);
    await runAfter(60);
    expect(await t.email(later)).toMatchObject({ status: "BOUNCED" });
    expect(await t.email(blocked)).toMatchObject({ status: "SENT" });
    expect(await mailbox(id)).toMatchObject({ received: 1, counted: 1, failure: null });
    server.state.commands.length = 0;
    await runAfter(5);
    expect(server.state.commands.filter(isAsk)).toEqual([]);
  });

  test("a round reads a hundred messages, and the next one follows at once", async () => {
    const id = await add(inputOf(protocol, server));
    for (let i = 0; i < 130; i++) deliver(server.state, "Subject: hi\r\n\r\nhello\r\n");
    await runOnce();
    expect(await mailbox(id)).toMatchObject({ received: 100, unknown: 100 });
    await runAfter(1 / 60);
    expect(await mailbox(id)).toMatchObject({ received: 130, unknown: 130 });
  });

  test("a wrong password is shown, tried less and less often, and at once after it was set", async () => {
    const logins = () =>
      server.state.commands.filter((command) => /^(AUTH|PASS)/.test(command)).length;
    const { password } = server.state;
    const id = await add({ ...inputOf(protocol, server), password: "a secret that is wrong" });
    await runOnce();
    const { failure } = Object(await mailbox(id));
    expect(failure).toStartWith("the server refused the login: ");
    expect(failure).not.toContain("secret");
    expect(failure).toContain("***");
    for (const minutes of [5, 10, 20]) await runAfter(minutes);
    expect(logins()).toBe(4);
    await runAfter(39);
    expect(logins()).toBe(4);
    const changed = await t.call("PATCH", `/report-mailboxes/${id}`, { password, name: "Bounces" });
    expect(changed.at("data")).toMatchObject({ name: "Bounces" });
    await waitUntil(() => logins() === 5);
    await poller().idle();
    expect(await mailbox(id)).toMatchObject({ failure: null, lastFetchedAt: expect.any(String) });
  });

  test("the test says what it saw", async () => {
    deliver(server.state, "Subject: hi\r\n\r\nhello\r\n");
    const id = await add(inputOf(protocol, server));
    const run = async () => (await t.call("POST", `/report-mailboxes/${id}/test`)).at("data");
    expect(await run()).toEqual({ isReached: true, messages: 1, reason: null });
    server.state.username = server.state.password = "changed";
    expect(await run()).toMatchObject({
      isReached: false,
      messages: null,
      reason: expect.stringContaining("the server refused the login"),
    });
    expect(await mailbox(id)).toMatchObject({ received: 0, lastFetchedAt: null });
  });
});

test("a folder with a new UIDVALIDITY is read again, and nothing counts twice", async () => {
  server = await imapServer();
  const id = await add(inputOf("IMAP", server));
  const bounced = await sent();
  deliver(server.state, addressed(UNKNOWN_USER, bounced));
  await runOnce();
  server.state.uidValidity++;
  await runAfter(5);
  expect(await mailbox(id)).toMatchObject({ received: 2, counted: 1, unknown: 0 });
  await server.close();
});

test("a login without AUTH=PLAIN quotes its name and password", async () => {
  server = await imapServer();
  server.state.capabilities = "IMAP4rev1";
  const id = await add(inputOf("IMAP", server));
  expect((await t.call("POST", `/report-mailboxes/${id}/test`)).at("data.isReached")).toBe(true);
  server.state.capabilities = "IMAP4rev1 LOGINDISABLED";
  expect((await t.call("POST", `/report-mailboxes/${id}/test`)).at("data.reason")).toBe(
    "the server takes no password over this connection",
  );
  await server.close();
});

test("a silent server delays no other mailbox, and ends with the server", async () => {
  server = await imapServer();
  const silent = await hostileServer(() => {});
  const quiet = await add({ ...inputOf("IMAP", server), port: silent.port });
  const id = await add(inputOf("IMAP", server));
  deliver(server.state, "Subject: hi\r\n\r\nhello\r\n");
  poller().start();
  await waitUntil(() => server.state.commands.includes("LOGOUT"));
  await waitUntil(
    () =>
      t.db.sqlite.query<{ n: number }, []>("SELECT sum(received) AS n FROM report_mailboxes").get()
        ?.n === 1,
  );
  const trial = t.call("POST", `/report-mailboxes/${quiet}/test`);
  await settleEventLoop();
  t.clock.advance(10_000);
  expect((await trial).at("data.reason")).toBe(
    "It is being read at this moment. Try again in a minute.",
  );
  t.clock.advance(21_000);
  await poller().idle();
  expect(await mailbox(quiet)).toMatchObject({ failure: "no answer within 30 s" });
  expect(await mailbox(id)).toMatchObject({ failure: null });
  await Promise.all([silent.close(), server.close()]);
});

test("a mailbox that is removed while it is read changes nothing any more", async () => {
  server = await imapServer();
  const id = await add(inputOf("IMAP", server));
  const bounced = await sent();
  deliver(server.state, addressed(UNKNOWN_USER, bounced));
  let isRemoved = false;
  server.state.breaksAt = (command) => {
    if (!isRemoved && command.startsWith("UID FETCH")) {
      isRemoved = true;
      t.db.sqlite.run("DELETE FROM report_mailboxes WHERE id = ?", [id]);
    }
    return false;
  };
  await runOnce();
  expect(isRemoved).toBe(true);
  expect(await t.email(bounced)).toMatchObject({ status: "SENT" });
  expect(server.state.messages).toMatchObject([{ isSeen: false }]);
  await server.close();
});

describe("a mailbox is refused", () => {
  const good = { protocol: "IMAP", host: "imap.acme.test", username: "a", password: "b" };
  test.each([
    ["port", { port: 25 }, "invalid_value"],
    ["folder", { protocol: "POP3", folder: "Bounces" }, "invalid_value"],
    ["host", { host: "imap.acme.test/x" }, "invalid_format"],
    ["username", { username: "a\r\nDELE 1" }, "invalid_format"],
    ["password", { password: "b\r\nDELE 1" }, "invalid_format"],
    ["folder", { folder: "a\r\nb" }, "invalid_format"],
    ["protocol", { protocol: "EWS" }, "invalid_value"],
    ["security", { security: "STARTTLS" }, "invalid_value"],
  ] as const)("for its %s: %j", async (field, wrong, code) => {
    const answer = await t.call("POST", "/report-mailboxes", { ...good, ...wrong });
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    expect(answer.text("error.message")).not.toContain("pattern");
  });

  test("after ten, and its password is not shown", async () => {
    for (let i = 0; i < 10; i++) await add(good);
    const answer = await t.call("POST", "/report-mailboxes", good);
    expectError(answer, { status: 409, code: "TOO_MANY_REPORT_MAILBOXES" });
    const listed = JSON.stringify((await t.call("GET", "/report-mailboxes")).body);
    expect(listed).toContain('"port":993');
    expect(listed).not.toContain("password");
  });

  test("by the guard, if it is on a private address", async () => {
    const guarded = await bounceApp();
    for (const host of ["localhost", "127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"]) {
      const id = await guarded.create("/report-mailboxes", { ...good, host }, "data.id");
      const answer = await guarded.call("POST", `/report-mailboxes/${id}/test`);
      expect(answer.at("data.reason")).toContain("no address that may be asked");
      await guarded.call("DELETE", `/report-mailboxes/${id}`);
    }
    await guarded.close();
  });
});
