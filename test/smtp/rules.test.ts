/** Failure rules at each stage of an SMTP transaction, and the transcripts of sessions. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { announcements } from "../../src/events/announcements.ts";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import { type InboxApp, inboxApp, invalid } from "../support/inbox.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";
import { expectError } from "../support/refusal.ts";
import { rawSmtp, sendRaw } from "../support/smtp-client.ts";

let t: InboxApp;
beforeAll(async () => {
  t = await inboxApp();
});
afterAll(() => t.close());

/** Removes the inboxes of the test before, with their rules, messages and sessions. */
beforeEach(async () => {
  await waitUntil(() => t.inboxes.sessions.size() === 0);
  for (const inbox of listAt((await t.call("GET", "/inboxes")).body, "data")) {
    const removed = await t.call("DELETE", `/inboxes/${stringAt(inbox, "name")}`);
    expect(removed.status).toBe(204);
  }
  t.db.sqlite.run("DELETE FROM inbox_sessions");
});

const RULES = "/inboxes/default/rules";
const addRule = (rule: object) => t.create(RULES, rule, "data.id");
const LATER = { reply: "451 4.7.1 later" };
const MESSAGE = "Subject: Hello\r\n\r\nHi";

/** The message of the error with which sending fails; empty if it succeeds. */
function refusalOf(sending: Promise<void>): Promise<string> {
  return sending.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

async function only() {
  const { body } = await t.call("GET", RULES);
  return valueAt(body, "data.0");
}

describe("a rule with a reply", () => {
  test("at connect refuses the session", async () => {
    await addRule({ stage: "connect", action: { reply: "421 4.3.2 Busy" } });
    const client = await rawSmtp(t.port);
    await client.closed;
    await t.call("DELETE", RULES);
    const next = await t.connect();
    expect(await next.say("NOOP\r\n")).toStartWith("250");
    next.end();
  });

  test("at auth refuses one user", async () => {
    await t.createInbox("app");
    await t.create(
      "/inboxes/app/rules",
      { stage: "auth", match: { user: "APP" }, action: { reply: "535 5.7.8 wrong" } },
      "data.id",
    );
    const plain = (user: string) => Buffer.from(`\0${user}\0secret`).toString("base64");
    const client = await t.connect();
    expect(await client.say(`AUTH PLAIN ${plain("app")}\r\n`)).toBe("535 5.7.8 wrong");
    expect(await client.say(`AUTH PLAIN ${plain("other")}\r\n`)).toStartWith("235");
    client.end();
  });

  test("at mail compares the sender", async () => {
    await addRule({ stage: "mail", match: { from: "*@bad.example" }, action: LATER });
    const client = await t.connect();
    expect(await client.say("MAIL FROM:<a@bad.example>\r\n")).toBe("451 4.7.1 later");
    expect(await client.say("MAIL FROM:<a@good.example>\r\n")).toStartWith("250");
    client.end();
  });

  test("at rcpt refuses one recipient of several", async () => {
    await addRule({
      stage: "rcpt",
      match: { to: "gone@example.com" },
      action: { reply: "550 5.1.1 no such user" },
    });
    const client = await t.connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    expect(await client.say("RCPT TO:<Gone@Example.com>\r\n")).toBe("550 5.1.1 no such user");
    expect(await client.say("RCPT TO:<here@example.com>\r\n")).toStartWith("250");
    client.end();
  });

  test("at data refuses the command, before the message is sent", async () => {
    await addRule({ stage: "data", match: { to: "b@example.com" }, action: LATER });
    const client = await t.connect();
    await client.say("MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\n");
    expect(await client.reply()).toStartWith("250");
    expect(await client.say("DATA\r\n")).toBe("451 4.7.1 later");
    expect(await client.say("NOOP\r\n")).toStartWith("250");
    client.end();
    expect(await refusalOf(t.mail({ to: "b@example.com" }))).toContain("451 4.7.1 later");
  });

  test("at dot refuses the whole message, and nothing is listed", async () => {
    await addRule({ stage: "dot", match: { to: "b@example.com" }, action: LATER });
    const client = await t.connect();
    expect(await sendRaw(client, MESSAGE)).toBe("451 4.7.1 later");
    client.end();
    expect(await t.caught()).toEqual([]);
  });

  test("at dot compares the decoded subject", async () => {
    await addRule({ stage: "dot", match: { subject: "*größe*" }, action: LATER });
    const client = await t.connect();
    const encoded = "Subject: =?utf-8?q?Deine_Gr=C3=B6=C3=9Fe?=\r\n\r\nHi";
    expect(await sendRaw(client, encoded)).toBe("451 4.7.1 later");
    expect(await sendRaw(client, MESSAGE)).toStartWith("250");
    client.end();
  });
});

describe("a rule", () => {
  test("fires as often as its times say, and counts; then mail is accepted", async () => {
    await addRule({ stage: "rcpt", action: LATER, times: 2 });
    const client = await t.connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    const rcpt = () => client.say("RCPT TO:<b@example.com>\r\n");
    expect([await rcpt(), await rcpt()]).toEqual(["451 4.7.1 later", "451 4.7.1 later"]);
    expect(await only()).toMatchObject({ fired: 2, remaining: 0, times: 2 });
    expect(await rcpt()).toStartWith("250");
    client.end();
  });

  test("fires not more often for clients at the same time", async () => {
    await addRule({ stage: "mail", action: LATER, times: 3 });
    const clients = await Promise.all(Array.from({ length: 8 }, () => t.connect()));
    const replies = await Promise.all(clients.map((c) => c.say("MAIL FROM:<a@example.com>\r\n")));
    expect(replies.filter((reply) => reply.startsWith("451"))).toHaveLength(3);
    for (const client of clients) client.end();
  });

  test("keeps its count in the database", async () => {
    await addRule({ stage: "mail", action: LATER, times: 5 });
    const client = await t.connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    client.end();
    const row = t.db.sqlite.query("SELECT fired, remaining FROM inbox_rules").get();
    expect(row).toEqual({ fired: 1, remaining: 4 });
  });

  test("with a delay replies later and then accepts", async () => {
    await addRule({ stage: "mail", action: { delayMs: 3_000 } });
    const client = await t.connect();
    let reply = "";
    const answered = client.say("MAIL FROM:<a@example.com>\r\n").then((text) => (reply = text));
    await waitUntil(() => t.countRows("inbox_rules") === 1);
    while (valueAt(await only(), "fired") === 0) await settleEventLoop();
    await settleEventLoop();
    t.clock.advance(2_999);
    await settleEventLoop();
    expect(reply).toBe("");
    t.clock.advance(1);
    expect(await answered).toStartWith("250");
    client.end();
  });

  test("with a disconnect closes the connection without a reply", async () => {
    await addRule({ stage: "data", action: { disconnect: true } });
    const client = await t.connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    await client.say("RCPT TO:<b@example.com>\r\n");
    expect(await client.say("DATA\r\n")).toBe("closed");
    expect(await t.caught()).toEqual([]);
  });

  test("with a probability of 0 never fires, with 1 always", async () => {
    await addRule({ stage: "mail", action: LATER, probability: 0 });
    const client = await t.connect();
    expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toStartWith("250");
    await client.say("RSET\r\n");
    await addRule({ stage: "mail", action: LATER, probability: 1 });
    expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toBe("451 4.7.1 later");
    client.end();
  });

  test("of one inbox does not concern another", async () => {
    await addRule({ stage: "mail", action: LATER });
    await t.createInbox("calm");
    await t.mail({}, { user: "calm", pass: "x" });
    expect(await refusalOf(t.mail())).toContain("451 4.7.1 later");
  });

  test("of the first creation comes first", async () => {
    await addRule({ stage: "mail", action: { reply: "450 4.2.0 first" }, times: 1 });
    await addRule({ stage: "mail", action: { reply: "450 4.2.0 second" } });
    const client = await t.connect();
    expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toBe("450 4.2.0 first");
    expect(await client.say("MAIL FROM:<a@example.com>\r\n")).toBe("450 4.2.0 second");
    client.end();
  });
});

describe("the routes of rules", () => {
  test("an unknown rule is 404, and the rule of another inbox too", async () => {
    const id = await addRule({ stage: "mail", action: LATER });
    await t.createInbox("other");
    for (const path of [`${RULES}/none`, `/inboxes/other/rules/${id}`]) {
      expectError(await t.call("DELETE", path), { status: 404, code: "RULE_NOT_FOUND" });
    }
    expect((await t.call("DELETE", `${RULES}/${id}`)).status).toBe(204);
    expect((await t.call("GET", RULES)).at("data")).toEqual([]);
  });

  test("an inbox has at most 100 rules", async () => {
    for (let i = 0; i < 100; i++) await addRule({ stage: "mail", action: LATER });
    const more = await t.call("POST", RULES, { stage: "mail", action: LATER });
    expectError(more, { status: 409, code: "CONFLICT" });
  });

  const bad: [rule: object, field: string, code: string][] = [
    [{ action: LATER }, "stage", "required"],
    [{ stage: "helo", action: LATER }, "stage", "invalid_value"],
    [{ stage: "mail" }, "action", "required"],
    [{ stage: "mail", action: {} }, "action", "required"],
    [{ stage: "mail", action: { ...LATER, delayMs: 5 } }, "action", "invalid_value"],
    [{ stage: "mail", action: { reply: "250 2.0.0 fine" } }, "action.reply", "invalid_format"],
    [{ stage: "mail", action: { reply: "451 5.7.1 mixed" } }, "action.reply", "invalid_format"],
    [{ stage: "mail", action: { reply: "451 a\r\n250 b" } }, "action.reply", "invalid_format"],
    [{ stage: "mail", action: { delayMs: 0 } }, "action.delayMs", "too_small"],
    [{ stage: "mail", action: { delayMs: 120_001 } }, "action.delayMs", "too_big"],
    [{ stage: "mail", action: { disconnect: false } }, "action.disconnect", "invalid_value"],
    [{ stage: "mail", action: LATER, times: 0 }, "times", "too_small"],
    [{ stage: "mail", action: LATER, probability: 2 }, "probability", "too_big"],
    [{ stage: "connect", action: LATER, match: { user: "a" } }, "match.user", "invalid_value"],
    [{ stage: "mail", action: LATER, match: { to: "a" } }, "match.to", "invalid_value"],
    [{ stage: "rcpt", action: LATER, match: { subject: "a" } }, "match.subject", "invalid_value"],
    [{ stage: "mail", action: LATER, match: { from: "" } }, "match.from", "too_small"],
  ];
  test("bad input is 422 and names the field", async () => {
    for (const [rule, field, code] of bad) {
      expectError(await t.call("POST", RULES, rule), invalid(field, code));
    }
  });
});

describe("sessions", () => {
  const SESSIONS = "/inboxes/default/sessions";
  const texts = (body: unknown) =>
    listAt(body, "data.transcript").map((line) => stringAt(line, "text"));

  test("show the timed transcript of the session of a message, without the password", async () => {
    const client = await t.connect();
    t.clock.advance(20);
    const secret = Buffer.from("\0me\0hunter2").toString("base64");
    await client.say(`AUTH PLAIN ${secret}\r\n`);
    await sendRaw(client, MESSAGE);
    const message = await t.call("GET", "/inboxes/default/messages/latest");
    const path = `${SESSIONS}/${message.text("data.envelope.sessionId")}`;
    const running = await t.call("GET", path);
    expect(running.at("data.endedAt")).toBeNull();
    await client.say("QUIT\r\n");
    await client.closed;
    let ended = await t.call("GET", path);
    while (ended.at("data.endedAt") === null) {
      await settleEventLoop();
      ended = await t.call("GET", path);
    }
    expect(texts(ended.body)).toContain("MAIL FROM:<a@example.com>");
    expect(texts(ended.body).at(-2)).toBe("QUIT");
    expect(JSON.stringify(ended.body)).not.toContain(secret);
    const auth = listAt(ended.body, "data.transcript").find((line) =>
      stringAt(line, "text").startsWith("AUTH"),
    );
    expect(auth).toMatchObject({ atMs: 20, from: "client" });
    const list = await t.call("GET", SESSIONS);
    expect(list.at("data.0")).toMatchObject({ peer: "127.0.0.1", id: ended.text("data.id") });
  });

  test("without a message belong to the inbox of their user", async () => {
    await t.createInbox("app");
    const client = await t.connect();
    await client.say(`AUTH PLAIN ${Buffer.from("\0app\0x").toString("base64")}\r\n`);
    await client.say("QUIT\r\n");
    await waitUntil(() => t.countRows("inbox_sessions") === 1);
    expect(listAt((await t.call("GET", "/inboxes/app/sessions")).body, "data")).toHaveLength(1);
    expect((await t.call("GET", SESSIONS)).at("data")).toEqual([]);
  });

  test("in which something was refused are found, with the first refusal", async () => {
    await addRule({ stage: "rcpt", match: { to: "*@slow.example" }, action: LATER });
    // The line of a client that looks like a refusal in the stored transcript.
    const line = 'EHLO ","S","5';
    for (const to of ["a@slow.example", "b@fast.example"]) {
      t.clock.advance(1);
      const client = await t.connect();
      expect(await client.say(`${line}\r\n`)).toStartWith("250");
      await sendRaw(client, MESSAGE, { to: [to] }).catch(() => "");
      await client.say("QUIT\r\n");
      await client.closed;
    }
    await waitUntil(() => t.countRows("inbox_sessions") === 2);
    const refusals = async (query: string) =>
      listAt((await t.call("GET", SESSIONS + query)).body, "data").map((session) =>
        valueAt(session, "refusal"),
      );
    expect(await refusals("?refused=true")).toEqual(["451 4.7.1 later"]);
    expect(await refusals("?refused=false")).toEqual([null]);
    expect(await refusals("")).toEqual([null, "451 4.7.1 later"]);
    await t.call("DELETE", RULES);
    await addRule({ stage: "mail", action: { disconnect: true } });
    t.clock.advance(1);
    const client = await t.connect();
    client.write("MAIL FROM:<a@example.com>\r\n");
    await client.closed;
    await waitUntil(() => t.countRows("inbox_sessions") === 3);
    const closed = "(a failure rule closed the connection)";
    expect(await refusals("?refused=true")).toEqual([closed, "451 4.7.1 later"]);
  });

  test("show a refusal while the client keeps the connection open", async () => {
    const rule = await addRule({ stage: "rcpt", action: LATER });
    const client = await t.connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    await client.say("RCPT TO:<b@example.com>\r\n");
    const { body } = await t.call("GET", `${SESSIONS}?refused=true`);
    expect(valueAt(body, "data.0.refusal")).toBe("451 4.7.1 later");
    client.end();
    const active = async () => (await t.call("GET", "/inboxes/default")).at("data.activeRules");
    expect(await active()).toBe(1);
    await t.call("DELETE", `${RULES}/${rule}`);
    expect(await active()).toBe(0);
  });

  test("that are refused, and changes of the rules, are told to the dashboard", async () => {
    let told = 0;
    announcements(t.app.app).onAnnounced(({ type }) => {
      if (type === "inbox.refusals") told++;
    });
    const toldOnce = async () => {
      await waitUntil(() => told > 0);
      told = 0;
    };
    await addRule({ stage: "rcpt", action: LATER });
    await toldOnce();
    const client = await t.connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    expect(told).toBe(0);
    await client.say("RCPT TO:<b@example.com>\r\n");
    await toldOnce();
    client.end();
    await toldOnce();
    await t.call("DELETE", RULES);
    await toldOnce();
  });

  test("are limited in lines and in number", async () => {
    await t.call("GET", "/inboxes/default");
    const client = await t.connect();
    client.write("NOOP\r\n".repeat(600));
    for (let i = 0; i < 600; i++) await client.reply();
    await client.say("QUIT\r\n");
    await waitUntil(() => t.countRows("inbox_sessions") === 1);
    expect((await t.call("GET", SESSIONS)).at("data.0.lines")).toBe(501);
    const quit = async () => (await rawSmtp(t.port)).say("QUIT\r\n");
    await Promise.all(Array.from({ length: 260 }, quit));
    await waitUntil(() => t.countRows("inbox_sessions") > 200);
    await settleEventLoop();
    expect(t.countRows("inbox_sessions")).toBeLessThanOrEqual(250);
  });

  test("are forgotten when they end, also if a reply was delayed until after that", async () => {
    await t.call("GET", "/inboxes/default");
    await addRule({ stage: "mail", action: { delayMs: 1_000 } });
    const client = await t.connect();
    client.write("MAIL FROM:<a@example.com>\r\n");
    while (valueAt(await only(), "fired") === 0) await settleEventLoop();
    client.end();
    await waitUntil(() => t.countRows("inbox_sessions") === 1);
    t.clock.advance(1_000);
    await settleEventLoop();
    expect(t.inboxes.sessions.size()).toBe(0);
  });

  test("an unknown one is 404, and a bad limit 422", async () => {
    expectError(await t.call("GET", `${SESSIONS}/none`), {
      status: 404,
      code: "SESSION_NOT_FOUND",
    });
    expectError(await t.call("GET", `${SESSIONS}?limit=0`), invalid("limit", "too_small"));
  });
});
