/** X-Mailstead-Tracking and X-Mailstead-Type: messages that are composed again for each recipient. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { simpleParser } from "mailparser";
import { sendRaw } from "../support/smtp-client.ts";
import { submissionApp } from "../support/submission.ts";

const FIELDS = "From: Shop <a@acme.test>\r\nTo: bob@example.com\r\nSubject: =?utf-8?q?Gr=C3=BCn?=";
const HTML = "MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8";
const BODY = '<p>Hi {{ name }} {% if %} <a href="https://shop.example/x">x</a></p>';
const MARKETING = "X-Mailstead-Type: marketing";

let server: Awaited<ReturnType<typeof submissionApp>>;
beforeAll(async () => {
  server = await submissionApp();
});
afterAll(() => server.close());
beforeEach(() => {
  for (const table of ["captured_messages", "attempts", "emails", "messages", "suppressions"])
    server.db.sqlite.run(`DELETE FROM ${table}`);
});

async function submit(fields: readonly string[], body = BODY, to = ["bob@example.com"]) {
  const client = await server.signIn();
  const reply = await sendRaw(client, `${fields.join("\r\n")}\r\n\r\n${body}`, { to });
  client.end();
  return reply;
}

async function sent(count = 1) {
  const messages = await server.sent(count);
  const options = { skipTextToHtml: true, skipTextLinks: true };
  return Promise.all(messages.map((raw) => simpleParser(Buffer.from(raw, "latin1"), options)));
}

const setTracking = (mode: string) =>
  server.db.sqlite.run("UPDATE projects SET tracking = ?", [mode]);

async function subscribe(email: string): Promise<void> {
  const made = await server.call("POST", "/contacts", { email, subscribed: true });
  expect(made.status).toBeLessThan(300);
}

describe("X-Mailstead-Tracking: on", () => {
  test("rewrites links and adds a pixel; the text stays as it is", async () => {
    setTracking("ENABLED");
    expect(await submit([FIELDS, HTML, "X-Mailstead-Tracking: on"])).toStartWith("250 2.0.0 ");
    const [mail] = await sent();
    const html = String(mail?.html);
    expect(html).toContain("<p>Hi {{ name }} {% if %} <a href=");
    expect(html).not.toContain("https://shop.example/x");
    expect(html).toMatch(/<img [^>]*src="http:\/\/127\.0\.0\.1:3000\//);
    expect(mail?.subject).toBe("Grün");
    expect(mail?.text).toContain("Hi {{ name }} {% if %} x");
    expect(mail?.headers.has("list-unsubscribe")).toBe(false);
  });

  test("follows a project that disables tracking", async () => {
    setTracking("DISABLED");
    await submit([FIELDS, HTML, "X-Mailstead-Tracking: on"]);
    const [mail] = await sent();
    expect(mail?.html).toContain('<a href="https://shop.example/x">');
  });

  test("without it, nothing is tracked and the message stays as it is", async () => {
    setTracking("ENABLED");
    await submit([FIELDS, HTML]);
    const [mail] = await sent();
    expect(mail?.html).toBe(`${BODY}\n`);
  });

  test("keeps attachments, images, Reply-To, the thread and the priority", async () => {
    setTracking("DISABLED");
    const type = 'Content-Type: multipart/related; boundary="x"';
    const part = (head: string, text: string) => `--x\r\n${head}\r\n\r\n${text}\r\n`;
    const body =
      part("Content-Type: text/html", '<img src="cid:logo">') +
      part("Content-Type: image/png\r\nContent-ID: <logo>\r\nContent-Disposition: inline", "png") +
      part('Content-Type: text/csv\r\nContent-Disposition: attachment; filename="a.csv"', "1,2") +
      "--x--\r\n";
    const more = [
      "Reply-To: =?utf-8?Q?Hilfe=2C_f=C3=BCr_alle?= <help@acme.test>",
      "In-Reply-To: <1@x.example>",
      "x-priority: 1 (Highest)",
    ];
    await submit([FIELDS, "MIME-Version: 1.0", type, ...more, "X-Mailstead-Tracking: on"], body);
    const [mail] = await sent();
    const files = mail?.attachments.map(({ cid, filename, content }) => [
      cid,
      filename,
      content.toString(),
    ]);
    expect(files).toEqual([
      ["logo", "attachment", "png"],
      [undefined, "a.csv", "1,2"],
    ]);
    expect(mail?.replyTo?.value).toEqual([{ name: "Hilfe, für alle", address: "help@acme.test" }]);
    expect(mail?.inReplyTo).toBe("<1@x.example>");
    expect(mail?.headers.get("priority")).toBe("high");
  });

  test("keeps a text part of its own and all addresses for replies", async () => {
    setTracking("ENABLED");
    const type = 'Content-Type: multipart/alternative; boundary="x"';
    const body =
      "--x\r\nContent-Type: text/plain\r\n\r\nMy {{ text }}\r\n" +
      "--x\r\nContent-Type: text/html\r\n\r\n<p>My HTML</p>\r\n--x--\r\n";
    const reply = 'Reply-To: "A, B" <a@acme.test>, c@acme.test';
    await submit([FIELDS, "MIME-Version: 1.0", type, reply, "X-Mailstead-Tracking: on"], body);
    const [mail] = await sent();
    expect(mail?.text?.trimEnd()).toBe("My {{ text }}");
    expect(mail?.html).toContain("My HTML");
    expect(mail?.replyTo?.value).toEqual([
      { name: "A, B", address: "a@acme.test" },
      { name: "", address: "c@acme.test" },
    ]);
  });

  test("a plain text becomes HTML", async () => {
    setTracking("ENABLED");
    const text = "1 < 2 & {{ x }}\r\nsecond line";
    await submit([FIELDS, "X-Mailstead-Tracking: on"], text);
    const [mail] = await sent();
    expect(mail?.html).toContain("1 &lt; 2 &amp; {{ x }}\nsecond line</div>");
  });
});

describe("X-Mailstead-Type: MARKETING", () => {
  test("adds the unsubscribe pair and footer, for each recipient its own", async () => {
    setTracking("DISABLED");
    await subscribe("bob@example.com");
    await subscribe("eve@example.com");
    const to = ["bob@example.com", "eve@example.com"];
    const own = "List-Unsubscribe: <mailto:other@example.net>";
    expect(await submit([FIELDS, HTML, MARKETING, own], BODY, to)).toStartWith("250 ");
    const mails = await sent(2);
    const links = mails.map(
      ({ html }) => /http:\/\/127\.0\.0\.1:3000\/unsubscribe\/[\w-]{38}/.exec(String(html))?.[0],
    );
    expect(new Set(links).size).toBe(2);
    expect(links).not.toContain(undefined);
    const raw = await server.sent(2);
    for (const [i, message] of raw.entries()) {
      expect(message).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n");
      expect(message.replace(/\r\n[ \t]/g, " ")).toContain(`List-Unsubscribe: <${links[i]}`);
      expect(message).not.toContain("other@example.net");
    }
  });

  test("is refused for all recipients if one is not subscribed", async () => {
    await subscribe("bob@example.com");
    const reply = await submit([FIELDS, HTML, MARKETING], BODY, [
      "bob@example.com",
      "x@example.com",
    ]);
    expect(reply).toBe("550 5.6.0 x@example.com is not subscribed, and the mail is MARKETING.");
    expect(["emails", "messages"].map(server.countRows)).toEqual([0, 0]);
  });

  test("of several pieces leaves no piece of the submitted message", async () => {
    await subscribe("bob@example.com");
    const text = "line of a long mail\r\n".repeat(15_000);
    expect(await submit([FIELDS, MARKETING], text)).toStartWith("250 ");
    expect(["messages", "message_pieces"].map(server.countRows)).toEqual([1, 0]);
    const [mail] = await sent();
    expect(mail?.html).toContain("line of a long mail\nline of a long mail");
  });
});

describe("a message is refused", () => {
  const cases: [what: string, fields: string[], body: string, reply: string][] = [
    [
      "with another type",
      ["X-Mailstead-Type: NEWS"],
      "Hi",
      "550 5.6.0 X-Mailstead-Type must be TRANSACTIONAL or MARKETING",
    ],
    [
      "with another word for tracking",
      ["X-Mailstead-Tracking: yes"],
      "Hi",
      "550 5.6.0 X-Mailstead-Tracking must be off or on",
    ],
    [
      "with MARKETING and without tracking",
      [MARKETING, "X-Mailstead-Tracking: off"],
      "Hi",
      "550 5.6.0 X-Mailstead-Tracking: off is not possible for MARKETING; change the project",
    ],
    [
      "with too many files",
      ["X-Mailstead-Tracking: on", 'Content-Type: multipart/mixed; boundary="x"'],
      '--x\r\nContent-Disposition: attachment; filename="a"\r\n\r\nx\r\n'.repeat(11) + "--x--",
      "552 5.3.4 Mail with tracking or of the type MARKETING has at most 10 files",
    ],
    [
      "that is too large",
      ["X-Mailstead-Tracking: on"],
      "x"
        .repeat(998)
        .concat("\r\n")
        .repeat(18 * 1024),
      "552 5.3.4 Mail with tracking or of the type MARKETING has at most 10 files",
    ],
  ];
  test.each(cases)("%s", async (_, fields, body, reply) => {
    expect(await submit([FIELDS, ...fields], body)).toStartWith(reply);
    expect(["emails", "messages", "message_pieces"].map(server.countRows)).toEqual([0, 0, 0]);
  });
});
