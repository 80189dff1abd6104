/** The SMTP listener that catches mail, with real connections. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createTransport } from "nodemailer";
import { createLog, silentLog } from "../../src/lib/log.ts";
import { parseEnvelope } from "../../src/modules/inboxes/envelope.ts";
import { createIndexer } from "../../src/modules/inboxes/indexing/indexer.ts";
import { captureApp } from "../support/capture.ts";
import { waitUntil } from "../support/eventually.ts";
import { networkAddress, rawSmtp, sendRaw } from "../support/smtp-client.ts";

const MESSAGE =
  "From: Ada <a@example.com>\r\nTo: Bob <b@example.com>\r\nSubject: Hello\r\n\r\nHi Bob";

/** Only the thread of the parser reads a message with parts. */
const MULTIPART =
  "From: a@example.com\r\nSubject: Two parts\r\nMIME-Version: 1.0\r\n" +
  "Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\n\r\nHi\r\n--x--\r\n";

let server: Awaited<ReturnType<typeof captureApp>>;
const logged: string[] = [];
const log = createLog({ level: "info", format: "text", write: (line) => void logged.push(line) });
beforeAll(async () => {
  server = await captureApp({ log });
});
afterAll(() => server.close());

beforeEach(async () => {
  for (const { seq } of await server.caught()) {
    await server.app.writer.write(() => server.inboxes.store.remove(seq));
  }
});

describe("a message", () => {
  test("is in the inbox right after the 250, with its envelope", async () => {
    const client = await server.connect();
    const reply = await sendRaw(client, MESSAGE, { to: ["b@example.com", "hidden@example.com"] });
    const [message] = await server.caught();
    expect(reply).toBe(`250 2.0.0 Ok: queued as ${message?.id}`);
    expect(message).toMatchObject({
      state: "PARSED",
      subject: "Hello",
      snippet: "Hi Bob",
      addresses: {
        from: [{ name: "Ada", address: "a@example.com" }],
        to: [{ name: "Bob", address: "b@example.com" }],
        bcc: [{ name: "", address: "hidden@example.com" }],
      },
    });
    expect(parseEnvelope(message?.envelope ?? "")).toMatchObject({
      from: "a@example.com",
      to: [{ address: "b@example.com" }, { address: "hidden@example.com" }],
      peer: "127.0.0.1",
      helo: "client.test",
      tls: null,
      hasBareLf: false,
    });
    client.end();
  });

  test("is stored byte for byte below the trace fields, without the dots that SMTP adds", async () => {
    const client = await server.connect();
    await sendRaw(client, `${MESSAGE}\r\n..\r\n...two\r\n\u00ff`);
    const [message] = await server.caught();
    const raw = Buffer.from(server.inboxes.store.raw(message?.seq ?? 0)).toString("utf8");
    expect(raw).toMatch(
      /^Return-Path: <a@example\.com>\r\nReceived: from client\.test \(\[127\.0\.0\.1\]\)\r\n\tby sender\.test with ESMTP id [a-z0-9]+\r\n\tfor <b@example\.com>;\r\n\t\w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000\r\nFrom: /,
    );
    expect(raw).toEndWith(`\r\n${MESSAGE}\r\n.\r\n..two\r\n\u00ff\r\n`);
    client.end();
  });

  test("of several MiB is stored in pieces and read back byte for byte", async () => {
    const client = await server.connect();
    const line = `${"0123456789abcdef".repeat(60)}\r\n`;
    const big = `${MESSAGE}\r\n${line.repeat(1_500)}`;
    expect(await sendRaw(client, big)).toStartWith("250 ");
    const [message] = await server.caught();
    const raw = Buffer.from(server.inboxes.store.raw(message?.seq ?? 0)).toString("latin1");
    expect(raw.endsWith(`\r\n${big}\r\n`)).toBe(true);
    expect(message).toMatchObject({ size: raw.length, state: "PARSED" });
    client.end();
  });

  test("with bare LFs is stored with CRLF and marked", async () => {
    const client = await server.connect();
    expect(await sendRaw(client, MESSAGE.replaceAll("\r\n", "\n"))).toStartWith("250 ");
    const [message] = await server.caught();
    expect(parseEnvelope(message?.envelope ?? "").hasBareLf).toBe(true);
    expect(message?.subject).toBe("Hello");
    client.end();
  });

  test("with a bare CR is refused after all of it was read, and the session goes on", async () => {
    const client = await server.connect();
    const reply = await sendRaw(client, `${MESSAGE}\rX\r\n.\r\r\nMAIL FROM:<evil@example.com>`);
    expect(reply).toStartWith("550 5.6.0 ");
    expect(await sendRaw(client, MESSAGE)).toStartWith("250 ");
    expect(await server.caught()).toHaveLength(1);
    client.end();
  });

  test.each([
    ["no content", ""],
    ["no header", "\r\njust text"],
    ["only a NUL", "\0"],
    ["8-bit headers", "Subject: \u00e4\u00f6\u00fc\r\n\r\nx"],
    ["an unknown charset", "Content-Type: text/plain; charset=klingon\r\n\r\nx"],
    [
      "a wrong boundary",
      'Content-Type: multipart/mixed; boundary="a"\r\n\r\n--b\r\n\r\nx\r\n--b--',
    ],
    [
      "truncated base64",
      "Content-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERi0",
    ],
    ["a line of 100 kB", `Subject: x\r\n\r\n${"y".repeat(100_000)}`],
  ])("with %s is kept", async (_, message) => {
    const client = await server.connect();
    expect(await sendRaw(client, Buffer.from(message, "latin1"))).toStartWith("250 ");
    expect(await server.caught()).toHaveLength(1);
    client.end();
  });

  test("with 10,000 parts, 100 levels or 10 MB of headers is kept, and others arrive meanwhile", async () => {
    const parts = "--a\r\nContent-Type: text/plain\r\n\r\nx\r\n".repeat(10_000);
    const nested = Array.from(
      { length: 100 },
      (_, i) => `Content-Type: multipart/mixed; boundary="b${i}"\r\n\r\n--b${i}\r\n`,
    ).join("");
    const hostile = [
      `Content-Type: multipart/mixed; boundary="a"\r\n\r\n${parts}--a--`,
      `${nested}Content-Type: text/plain\r\n\r\ndeep`,
      `${"X-Filler: y\r\n".repeat(800_000)}\r\nx`,
    ];
    const clients = await Promise.all([...hostile, MESSAGE].map(() => server.connect()));
    const replies = await Promise.all(
      [...hostile, MESSAGE].map((message, i) => {
        const client = clients[i];
        return client === undefined ? Promise.resolve("") : sendRaw(client, message);
      }),
    );
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual(["250", "250", "250", "250"]);
    const messages = await server.caught();
    expect(messages.map(({ subject }) => subject)).toContain("Hello");
    expect(messages).toHaveLength(4);
    for (const client of clients) client.end();
  }, 60_000);
});

describe("limits", () => {
  test("a message larger than 50 MiB is refused, and its pieces are removed", async () => {
    const client = await server.connect();
    const piece = Buffer.alloc(1024 * 1024, "y");
    for (let at = 998; at + 2 < piece.length; at += 1000) piece.write("\r\n", at, "latin1");
    await client.say("MAIL FROM:<a@example.com>\r\n");
    await client.say("RCPT TO:<b@example.com>\r\n");
    await client.say("DATA\r\n");
    for (let i = 0; i < 51; i++) {
      if (!client.socket.write(piece))
        await new Promise((done) => client.socket.once("drain", done));
    }
    expect(await client.say("\r\n.\r\n")).toStartWith("552 5.3.4 ");
    expect(await server.caught()).toHaveLength(0);
    expect(server.countRows("inbox_raw")).toBe(0);
    client.end();
  }, 60_000);

  test("a MAIL command that announces more than 50 MiB is refused", async () => {
    const client = await server.connect();
    const reply = await client.say("MAIL FROM:<a@example.com> SIZE=52428801\r\n");
    expect(reply).toStartWith("552 ");
    client.end();
  });

  test("parameters that are not known are accepted, as every sender and recipient is", async () => {
    const client = await server.connect();
    expect(await client.say("MAIL FROM:<a@example.com> FOO=BAR\r\n")).toStartWith("250 ");
    expect(await client.say("RCPT TO:<b@example.com> FOO=BAR\r\n")).toStartWith("250 ");
    client.end();
  });

  test("the recipient after the hundredth is refused, and the message reaches the others", async () => {
    const client = await server.connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    for (let i = 0; i < 100; i++) {
      expect(await client.say(`RCPT TO:<r${i}@example.com>\r\n`)).toStartWith("250 ");
    }
    expect(await client.say("RCPT TO:<r100@example.com>\r\n")).toStartWith("452 4.5.3");
    await client.say("DATA\r\n");
    expect(await client.say(`${MESSAGE}\r\n.\r\n`)).toStartWith("250 ");
    const [message] = await server.caught();
    expect(parseEnvelope(message?.envelope ?? "").to).toHaveLength(100);
    client.end();
  });

  test("a command line longer than 2048 octets ends the session", async () => {
    const client = await server.connect();
    client.write(`MAIL FROM:<${"a".repeat(3_000)}@example.com>\r\n`);
    await client.closed;
  });

  test("ten unknown commands end the session, with a reply to each", async () => {
    const client = await server.connect();
    for (let i = 0; i < 9; i++) expect(await client.say("BLAH\r\n")).toStartWith("500 5.5.2");
    expect(await client.say("BLAH\r\n")).toStartWith("421 ");
    await client.closed;
  });

  test("500 idle sessions do not keep others from delivering; one more gets 421", async () => {
    const idle = await Promise.all(Array.from({ length: 499 }, () => rawSmtp(server.port)));
    const client = await server.connect();
    expect(await sendRaw(client, MESSAGE)).toStartWith("250 ");
    const refused = await rawSmtp(server.port);
    await refused.closed;
    for (const each of [...idle, client]) each.end();
    expect(await server.caught()).toHaveLength(1);
  }, 60_000);

  test.skipIf(networkAddress === undefined)(
    "session 401 of another address is refused; others still connect",
    async () => {
      const open = await captureApp({ config: { captureSmtp: { host: "0.0.0.0", port: 0 } } });
      const connectFrom = () => rawSmtp(open.port, networkAddress);
      const sessions = await Promise.all(Array.from({ length: 400 }, connectFrom));
      const refused = await connectFrom();
      await refused.closed;
      const other = await open.connect();
      expect(await sendRaw(other, MESSAGE)).toStartWith("250 ");
      expect(await sessions[399]?.say("NOOP\r\n")).toStartWith("250 ");
      for (const each of [...sessions, other]) each.end();
      await open.close();
    },
    60_000,
  );
});

describe("a session", () => {
  test("greets at once and announces its extensions", async () => {
    const client = await rawSmtp(server.port);
    const ehlo = await client.say("EHLO client.test\r\n");
    for (const extension of [
      "PIPELINING",
      "8BITMIME",
      "SMTPUTF8",
      "ENHANCEDSTATUSCODES",
      "DSN",
      "SIZE 52428800",
      "AUTH PLAIN LOGIN CRAM-MD5",
    ]) {
      expect(ehlo).toContain(extension);
    }
    client.end();
  });

  test.each([
    ["garbage", "AUTH PLAIN !!!!\r\n", "5"],
    ["an unknown method", "AUTH XYZ\r\n", "504 5.5.4"],
    ["any credentials", `AUTH PLAIN ${btoa("\0anyone\0anything")}\r\n`, "235 2.7.0"],
  ])("answers AUTH with %s", async (_, command, expected) => {
    const client = await server.connect();
    expect(await client.say(command)).toStartWith(expected);
    client.end();
  });

  test("stores the user of AUTH, and uses it as the name of an inbox if there is one", async () => {
    const projectSeq = server.inboxes.inboxes.firstProject() ?? 0;
    const inbox = await server.app.writer.write(
      server.inboxes.inboxes.create(projectSeq, { name: "signup-test" }),
    );
    for (const user of ["signup-test", "someone"]) {
      const mailer = createTransport({
        host: "127.0.0.1",
        port: server.port,
        auth: { user, pass: "x" },
      });
      await mailer.sendMail({
        from: "a@example.com",
        to: "b@example.com",
        subject: user,
        text: "x",
      });
      mailer.close();
    }
    const [other] = await server.caught();
    const [own] = server.inboxes.store.page(inbox.seq, null, 10);
    expect(own).toMatchObject({ subject: "signup-test", username: "signup-test" });
    expect(other).toMatchObject({ subject: "someone", username: "someone" });
  });

  test("puts a message into the inbox that the recipient's domain names", async () => {
    const projectSeq = server.inboxes.inboxes.firstProject() ?? 0;
    const inbox = await server.app.writer.write(
      server.inboxes.inboxes.create(projectSeq, { name: "by-address" }),
    );
    const client = await server.connect();
    await sendRaw(client, MESSAGE, { to: [`ada@${inbox.id}.inbox.test`] });
    await server.caught();
    expect(server.inboxes.store.page(inbox.seq, null, 10)).toHaveLength(1);
    client.end();
  });

  test("that ends in the middle of DATA leaves nothing but one line in the log", async () => {
    logged.splice(0);
    const client = await server.connect();
    await client.say("MAIL FROM:<a@example.com>\r\n");
    await client.say("RCPT TO:<b@example.com>\r\n");
    await client.say("DATA\r\n");
    client.write(`${MESSAGE}\r\n${"y".repeat(900)}\r\n`.repeat(3_000));
    client.socket.end();
    await client.closed;
    const next = await server.connect();
    expect(await sendRaw(next, MESSAGE)).toStartWith("250 ");
    expect(await server.caught()).toHaveLength(1);
    expect(logged.filter((line) => line.includes("message"))).toEqual([
      expect.stringMatching(/ INFO +a client disconnected before its message was answered$/),
    ]);
    next.end();
  });

  test("keeps nothing of messages whose clients disconnect while a piece is stored", async () => {
    const stored = () => [server.countRows("inbox_messages"), server.countRows("inbox_raw")];
    const [messages = 0, pieces = 0] = stored();
    const big = `${MESSAGE}\r\n${`${"x".repeat(998)}\r\n`.repeat(1_200)}`;
    logged.splice(0);
    for (let i = 0; i < 5; i++) {
      const client = await server.connect();
      await client.say("MAIL FROM:<a@example.com>\r\n");
      await client.say("RCPT TO:<b@example.com>\r\n");
      await client.say("DATA\r\n");
      client.socket.write(big, () => client.socket.destroy());
    }
    await waitUntil(() => logged.filter((line) => line.includes("disconnected")).length === 5);
    const next = await server.connect();
    expect(await sendRaw(next, big)).toStartWith("250 ");
    const [message, ...others] = await server.caught();
    expect([message?.subject, others]).toEqual(["Hello", []]);
    expect(stored()).toEqual([messages + 1, pieces + 2]);
    next.end();
  });

  test("refuses a command with a bare CR and goes on", async () => {
    const client = await server.connect();
    expect(await client.say("MAIL FROM:<a@example.com>\rX\r\n")).toStartWith("500 5.5.2");
    expect(await sendRaw(client, MESSAGE)).toStartWith("250 ");
    client.end();
  });

  test("takes pipelined commands, and several messages", async () => {
    const client = await server.connect();
    client.write(
      "MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n" +
        `${MESSAGE}\r\n.\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>\r\nDATA\r\n` +
        `${MESSAGE}\r\n.\r\nQUIT\r\n`,
    );
    const codes: string[] = [];
    for (let i = 0; i < 9; i++) codes.push((await client.reply()).slice(0, 3));
    expect(codes).toEqual(["250", "250", "354", "250", "250", "250", "354", "250", "221"]);
    expect(await server.caught()).toHaveLength(2);
  });
});

describe("a message that was stored but not parsed when the process ended", () => {
  test("is parsed at the next start, and an incomplete one is removed", async () => {
    const first = await captureApp();
    const projectSeq = first.inboxes.inboxes.firstProject() ?? 0;
    const inbox = await first.app.writer.write(() => first.inboxes.inboxes.defaultOf(projectSeq));
    await first.inboxes.indexer.stop();
    const client = await first.connect();
    await sendRaw(client, MESSAGE);
    client.end();
    const arrival = first.inboxes.intake.open(inbox.seq);
    await arrival.add(Buffer.alloc(3 * 1024 * 1024, "z"));
    expect(first.countRows("inbox_messages")).toBe(2);
    const second = await captureApp({ db: first.db, project: "second" });
    const messages = await second.caught();
    expect(messages.map(({ state, subject }) => [state, subject])).toEqual([["PARSED", "Hello"]]);
    expect(second.countRows("inbox_messages")).toBe(1);
    await second.close();
    await first.close();
  });

  test("is parsed at the next start if the process stopped while the parser worked on it", async () => {
    const first = await captureApp();
    await first.inboxes.indexer.stop();
    const client = await first.connect();
    await sendRaw(client, MULTIPART);
    client.end();
    const { promise: parsing, resolve: begin } = Promise.withResolvers<void>();
    const indexer = createIndexer({
      ...first.app,
      ...first.inboxes,
      db: first.db,
      clock: first.clock,
      log: silentLog,
      parser: {
        index() {
          begin();
          return new Promise(() => {});
        },
        isSlow: () => false,
      },
    });
    indexer.start();
    await parsing;
    await indexer.stop();
    const states = first.db.sqlite.query("SELECT state FROM inbox_messages").values();
    expect(states).toEqual([["RECEIVED"]]);
    const second = await captureApp({ db: first.db, project: "second" });
    const messages = await second.caught();
    expect(messages.map(({ state, subject }) => [state, subject])).toEqual([
      ["PARSED", "Two parts"],
    ]);
    await second.close();
    await first.close();
  });
});
