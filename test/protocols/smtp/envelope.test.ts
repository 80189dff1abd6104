import { describe, expect, test } from "bun:test";
import { planEnvelope } from "../../../src/protocols/smtp/envelope.ts";
import { NO_EXTENSIONS, readExtensions } from "../../../src/protocols/smtp/extensions.ts";

function plan(from: string, to: string, extensions: Partial<typeof NO_EXTENSIONS> = {}, size = 10) {
  const object = { envelope: { from, to }, message: new Uint8Array(size) };
  return planEnvelope(object, { ...NO_EXTENSIONS, ...extensions });
}

function commands(...args: Parameters<typeof plan>): string[] {
  const planned = plan(...args);
  return planned.kind === "plan" ? [...planned.commands] : [];
}

describe("the commands of a mail", () => {
  test("are MAIL, RCPT and DATA", () => {
    const expected = ["MAIL FROM:<a@example.com>", "RCPT TO:<b@example.net>", "DATA"];
    expect(commands("a@example.com", "b@example.net")).toEqual(expected);
  });

  test("contain the size if SIZE is offered (RFC 1870)", () => {
    const [mail] = commands("a@example.com", "b@example.net", { size: true }, 1_234);
    expect(mail).toBe("MAIL FROM:<a@example.com> SIZE=1234");
  });

  test("contain SMTPUTF8 only if an address needs it (RFC 6531)", () => {
    const offered = { size: true, smtpUtf8: true };
    expect(commands("a@example.com", "b@example.net", offered)[0]).not.toContain("SMTPUTF8");
    expect(commands("a@example.com", "jürgen@example.net", offered)).toEqual([
      "MAIL FROM:<a@example.com> SIZE=10 SMTPUTF8",
      "RCPT TO:<jürgen@example.net>",
      "DATA",
    ]);
    expect(commands("jürgen@example.net", "a@example.com", offered)[0]).toContain(" SMTPUTF8");
  });

  test("contain SMTPUTF8 if an address in the header needs it (RFC 6532)", () => {
    const planWith = (text: string) =>
      planEnvelope(
        {
          envelope: { from: "b+1@bounce.example.com", to: "c@example.net" },
          message: Buffer.from(text),
        },
        { ...NO_EXTENSIONS, smtpUtf8: true },
      );
    const isAsked = (text: string) => {
      const planned = planWith(text);
      return planned.kind === "plan" && planned.group.includes(" SMTPUTF8\r\n");
    };
    expect(isAsked("From: jürgen@example.com\r\n\r\nHi\r\n")).toBe(true);
    expect(isAsked("From: a@example.com\r\nReply-To: jürgen@example.com\r\n\r\nHi\r\n")).toBe(true);
    expect(isAsked("From: a@example.com\r\n\r\njürgen\r\n")).toBe(false);
  });

  test("contain BODY for 8-bit text, which the server must accept (RFC 6152)", () => {
    const planWith = (isEightBit: boolean, eightBitMime: boolean) =>
      planEnvelope(
        {
          envelope: { from: "a@example.com", to: "b@example.net" },
          message: Buffer.from("From: a@example.com\r\n\r\njürgen\r\n"),
          isEightBit,
        },
        { ...NO_EXTENSIONS, eightBitMime },
      );
    expect(planWith(true, true)).toMatchObject({
      kind: "plan",
      commands: ["MAIL FROM:<a@example.com> BODY=8BITMIME", expect.any(String), "DATA"],
    });
    expect(planWith(false, true)).toMatchObject({
      kind: "plan",
      commands: ["MAIL FROM:<a@example.com>", expect.any(String), "DATA"],
    });
    expect(planWith(true, false)).toEqual({
      kind: "unsendable",
      step: "mail",
      code: 554,
      enhanced: "5.6.3",
      message: "the server does not accept the 8-bit text of the message",
    });
  });

  test("can have an empty return path", () => {
    expect(commands("", "b@example.net")[0]).toBe("MAIL FROM:<>");
  });

  test("can contain quoted local parts and address literals", () => {
    const to = String.raw`"john <o'hara>\" x"@example.net`;
    expect(commands("a@[192.0.2.1]", to)[1]).toBe(`RCPT TO:<${to}>`);
  });
});

const UNSENDABLE: [name: string, from: string, to: string, enhanced: string][] = [
  [
    "a line end in the recipient",
    "a@example.com",
    "b@example.net>\r\nRCPT TO:<c@example.net",
    "5.1.3",
  ],
  ["a line end in the sender", "a@example.com\r\nRSET", "b@example.net", "5.1.7"],
  ["a bare LF", "a@example.com", "b\n@example.net", "5.1.3"],
  ["a NUL", "a@example.com", "b\u0000@example.net", "5.1.3"],
  ["a parameter after the path", "a@example.com", "b@example.net> NOTIFY=NEVER", "5.1.3"],
  ["a line end within quotes", "a@example.com", '"b\r\nRSET"@example.net', "5.1.3"],
  ["an empty recipient", "a@example.com", "", "5.1.3"],
  ["a recipient without domain", "a@example.com", "postmaster", "5.1.3"],
  ["a space", "a@example.com", "b c@example.net", "5.1.3"],
];

describe("a mail that the server can never accept", () => {
  test.each(UNSENDABLE)("has %s", (_, from, to, enhanced) => {
    expect(plan(from, to, { smtpUtf8: true })).toMatchObject({ kind: "unsendable", enhanced });
  });

  test("is larger than the server announced", () => {
    const limit = { size: true, maxSizeBytes: 1_000 };
    expect(plan("a@example.com", "b@example.net", limit, 1_000).kind).toBe("plan");
    expect(plan("a@example.com", "b@example.net", limit, 1_001)).toMatchObject({
      kind: "unsendable",
      code: 552,
      enhanced: "5.3.4",
      message: "the message has 1001 octets, the server accepts 1000",
    });
  });

  test("needs SMTPUTF8 and the server does not offer it", () => {
    expect(plan("a@example.com", "jürgen@example.net")).toMatchObject({ enhanced: "5.6.7" });
    const message = Buffer.from("From: jürgen@example.com\r\n\r\nHi\r\n");
    const envelope = { from: "b+1@bounce.example.com", to: "c@example.net" };
    expect(planEnvelope({ envelope, message }, NO_EXTENSIONS)).toMatchObject({ enhanced: "5.6.7" });
  });
});

const SIZES: [line: string, size: boolean, limit: number | null][] = [
  ["SIZE 1000", true, 1_000],
  ["size 1000", true, 1_000],
  ["SIZE 0", true, null],
  ["SIZE", true, null],
  ["SIZE many", true, null],
  ["HELP", false, null],
];

describe("readExtensions", () => {
  const read = (...lines: string[]) =>
    readExtensions({ kind: "reply", code: 250, enhanced: null, lines: ["mx.test", ...lines] });

  test("recognises the common extensions, in any case", () => {
    const found = read("pipelining", "8BITMIME", "SmtpUtf8", "STARTTLS", "ENHANCEDSTATUSCODES");
    expect(found).toMatchObject({
      pipelining: true,
      eightBitMime: true,
      smtpUtf8: true,
      startTls: true,
      enhancedStatusCodes: true,
    });
  });

  test("returns none if the server offers none", () => {
    expect(read()).toEqual(NO_EXTENSIONS);
  });

  test("does not read the name of the server as a keyword", () => {
    const reply = { kind: "reply" as const, code: 250, enhanced: null, lines: ["PIPELINING"] };
    expect(readExtensions(reply).pipelining).toBe(false);
  });

  test("collects AUTH mechanisms of both forms", () => {
    expect([...read("AUTH plain CRAM-MD5", "AUTH=LOGIN").auth]).toEqual([
      "PLAIN",
      "CRAM-MD5",
      "LOGIN",
    ]);
  });

  test.each(SIZES)("reads %s", (line, size, maxSizeBytes) => {
    expect(read(line)).toMatchObject({ size, maxSizeBytes });
  });
});
