import { describe, expect, test } from "bun:test";
import { type ParsedMail, simpleParser } from "mailparser";
import {
  type Attachment,
  composeMessage,
  type MessageInput,
} from "../../../src/protocols/mime/message.ts";

const BASE: MessageInput = {
  from: { name: "Jane Doe", address: "jane@example.com" },
  to: { name: null, address: "bob@example.org" },
  replyTo: null,
  subject: "Hello",
  html: "<p>Hello</p>",
  text: "Hello",
  headers: [],
  attachments: [],
  messageId: "<01890c4e@example.com>",
  date: new Date("2026-03-01T12:00:00.000Z"),
};

function compose(change: Partial<MessageInput> = {}): Buffer {
  const composed = composeMessage({ ...BASE, ...change });
  if (!composed.ok) throw new Error(composed.reason);
  return Buffer.from(composed.message);
}

async function parse(change: Partial<MessageInput> = {}): Promise<ParsedMail> {
  const message = compose(change);
  expectFitForTheWire(message);
  return await simpleParser(message, { skipImageLinks: true, skipTextToHtml: true });
}

function headerOf(message: Buffer): string {
  return message.toString().split("\r\n\r\n", 1)[0] ?? "";
}

const ONCE = ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"];

function expectFitForTheWire(message: Buffer, isAscii = true): void {
  const text = message.toString("latin1");
  expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n\0]/);
  const lines = text.split("\r\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(998);
  expect(text.endsWith("\r\n")).toBe(true);
  if (isAscii) expect(message.findIndex((octet) => octet > 127)).toBe(-1);
  const header = headerOf(message).split("\r\n");
  expect(header.filter((line) => line.trim() === "")).toEqual([]);
  for (const name of ONCE) {
    const found = header.filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`));
    expect(found).toHaveLength(1);
  }
  expect(header.some((line) => /^bcc:/i.test(line))).toBe(false);
}

function lines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

const PNG: Attachment = {
  filename: "logo.png",
  content: new Uint8Array([137, 80, 78, 71, 0, 255, 13, 10]),
  contentType: "image/png",
  contentId: "logo",
  disposition: "inline",
};

const PDF: Attachment = {
  filename: "invoice.pdf",
  content: Buffer.from("%PDF-1.7 ".repeat(100)),
  contentType: "application/pdf",
  contentId: null,
  disposition: "attachment",
};

describe("a plain mail", () => {
  test("has exactly these bytes", () => {
    expect(compose().toString()).toBe(
      [
        "From: Jane Doe <jane@example.com>",
        "To: bob@example.org",
        "Subject: Hello",
        "Date: Sun, 01 Mar 2026 12:00:00 +0000",
        "Message-ID: <01890c4e@example.com>",
        "MIME-Version: 1.0",
        "Content-Type: multipart/alternative;",
        ' boundary="=_6a2ff612a9e36616d1044158563f8393_1"',
        "",
        "--=_6a2ff612a9e36616d1044158563f8393_1",
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 7bit",
        "",
        "Hello",
        "--=_6a2ff612a9e36616d1044158563f8393_1",
        "Content-Type: text/html; charset=utf-8",
        "Content-Transfer-Encoding: 7bit",
        "",
        "<p>Hello</p>",
        "--=_6a2ff612a9e36616d1044158563f8393_1--",
        "",
      ].join("\r\n"),
    );
  });

  test("is the same on every attempt", () => {
    const change = { subject: "Grüße", attachments: [PNG, PDF], html: "ü".repeat(5_000) };
    expect(compose(change).equals(compose(change))).toBe(true);
  });

  test("has other boundaries with another Message-ID", () => {
    const boundary = /boundary="(.+)"/;
    const other = compose({ messageId: "<b@example.com>" }).toString();
    expect(boundary.exec(other)?.[1]).not.toBe(boundary.exec(compose().toString())?.[1] ?? "");
  });

  test("can be parsed again", async () => {
    const mail = await parse({ replyTo: "help@example.com", headers: [["X-Campaign", "spring"]] });
    expect(mail.from?.value).toEqual([{ name: "Jane Doe", address: "jane@example.com" }]);
    expect(mail.replyTo?.text).toBe("help@example.com");
    expect(mail.subject).toBe("Hello");
    expect(mail.messageId).toBe("<01890c4e@example.com>");
    expect(mail.date).toEqual(BASE.date);
    expect(mail.headers.get("x-campaign")).toBe("spring");
    expect(mail.html).toBe("<p>Hello</p>");
    expect(mail.text).toBe("Hello");
    expect(mail.attachments).toEqual([]);
  });
});

describe("subjects", () => {
  const subjects = [
    "a",
    "Two  spaces   inside",
    " blanks at both ends ",
    'With "quotes", commas; and <brackets>',
    "Grüße aus München",
    "日本語の件名です。とても長い件名なので、折り返しが必要です。",
    "👋👨‍👩‍👧‍👦 hello",
    "=?utf-8?Q?not_an_encoded_word?=",
    "50 % = 1/2?=",
    "a\tb",
    "word ".repeat(60).trim(),
    "x".repeat(998),
    "ü".repeat(998),
    `${" ".repeat(200)}x`,
    `x${" ".repeat(200)}y`,
    "Ünï ".repeat(100).trim(),
  ];

  for (const subject of subjects) {
    test(JSON.stringify(subject.slice(0, 40)), async () => {
      expect((await parse({ subject })).subject).toBe(subject);
    });
  }

  test("are folded at 78 characters", () => {
    for (const subject of ["word ".repeat(60).trim(), "Grüße ".repeat(50).trim()]) {
      const longest = headerOf(compose({ subject })).split("\r\n");
      expect(Math.max(...longest.map((line) => line.length))).toBeLessThanOrEqual(78);
    }
  });
});

describe("names", () => {
  const names = [
    "Jane",
    "Jane Doe",
    "J. Doe",
    "Doe, Jane",
    'Jane "JD" Doe',
    "back\\slash",
    "Jörg Müller",
    "山田太郎",
    "a@b.example",
    "Jane <x@example.com>",
    "=?utf-8?Q?x?=",
    "O'Neill (Sales)",
    "Team 🚀",
    "x".repeat(255),
    "Jane ".repeat(50).trim(),
    "Jörg ".repeat(50).trim(),
  ];

  for (const name of names) {
    test(JSON.stringify(name.slice(0, 40)), async () => {
      const mail = await parse({
        from: { name, address: "jane@example.com" },
        to: { name, address: "bob@example.org" },
      });
      expect(mail.from?.value).toEqual([{ name, address: "jane@example.com" }]);
      const to = Array.isArray(mail.to) ? mail.to[0] : mail.to;
      expect(to?.value).toEqual([{ name, address: "bob@example.org" }]);
    });
  }

  test("that are empty are omitted", () => {
    for (const name of ["", "  "]) {
      const message = compose({ to: { name, address: "bob@example.org" } });
      expect(headerOf(message)).toContain("\r\nTo: bob@example.org\r\n");
    }
  });
});

describe("addresses", () => {
  const cases: [address: string, written: string][] = [
    ["Jane.Doe@Example.COM", "Jane.Doe@example.com"],
    ["jane@münchen.de", "jane@xn--mnchen-3ya.de"],
    ['"john doe"@example.com', '<"john doe"@example.com>'],
    ['"a@b, c"@example.com', '<"a@b, c"@example.com>'],
  ];

  for (const [address, written] of cases) {
    test(`${address} is written ${written}`, () => {
      const message = compose({ to: { name: null, address } });
      expectFitForTheWire(message);
      expect(headerOf(message)).toContain(`\r\nTo: ${written}\r\n`);
    });
  }

  test("with a non-ASCII local part are the only UTF-8 of the message", () => {
    const message = compose({ to: { name: "Jörg", address: "jörg@münchen.de" }, subject: "ü" });
    expectFitForTheWire(message, false);
    expect(message.toString()).toContain("<jörg@xn--mnchen-3ya.de>");
    expect(message.filter((octet) => octet > 127)).toHaveLength(2);
  });
});

describe("bodies", () => {
  const bodies: [what: string, html: string, encoding: string][] = [
    ["short ASCII", "<p>Hello</p>\n<p>you</p>", "7bit"],
    ["some umlauts", "<p>Grüße aus München, viele Wörter in ASCII</p>", "quoted-printable"],
    ["Japanese", "<p>日本語の本文です。</p>", "base64"],
    ["a long line", `<p>${"word ".repeat(500)}</p>`, "quoted-printable"],
    ["a long word", `<p>${"x".repeat(5_000)}</p>`, "quoted-printable"],
    ["blanks at line ends", "a \nb\t\nc", "quoted-printable"],
    ["From at a line start", "x\nFrom here on", "quoted-printable"],
    ["From at the beginning", "From here on", "quoted-printable"],
    ["a control character", "a\x01b", "quoted-printable"],
    ["equals signs", "a=3D=\n=20", "7bit"],
    ["dots on lines", ".\n..\n.x", "7bit"],
    ["something like a boundary", "--=_abc\n--=_abc--", "7bit"],
    ["a mixture of line ends", "a\r\nb\rc\nd", "7bit"],
    ["emoji at line ends", `${"👋".repeat(40)}\n${"x👋".repeat(40)}`, "base64"],
  ];

  for (const [what, body, encoding] of bodies) {
    test(`${what}: ${encoding}`, async () => {
      const mail = await parse({ html: body, text: body });
      expect(lines(mail.html || "")).toBe(lines(body));
      expect(mail.text ?? "").toBe(lines(body));
      expect(compose({ html: body }).toString()).toContain(
        `Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n`,
      );
    });
  }

  test("may be empty", () => {
    expectFitForTheWire(compose({ html: "", text: "" }));
  });

  test("never begin a line with From", () => {
    expect(compose({ text: "x\nFrom me", html: "From me" }).toString()).not.toMatch(/^From /m);
  });
});

describe("custom headers", () => {
  const values = [
    "plain",
    "<https://example.com/unsubscribe/abc>",
    `<https://example.com/${"x".repeat(700)}>`,
    "a; b=c;  d=e",
    "<a@example.com> <b@example.com> ".repeat(10).trim(),
  ];

  for (const value of values) {
    test(`are not changed: ${value.slice(0, 40)}`, () => {
      const header = headerOf(compose({ headers: [["X-Custom", value]] }));
      expectFitForTheWire(compose({ headers: [["X-Custom", value]] }));
      expect(header.replaceAll("\r\n ", " ")).toContain(`\r\nX-Custom: ${value}\r\n`);
    });
  }

  test("are encoded if needed", () => {
    const long = "x".repeat(998);
    const headers = [
      ["X-Note", "grüße"],
      ["X-Long", long],
    ] as const;
    const header = headerOf(compose({ headers })).replaceAll("\r\n ", " ");
    expect(header).toContain("X-Note: =?UTF-8?Q?gr=C3=BC=C3=9Fe?=\r\n");
    const words = /X-Long: (.*)/.exec(header)?.[1] ?? "";
    expect(words.replaceAll(/=\?UTF-8\?Q\?|\?=| /g, "")).toBe(long);
    expectFitForTheWire(compose({ headers }));
  });

  test("keep their order", () => {
    const headers = [
      ["X-B", "1"],
      ["X-A", "2"],
      ["X-B", "3"],
    ] as const;
    expect(headerOf(compose({ headers }))).toContain("X-B: 1\r\nX-A: 2\r\nX-B: 3\r\n");
  });

  test("may include a Reply-To if the mail has none", () => {
    const headers = [["Reply-To", "a@example.com"]] as const;
    expect(headerOf(compose({ headers }))).toContain("Reply-To: a@example.com");
    const both = headerOf(compose({ headers, replyTo: "b@example.com" }));
    expect(both.match(/^Reply-To: .*$/gm)).toEqual(["Reply-To: b@example.com"]);
  });
});

describe("attachments", () => {
  test("can be parsed with name, type and content", async () => {
    const mail = await parse({ attachments: [PDF] });
    expect(mail.attachments).toMatchObject([
      { filename: "invoice.pdf", contentType: "application/pdf", contentDisposition: "attachment" },
    ]);
    expect(mail.attachments[0]?.content.equals(Buffer.from(PDF.content))).toBe(true);
    expect(compose({ attachments: [PDF] }).toString()).toContain("multipart/mixed");
  });

  test("that are inline belong to the HTML", async () => {
    const mail = await parse({ attachments: [PNG], html: '<img src="cid:logo">' });
    expect(mail.attachments).toMatchObject([
      { filename: "logo.png", cid: "logo", related: true, contentDisposition: "inline" },
    ]);
    expect(mail.html).toBe('<img src="cid:logo">');
    const types = compose({ attachments: [PNG] })
      .toString()
      .match(/multipart\/\w+/g);
    expect(types).toEqual(["multipart/alternative", "multipart/related"]);
  });

  test("of both kinds are nested correctly", async () => {
    const mail = await parse({ attachments: [PDF, PNG] });
    expect(new Set(mail.attachments.map(({ filename }) => filename))).toEqual(
      new Set(["invoice.pdf", "logo.png"]),
    );
    const types = compose({ attachments: [PDF, PNG] })
      .toString()
      .match(/multipart\/\w+/g);
    expect(types).toEqual(["multipart/mixed", "multipart/alternative", "multipart/related"]);
  });

  const filenames = [
    "plain.txt",
    "with space.txt",
    "two  spaces.txt",
    "Übersicht – größe (2026).pdf",
    "請求書.pdf",
    'quote".txt',
    "back\\slash.txt",
    "semi;colon=.txt",
    `${"x".repeat(200)}.pdf`,
    `${"long name ".repeat(20)}.pdf`,
    "👋.png",
  ];

  for (const filename of filenames) {
    test(`may be called ${filename.slice(0, 40)}`, async () => {
      const mail = await parse({ attachments: [{ ...PDF, filename }] });
      expect(mail.attachments[0]?.filename).toBe(filename);
    });
  }

  test("with a name like an encoded word are written as in RFC 2231", () => {
    const message = compose({ attachments: [{ ...PDF, filename: "=?utf-8?Q?x?=.txt" }] });
    expect(message.toString()).toContain("filename*0*=utf-8''%3D%3Futf-8%3FQ%3Fx%3F%3D.txt");
  });

  test("may be empty or of any size", async () => {
    for (const size of [0, 1, 56, 57, 58, 100_000]) {
      const content = new Uint8Array(size).map((_, i) => (i * 7) % 256);
      const mail = await parse({ attachments: [{ ...PDF, content }] });
      expect(mail.attachments[0]?.content.equals(Buffer.from(content))).toBe(true);
    }
  });

  test("that are views into a larger buffer contain only their own bytes", async () => {
    const content = new Uint8Array([1, 2, 3, 4, 5]).subarray(1, 3);
    const mail = await parse({ attachments: [{ ...PDF, content }] });
    expect([...(mail.attachments[0]?.content ?? [])]).toEqual([2, 3]);
  });

  test("that are messages are not encoded", () => {
    const content = Buffer.from("Subject: x\n\nHello\n");
    const attachments = [{ ...PDF, content, contentType: "message/rfc822", filename: "a.eml" }];
    const message = compose({ attachments });
    expectFitForTheWire(message);
    expect(message.toString()).toContain("message/rfc822\r\nContent-Transfer-Encoding: 7bit");
  });

  test("that are 8-bit messages or multiparts are sent as files of unknown type", async () => {
    for (const contentType of ["message/rfc822", "multipart/mixed; boundary=x"]) {
      const content = Buffer.from("Subject: ü\n\nHello\n");
      const mail = await parse({
        attachments: [{ ...PDF, filename: "x.bin", content, contentType }],
      });
      expect(mail.attachments).toMatchObject([{ contentType: "application/octet-stream" }]);
      expect(mail.attachments[0]?.content.equals(content)).toBe(true);
    }
  });
});

describe("a message is refused with", () => {
  const bad = "a\r\nBcc: x@example.com";
  const cases: [what: string, change: Partial<MessageInput>][] = [
    ["a line break in the subject", { subject: bad }],
    ["a bare LF in the subject", { subject: "a\nb" }],
    ["a bare CR in the subject", { subject: "a\rb" }],
    ["NUL in the subject", { subject: "a\0" }],
    ["a line break in a name", { from: { name: bad, address: "a@example.com" } }],
    ["NUL in a name", { to: { name: "\0", address: "a@example.com" } }],
    ["a line break in an address", { to: { name: null, address: "a@example.com\r\nX: y" } }],
    ["an invalid address", { from: { name: null, address: "nobody" } }],
    ["two addresses", { to: { name: null, address: "a@example.com, b@example.com" } }],
    ["a line break in the reply address", { replyTo: "a@example.com\n" }],
    ["a line break in a header value", { headers: [["X-A", bad]] }],
    ["NUL in a header value", { headers: [["X-A", "\0"]] }],
    ["a line break in a header name", { headers: [["X\r\nBcc", "x"]] }],
    ["a header of the service", { headers: [["bcc", "x@example.com"]] }],
    ["a second Message-ID", { headers: [["Message-Id", "<a@b>"]] }],
    ["a line break in a file name", { attachments: [{ ...PDF, filename: bad }] }],
    ["a line break in a content type", { attachments: [{ ...PDF, contentType: `text/${bad}` }] }],
    ["a line break in a contentId", { attachments: [{ ...PNG, contentId: bad }] }],
    ["a bracket in a contentId", { attachments: [{ ...PNG, contentId: "a>b" }] }],
    ["a Message-ID without brackets", { messageId: "a@b" }],
    ["a line break in the Message-ID", { messageId: "<a@b>\r\nX: y" }],
    ["a date that is none", { date: new Date(Number.NaN) }],
    ["NUL in the HTML", { html: "\0" }],
    ["NUL in the text", { text: "\0" }],
  ];

  for (const [what, change] of cases) {
    test(what, () => {
      const composed = composeMessage({ ...BASE, ...change });
      expect(composed).toEqual({ ok: false, reason: expect.any(String) });
      expect(composed.ok || composed.reason).not.toMatch(/[\r\n\0]/);
    });
  }
});

describe("random mails", () => {
  const WORDS = [
    "hello",
    "Jörg",
    "日本語",
    "👋🏽",
    "a,b;c:d",
    '"',
    "\\",
    "<x>",
    "=?utf-8?B?eA==?=",
    "=",
    "?=",
    "%",
    "x".repeat(90),
    "x".repeat(1_100),
    "é".normalize("NFD"),
    "(c)",
    "'",
    "a@b.example",
    "\t",
    "",
    "",
    "=3D",
    ".",
  ];

  /** Mulberry32, a small seeded generator. */
  function random(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) % below;
    };
  }

  test("have valid lines and can be parsed to the same values", async () => {
    for (let seed = 1; seed <= 100; seed++) {
      const next = random(seed);
      const text = (most: number, between = " ") =>
        Array.from({ length: next(most) }, () => WORDS[next(WORDS.length)] ?? "").join(between);
      const line = (most: number) => text(most).slice(0, 300).toWellFormed().trim();
      const body = text(30, [" ", "\n", "\r\n", ""][next(4)]);
      const input: MessageInput = {
        ...BASE,
        from: { name: line(6), address: "jane@example.com" },
        subject: text(20).slice(0, 998).toWellFormed(),
        html: body,
        text: body,
        headers: [["X-Random", line(8)]],
        attachments:
          next(2) === 0 ? [] : [{ ...PDF, filename: `x${line(3).replaceAll("=?", "")}.pdf` }],
        messageId: `<${seed}@example.com>`,
      };
      const mail = await parse(input);
      expect(mail.subject ?? "").toBe(input.subject);
      expect(mail.from?.value[0]?.name ?? "").toBe(input.from.name ?? "");
      expect(lines(mail.html || "")).toBe(lines(body));
      expect(mail.attachments[0]?.filename).toBe(input.attachments[0]?.filename);
    }
  });
});
