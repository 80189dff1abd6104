/** The SMTP listener for submission, with real connections. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { isAscii } from "node:buffer";
import { once } from "node:events";
import { createTransport } from "nodemailer";
import { simpleParser } from "mailparser";
import { changeProject } from "../../src/modules/projects.ts";
import { waitUntil } from "../support/eventually.ts";
import { submissionApp, plain } from "../support/submission.ts";
import { relayForms } from "../support/relay-forms.ts";
import { type RawSmtp, sendRaw } from "../support/smtp-client.ts";
import { createKey, revokeKey } from "../../src/modules/keys.ts";

const HEADER =
  "Message-ID: <own@acme.test>\r\nDate: Mon, 02 Mar 2026 10:00:00 +0000\r\n" +
  'From: "Ada, the first" <ada@acme.test>\r\nTo: Bob <bob@example.com>\r\n' +
  "Subject: Hello\r\n =?utf-8?q?w=C3=B6rld?=\r\nMIME-Version: 1.0\r\n";
const MESSAGE = `${HEADER}Content-Type: text/plain; charset=us-ascii\r\n\r\nHi Bob`;

let server: Awaited<ReturnType<typeof submissionApp>>;
beforeAll(async () => {
  server = await submissionApp();
});
afterAll(() => server.close());

beforeEach(() => {
  for (const table of ["captured_messages", "attempts", "emails", "messages", "suppressions"])
    server.db.sqlite.run(`DELETE FROM ${table}`);
  server.clock.advance(60_000);
});

const counts = () => ["emails", "messages", "message_pieces"].map(server.countRows);
/** Sends a message with these header fields and returns the reply. */
async function submit(fields: string, rest: { body?: string; to?: string[] } = {}) {
  const client = await server.signIn();
  const reply = await sendRaw(client, `${fields}\r\n\r\n${rest.body ?? "Hi"}`, rest);
  client.end();
  return reply;
}

describe("a submitted message", () => {
  test("leaves byte for byte, and its record has its subject and Message-ID", async () => {
    const client = await server.signIn();
    const reply = await sendRaw(client, MESSAGE, { to: ["BOB@example.com"] });
    expect(reply).toMatch(/^250 2\.0\.0 Ok: queued as [0-9a-f-]{36}$/);
    expect(await server.sent(1)).toEqual([`${MESSAGE}\r\n`]);
    const record = await server.call("GET", `/emails/${reply.slice(-36)}`);
    expect(record.at("data")).toMatchObject({
      to: "bob@example.com",
      from: "ada@acme.test",
      subject: "Hello wörld",
      messageId: "<own@acme.test>",
      status: "SENT",
      source: "TRANSACTIONAL",
    });
    client.end();
  });

  test("is queued for each recipient, whose contacts are created unsubscribed", async () => {
    const to = Array.from({ length: 20 }, (_, n) => `user${n}@example.com`);
    expect(
      await submit("From: a@acme.test\r\nTo: list@acme.test", { to: [...to, to[0] ?? ""] }),
    ).toStartWith("250 ");
    expect(counts()).toEqual([20, 1, 1]);
    const raws = await server.sent(20);
    expect(new Set(raws).size).toBe(1);
    const contact = server.db.sqlite
      .query("SELECT is_subscribed FROM contacts WHERE email = 'user7@example.com'")
      .get();
    expect(contact).toEqual({ is_subscribed: 0 });
  });

  test("loses Bcc and our own fields, and gets the fields that are missing", async () => {
    const fields =
      "Return-Path: <evil@evil.test>\r\nFrom: a@acme.test\r\nReturn-path : <b@evil.test>\r\nBcc: hidden@example.com,\r\n other@example.com\r\nX-Kept: 1\r\n" +
      "X-Mailstead-Type: transactional\r\nMessage-ID: \r\nX-Mailstead-Anything: 2\r\nSubject: S";
    const reply = await submit(fields);
    const [raw = ""] = await server.sent(1);
    expect(raw).toMatch(
      /^Message-ID: <[0-9a-f-]{36}@acme\.test>\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} \+0000\r\nMIME-Version: 1\.0\r\nFrom: a@acme\.test\r\nX-Kept: 1\r\nSubject: S\r\n\r\nHi\r\n$/,
    );
    expect(raw).toContain(`<${reply.slice(-36)}@acme.test>`);
  });

  test("leaves with a long header field folded at its blanks", async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `<thread${n}.${"x".repeat(24)}@mail.example>`);
    const fields = `From: a@acme.test\r\nReferences: ${ids.join(" ")}\r\nX-A:  kept   as it is`;
    expect(await submit(fields)).toStartWith("250 ");
    const [sent = ""] = await server.sent(1);
    expect(sent).toContain(`X-A:  kept   as it is\r\n`);
    const [, folded = ""] = /^References:([^]*?)\r\n(?![ \t])/m.exec(sent) ?? [];
    expect(folded.split(/\s+/).slice(1)).toEqual(ids);
    expect(Math.max(...sent.split("\r\n").map(({ length }) => length))).toBeLessThan(200);
  });

  test("to a suppressed address is recorded and not sent, as over HTTP", async () => {
    await server.call("POST", "/suppressions", { email: "bob@example.com" });
    const reply = await submit("From: a@acme.test", { to: ["bob@example.com"] });
    const record = await server.call("GET", `/emails/${reply.slice(-36)}`);
    expect(record.at("data.status")).toBe("SUPPRESSED");
    expect(server.eventNames()).toContain("email.suppressed");
  });

  test("of several MiB is stored in pieces and leaves byte for byte", async () => {
    const body = "0123456789".repeat(7).concat("\r\n").repeat(20_000);
    const client = await server.signIn();
    expect(await sendRaw(client, `${HEADER}\r\n${body}`)).toStartWith("250 ");
    expect(server.countRows("message_pieces")).toBeGreaterThan(2);
    const [raw] = await server.sent(1);
    expect(raw === `${HEADER}\r\n${body}\r\n`).toBe(true);
    client.end();
  });

  test("leaves nothing if its client disconnects, also in the middle of a large one", async () => {
    const client = await server.signIn();
    await client.say("MAIL FROM:<a@acme.test>\r\n");
    await client.say("RCPT TO:<bob@example.com>\r\n");
    await client.say("DATA\r\n");
    client.write(`${HEADER}\r\n${"a line\r\n".repeat(100_000)}`);
    await waitUntil(() => server.countRows("message_pieces") > 0);
    client.end();
    await client.closed;
    await waitUntil(() => server.countRows("messages") === 0);
    expect(counts()).toEqual([0, 0, 0]);
  });
});

describe("a message is refused, and nothing is stored,", () => {
  const cases: [name: string, fields: string, reply: string][] = [
    ["without From", "To: b@example.com", "550 5.6.0 The message has no header From"],
    ["with two From", "From: a@acme.test\r\nFrom: b@acme.test", "550 5.6.0 The message has more"],
    [
      "with two Date",
      "From: a@acme.test\r\nDate: Mon, 02 Mar 2026 10:00:00 +0000\r\ndate: x",
      "550 5.6.0 The message has more than one header Date",
    ],
    [
      "with two Message-ID",
      "From: a@acme.test\r\nMessage-ID: <1@acme.test>\r\nMessage-Id : <2@acme.test>",
      "550 5.6.0 The message has more than one header Message-ID",
    ],
    [
      "with an empty Message-ID beside another one",
      "From: a@acme.test\r\nMessage-ID:\r\nMessage-ID: <2@acme.test>",
      "550 5.6.0 The message has more than one header Message-ID",
    ],
    ["with two mailboxes in From", "From: a@acme.test, b@acme.test", "550 5.1.7 "],
    [
      "with a group in From",
      "From: All: a@acme.test;",
      "550 5.1.7 The header From cannot be used: it is a group",
    ],
    ["with an address in the name", "From: x@evil.test <a@acme.test>", "550 5.1.7 "],
    ["with an empty From", "From: ", "550 5.1.7 "],
    [
      "from an unverified domain",
      "From: a@other.test",
      "550 5.7.1 The sender's domain other.test is not a verified domain",
    ],
    ["from a subdomain of the verified one", "From: a@sub.acme.test", "550 5.7.1 "],
    [
      "with a line that is not a field",
      "From: a@acme.test\r\nno field",
      "550 5.6.0 The header has a line",
    ],
    [
      "with a long line in the header",
      `From: a@acme.test\r\nX: ${"x".repeat(1000)}`,
      "550 5.6.0 A line of the header",
    ],
    [
      "that was received 26 times",
      `From: a@acme.test${"\r\nReceived: by x".repeat(26)}`,
      "554 5.4.6 ",
    ],
    [
      "that was here three times",
      `From: a@acme.test${"\r\nReceived: from sender.test by x".repeat(3)}`,
      "554 5.4.6 ",
    ],
  ];
  for (const [name, fields, reply] of cases) {
    test(name, async () => {
      expect(await submit(fields)).toStartWith(reply);
      expect(counts()).toEqual([0, 0, 0]);
    });
  }

  test("with a header that is too large", async () => {
    const fields = `From: a@acme.test${`\r\nX: ${"x".repeat(900)}`.repeat(300)}`;
    expect(await submit(fields)).toStartWith("552 5.3.4 The header");
    expect(counts()).toEqual([0, 0, 0]);
  });

  test("with a header of more than a MiB", async () => {
    const fields = `From: a@acme.test${`\r\nX: ${"x".repeat(900)}`.repeat(1_300)}`;
    expect(await submit(fields)).toStartWith("552 5.3.4 The header");
    expect(counts()).toEqual([0, 0, 0]);
  });

  test("that is larger than the limit, announced or not", async () => {
    const small = await submissionApp({ config: { smtpMaxBytes: 100_000 } });
    const client = await small.signIn();
    expect(await client.say("MAIL FROM:<a@acme.test> SIZE=100001\r\n")).toStartWith("552 ");
    const reply = await sendRaw(
      client,
      `From: a@acme.test\r\n\r\n${"x".repeat(100)}\r\n`.repeat(1_200),
    );
    expect(reply).toStartWith("552 5.3.4 ");
    expect(small.countRows("messages")).toBe(0);
    client.end();
    await small.close();
  });

  const smuggled: [name: string, body: string, reply: string][] = [
    ["with a bare LF", "a\nb", "550 5.6.0 The message has a bare LF"],
    ["with a bare CR", "a\rb", "550 5.6.0 The message has a bare CR"],
    ["with <LF>.<LF>", "a\n.\nMAIL FROM:<x@evil.test>", "550 5.6.0 "],
    ["with <LF>.<CRLF>", "a\n.\r\nMAIL FROM:<x@evil.test>", "550 5.6.0 "],
    ["with <CR>.<CRLF>", "a\r.\r\nMAIL FROM:<x@evil.test>", "550 5.6.0 "],
    ["with <CRLF>.<CR>", "a\r\n.\rMAIL FROM:<x@evil.test>", "550 5.6.0 "],
    ["with <CRLF>.<LF>", "a\r\n.\nMAIL FROM:<x@evil.test>", "550 5.6.0 "],
  ];
  for (const [name, body, reply] of smuggled) {
    test(name, async () => {
      expect(await submit("From: a@acme.test", { body })).toStartWith(reply);
      expect(counts()).toEqual([0, 0, 0]);
    });
  }
});

describe("an invalid recipient", () => {
  test("is refused at RCPT; the other 99 get the message", async () => {
    const client = await server.signIn();
    await client.say("MAIL FROM:<a@acme.test>\r\n");
    const replies: string[] = [];
    for (let n = 0; n < 100; n++) {
      const address = n === 50 ? "no domain@" : `u${n}@example.com`;
      replies.push((await client.say(`RCPT TO:<${address}>\r\n`)).slice(0, 3));
    }
    expect(replies.filter((code) => code === "250")).toHaveLength(99);
    expect(replies[50]).toMatch(/^5/);
    await client.say("DATA\r\n");
    expect(await client.say("From: a@acme.test\r\n\r\nHi\r\n.\r\n")).toStartWith("250 ");
    expect(server.countRows("emails")).toBe(99);
    client.end();
  });

  test("number 101 is refused", async () => {
    const client = await server.signIn();
    await client.say("MAIL FROM:<a@acme.test>\r\n");
    let last = "";
    for (let n = 0; n <= 100; n++) last = await client.say(`RCPT TO:<u${n}@example.com>\r\n`);
    expect(last).toStartWith("452 ");
    client.end();
  });
});

describe("authentication", () => {
  const reply = async (key: string) => {
    const client = await server.connect();
    const text = await client.say(`AUTH PLAIN ${plain(key)}\r\n`);
    client.end();
    return text;
  };

  test("is needed before MAIL", async () => {
    const client = await server.connect();
    expect(await client.say("MAIL FROM:<a@acme.test>\r\n")).toStartWith(
      "530 5.7.0 Authentication is required",
    );
    client.end();
  });

  test("works with LOGIN", async () => {
    const client = await server.connect();
    expect(await client.say("AUTH LOGIN\r\n")).toStartWith("334 ");
    expect(await client.say(`${btoa("user")}\r\n`)).toStartWith("334 ");
    expect(await client.say(`${btoa(server.secretKey)}\r\n`)).toStartWith("235 ");
    client.end();
  });

  test("refuses a public key, an unknown one, a revoked one, and that of a disabled project", async () => {
    expect(await reply(server.publicKey)).toStartWith(
      "535 5.7.8 Authentication failed: a public key",
    );
    expect(await reply("sk_unknown")).toStartWith(
      "535 5.7.8 Authentication failed: the password must be",
    );
    const other = await server.makeProject("other");
    await server.app.writer.write(() =>
      changeProject(server.app.app, other.project, { isEnabled: false }),
    );
    expect(await reply(other.secretKey)).toStartWith(
      "535 5.7.8 Authentication failed: the project",
    );
  });

  test("with a key that is revoked during the session ends before the next message", async () => {
    const made = await server.app.writer.write(() =>
      createKey(server.app.app, server.project.seq, { kind: "SECRET", name: "k", expiresAt: null }),
    );
    const client = await server.signIn(made.text);
    await server.app.writer.write(() => revokeKey(server.app.app, made.key.id));
    expect(await client.say("MAIL FROM:<a@acme.test>\r\n")).toStartWith(
      "535 5.7.8 Authentication failed: this key was revoked",
    );
    client.end();
  });

  test("that the storage cannot check is put off, and is no failure", async () => {
    const { sqlite } = server.db;
    sqlite.run("ALTER TABLE api_keys RENAME TO api_keys_away");
    const replies: string[] = [];
    for (let n = 0; n < 6; n++) replies.push((await reply(server.secretKey)).slice(0, 3));
    sqlite.run("ALTER TABLE api_keys_away RENAME TO api_keys");
    expect(new Set(replies)).toEqual(new Set(["452"]));
    expect(await reply(server.secretKey)).toStartWith("235 ");
  });

  test("that fails five times a minute is answered with 454; a right key still works", async () => {
    const replies: string[] = [];
    for (let n = 0; n < 6; n++) replies.push((await reply("wrong")).slice(0, 9));
    expect(replies).toEqual([...Array.from({ length: 5 }, () => "535 5.7.8"), "454 4.7.0"]);
    expect(await reply(server.secretKey)).toStartWith("235 ");
  });
});

describe("the rate of the project", () => {
  test("counts each message once, over HTTP and SMTP, and refuses with 452 before DATA", async () => {
    const limited = await submissionApp({ config: { apiRate: 3 } });
    await limited.call("GET", "/emails");
    const client = await limited.signIn();
    const to = ["a@example.com", "b@example.com", "c@example.com"];
    for (let n = 0; n < 2; n++) {
      expect(await sendRaw(client, "From: a@acme.test\r\n\r\nHi", { to })).toStartWith("250 ");
    }
    await client.say("MAIL FROM:<a@acme.test>\r\n");
    await client.say("RCPT TO:<a@example.com>\r\n");
    expect(await client.say("DATA\r\n")).toStartWith("452 4.3.2 Too many messages; try again in ");
    client.end();
    await limited.close();
  });

  test("and the quota of queued mails answer with 452; then no recipient is queued", async () => {
    const limited = await submissionApp({ config: { quotaQueuedMails: 2 } });
    const client = await limited.signIn();
    const to = ["a@example.com", "b@example.com", "c@example.com"];
    expect(await sendRaw(client, "From: a@acme.test\r\n\r\nHi", { to })).toStartWith("452 4.3.1 ");
    expect(limited.countRows("emails") + limited.countRows("messages")).toBe(0);
    client.end();
    await limited.close();
  });
});

describe("an idempotency key", () => {
  const keyed = (subject: string) =>
    `From: a@acme.test\r\nX-Mailstead-Idempotency-Key: order-7\r\nSubject: ${subject}\r\nDate: ${Math.random()}`;

  test("gives a repeated message the first answer, also after a disconnect after the dot", async () => {
    server.clock.advance(25 * 3_600_000);
    const client = await server.signIn();
    await client.say("MAIL FROM:<a@acme.test>\r\n");
    await client.say("RCPT TO:<bob@example.com>\r\n");
    await client.say("DATA\r\n");
    client.write(`${keyed("One")}\r\n\r\nHi\r\n.\r\n`);
    await new Promise((resolve) => setImmediate(resolve));
    client.end();
    await client.closed;
    const again = await submit(keyed("One"), { to: ["bob@example.com"] });
    const third = await submit(keyed("One"), { to: ["bob@example.com"] });
    expect(again).toStartWith("250 ");
    expect(third).toBe(again);
    expect(server.countRows("emails")).toBe(1);
    expect(await submit(keyed("Two"), { to: ["bob@example.com"] })).toStartWith(
      "550 5.6.0 This Idempotency-Key was used",
    );
    expect(await server.sent(1)).not.toContain("Idempotency");
  });
});

/** The UTF-8 text of a quoted-printable body (RFC 2045 §6.7). */
function decodeQuotedPrintable(body: string): string {
  const octets = body
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(octets, "latin1").toString("utf8");
}

describe("8-bit text", () => {
  test("is encoded part by part; other parts stay byte for byte", async () => {
    const ascii = "Content-Type: text/html\r\n\r\n<p>plain = plain</p>   \r\n";
    const text = "Grüße aus Köln =\r\nzweite Zeile \r\n";
    const body =
      `preamble\r\n--b1\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${text}` +
      `\r\n--b1\r\n${ascii}\r\n--b1\r\nContent-Type: application/x-data\r\n` +
      'Content-Disposition: attachment; filename="Übersicht.bin"\r\n\r\n\u00c3\u00a4\u00ff\u0000\r\n--b1--\r\nend';
    const client = await server.signIn();
    const header = `${HEADER.replace("Bob <", "Jörg <")}Content-Type: multipart/mixed; boundary="b1"\r\n\r\n`;
    const bytes = Buffer.concat([
      Buffer.from(header + body.slice(0, body.indexOf("\u00c3\u00a4\u00ff"))),
      Buffer.from([0xc3, 0xa4, 0xff, 0x00]),
      Buffer.from("\r\n--b1--\r\nend"),
    ]);
    expect(await sendRaw(client, bytes)).toStartWith("250 ");
    client.end();
    const [raw = ""] = await server.sent(1);
    expect(isAscii(Buffer.from(raw, "latin1")) && !raw.includes("\0")).toBe(true);
    expect(raw).toContain(`\r\n--b1\r\n${ascii}\r\n--b1\r\n`);
    expect(raw).toContain("Gr=C3=BC=C3=9Fe aus K=C3=B6ln =3D\r\nzweite Zeile=20\r\n");
    const mail = await simpleParser(raw);
    expect(mail.text).toStartWith("Grüße aus Köln =\nzweite Zeile \n");
    const [to] = [mail.to].flat();
    expect(to?.value[0]).toEqual({ name: "Jörg", address: "bob@example.com" });
    expect(mail.attachments[0]?.filename).toBe("Übersicht.bin");
    expect(mail.attachments[0]?.content).toEqual(Buffer.from([0xc3, 0xa4, 0xff, 0x00]));
  });

  test("without MIME fields is sent as UTF-8, and very long lines are broken", async () => {
    const client = await server.signIn();
    const line = "ä".repeat(100) + "x".repeat(3_000);
    expect(await sendRaw(client, Buffer.from(`From: a@acme.test\r\n\r\n${line}`))).toStartWith(
      "250 ",
    );
    client.end();
    const [raw = ""] = await server.sent(1);
    expect(Math.max(...raw.split("\r\n").map((each) => each.length))).toBeLessThanOrEqual(76);
    expect((await simpleParser(raw)).text?.trim()).toBe(line);
  });

  test("in a large message is encoded in stored pieces", async () => {
    const text = "Ein Satz mit Umlaut: ä, ö und ü.\r\n".repeat(60_000);
    const client = await server.signIn();
    const message = Buffer.from(
      `From: a@acme.test\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}`,
    );
    expect(await sendRaw(client, message)).toStartWith("250 ");
    client.end();
    const [raw = ""] = await server.sent(1);
    expect(raw).toContain("\r\nContent-Transfer-Encoding: quoted-printable\r\n");
    const [, body = ""] = raw.split(/\r\n\r\n(.*)/s);
    expect(decodeQuotedPrintable(body).trim() === text.trim()).toBe(true);
    expect(server.countRows("messages")).toBe(1);
  });

  test("in a signed part is refused", async () => {
    const body = "--s\r\nContent-Type: text/plain\r\n\r\n\u00e4\r\n--s--\r\n";
    const fields = 'From: a@acme.test\r\nContent-Type: multipart/signed; boundary="s"';
    expect(await submit(fields, { body })).toStartWith("550 5.6.3 ");
    expect(counts()).toEqual([0, 0, 0]);
  });
});

describe("clients", () => {
  test("nodemailer submits UTF-8 with an attachment", async () => {
    const transport = createTransport({
      host: "127.0.0.1",
      port: server.port,
      auth: { user: "any", pass: server.secretKey },
    });
    const content = Buffer.from(Array.from({ length: 5_000 }, (_, n) => n % 256));
    await transport.sendMail({
      from: "Ünal <u@acme.test>",
      to: ["Zoë <zoe@example.com>"],
      bcc: "hidden@example.com",
      subject: "Grüße 🎉",
      text: "Hallö",
      html: "<p>Hallö</p>",
      attachments: [{ filename: "Ä.bin", content }],
    });
    transport.close();
    const [raw = "", other] = await server.sent(2);
    expect(other).toBe(raw);
    const mail = await simpleParser(raw);
    expect(mail.subject).toBe("Grüße 🎉");
    expect(mail.bcc).toBeUndefined();
    expect(mail.attachments[0]?.content.equals(content)).toBe(true);
    const page = await server.call("GET", "/emails");
    expect(page.at("data.items.0.subject")).toBe("Grüße 🎉");
  });

  test("Python's smtplib submits UTF-8 with an attachment", async () => {
    const program = `
import smtplib, sys
from email.message import EmailMessage
m = EmailMessage()
m["From"] = "Ünal <u@acme.test>"
m["To"] = "zoe@example.com"
m["Subject"] = "Grüße aus Python"
m.set_content("Hallö\\n")
m.add_attachment(bytes(range(256)), maintype="application", subtype="octet-stream", filename="ä.bin")
s = smtplib.SMTP("127.0.0.1", int(sys.argv[1]))
s.login("any", sys.argv[2])
s.send_message(m)
s.quit()`;
    const child = Bun.spawn(["python3", "-c", program, String(server.port), server.secretKey], {
      stderr: "pipe",
    });
    expect(await new Response(child.stderr).text()).toBe("");
    const [raw = ""] = await server.sent(1);
    const mail = await simpleParser(raw);
    expect(mail.subject).toBe("Grüße aus Python");
    expect(mail.attachments[0]?.content).toEqual(
      Buffer.from(Array.from({ length: 256 }, (_, n) => n)),
    );
  });
});

test("EHLO announces neither DSN nor STARTTLS without a certificate", async () => {
  const client: RawSmtp = await server.connect();
  const reply = await client.say("EHLO client.test\r\n");
  expect(
    reply
      .split("\n")
      .slice(1)
      .map((line) => line.slice(4)),
  ).toEqual([
    "PIPELINING",
    "8BITMIME",
    "SMTPUTF8",
    "ENHANCEDSTATUSCODES",
    "AUTH PLAIN LOGIN",
    `SIZE ${25 * 1024 * 1024}`,
  ]);
  client.socket.end();
  await once(client.socket, "close");
});

test.each(relayForms("sender.test", "elsewhere.example"))(
  "without authentication nothing is relayed: %s",
  async (form) => {
    const client = await server.connect();
    expect(await client.say("MAIL FROM:<a@acme.test>\r\n")).toStartWith("530 ");
    expect(await client.say(`RCPT TO:${form}\r\n`)).toMatch(/^5\d\d /);
    client.end();
  },
);
