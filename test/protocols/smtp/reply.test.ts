import { describe, expect, test } from "bun:test";
import {
  quoteReply,
  ReplyParser,
  replyText,
  type ProtocolFault,
  type Reply,
} from "../../../src/protocols/smtp/reply.ts";

type Result = Reply | ProtocolFault;

function parse(text: string, portion = text.length): Result[] {
  const parser = new ReplyParser();
  const bytes = Buffer.from(text, "utf8");
  const results: Result[] = [];
  for (let at = 0; at < bytes.length; at += Math.max(1, portion)) {
    results.push(...parser.push(bytes.subarray(at, at + portion)));
  }
  return results;
}

function reply(code: number, enhanced: string | null, ...lines: string[]): Reply {
  return { kind: "reply", code, enhanced, lines };
}

const REPLIES: [name: string, wire: string, expected: Reply[]][] = [
  ["a single line", "250 Ok\r\n", [reply(250, null, "Ok")]],
  ["a bare code", "250\r\n", [reply(250, null, "")]],
  ["a code and a space", "250 \r\n", [reply(250, null, "")]],
  ["a bare LF as line end", "250 Ok\n", [reply(250, null, "Ok")]],
  ["an enhanced code", "250 2.1.0 Sender ok\r\n", [reply(250, "2.1.0", "Sender ok")]],
  ["an enhanced code without text", "250 2.1.0\r\n", [reply(250, "2.1.0", "")]],
  ["three digits each", "550 5.100.200 No\r\n", [reply(550, "5.100.200", "No")]],
  ["an enhanced code of another class as text", "450 5.1.1 No\r\n", [reply(450, null, "5.1.1 No")]],
  [
    "no enhanced code in a version number",
    "220 2.6.1.3 ready\r\n",
    [reply(220, null, "2.6.1.3 ready")],
  ],
  ["no enhanced code in 354", "354 3.0.0 Go\r\n", [reply(354, null, "3.0.0 Go")]],
  [
    "several lines",
    "250-mx.test\r\n250-SIZE 1000\r\n250 PIPELINING\r\n",
    [reply(250, null, "mx.test", "SIZE 1000", "PIPELINING")],
  ],
  [
    "an enhanced code on every line",
    "550-5.1.1 No such\r\n550-5.1.1 user\r\n550 5.1.1 here\r\n",
    [reply(550, "5.1.1", "No such", "user", "here")],
  ],
  [
    "an enhanced code on the first line only",
    "550-5.7.1 Blocked\r\n550 see https://example.com\r\n",
    [reply(550, "5.7.1", "Blocked", "see https://example.com")],
  ],
  ["a last line that is a bare code", "250-a\r\n250\r\n", [reply(250, null, "a", "")]],
  [
    "several replies at once",
    "250 2.1.0 a\r\n550 5.1.1 b\r\n354 c\r\n",
    [reply(250, "2.1.0", "a"), reply(550, "5.1.1", "b"), reply(354, null, "c")],
  ],
  ["UTF-8 (RFC 6531)", "550 5.1.1 Müller unbekannt\r\n", [reply(550, "5.1.1", "Müller unbekannt")]],
  ["unregistered codes", "571 Blocked\r\n", [reply(571, null, "Blocked")]],
  [
    "control characters as spaces",
    "250 a\u001b[31mb\u0000c\rd\r\n",
    [reply(250, null, "a [31mb c d")],
  ],
];

const FAULTS: [name: string, wire: string, message: RegExp][] = [
  ["words", "hello\r\n", /not an SMTP reply: "hello"/],
  ["an empty line", "\r\n", /not an SMTP reply/],
  ["two digits", "25 Ok\r\n", /not an SMTP reply/],
  ["four digits", "2500 Ok\r\n", /not an SMTP reply/],
  ["a first digit of 1", "150 Ok\r\n", /not an SMTP reply/],
  ["a first digit of 6", "650 Ok\r\n", /not an SMTP reply/],
  ["a tab after the code", "250\tOk\r\n", /not an SMTP reply/],
  ["HTTP", "HTTP/1.1 400 Bad Request\r\n", /HTTP/],
  ["codes that differ", "250-a\r\n251 b\r\n", /codes 250 and 251/],
  ["an overlong line", `250 ${"x".repeat(4_100)}\r\n`, /overlong line/],
  ["a line without end", "2".repeat(5_000), /overlong line/],
  ["513 lines", `${"250-a\r\n".repeat(512)}250 a\r\n`, /more than 512 lines/],
  [
    "more than 64 KiB",
    `${`250-${"x".repeat(4_000)}\r\n`.repeat(17)}250 a\r\n`,
    /larger than 64 KiB/,
  ],
];

describe("ReplyParser", () => {
  test.each(REPLIES)("reads %s", (_, wire, expected) => {
    expect(parse(wire)).toEqual(expected);
  });

  test.each(REPLIES)("reads %s byte by byte", (_, wire, expected) => {
    expect(parse(wire, 1)).toEqual(expected);
  });

  test.each(FAULTS)("refuses %s", (_, wire, message) => {
    for (const portion of [wire.length, 1, 7]) {
      const [result, ...more] = parse(wire, portion);
      expect(result?.kind).toBe("protocol");
      expect(result?.kind === "protocol" && result.message).toMatch(message);
      expect(more).toEqual([]);
    }
  });

  test("accepts a reply of exactly 512 lines and 64 KiB", () => {
    const line = (separator: string): string => `250${separator}${"x".repeat(122)}\r\n`;
    const [result] = parse(line("-").repeat(511) + line(" "));
    expect(result?.kind === "reply" && result.lines.length).toBe(512);
  });

  test("returns the replies before a fault, and nothing after it", () => {
    const [first, second, ...more] = parse("250 a\r\nnonsense\r\n250 b\r\n");
    expect(first).toEqual(reply(250, null, "a"));
    expect(second?.kind).toBe("protocol");
    expect(more).toEqual([]);
  });

  test("applies the limits to each reply separately", () => {
    const results = parse(`250 ${"x".repeat(4_000)}\r\n`.repeat(40));
    expect(results.map((result) => result.kind)).toEqual(Array(40).fill("reply"));
  });

  test("reports whether it is in the middle of a reply", () => {
    const parser = new ReplyParser();
    expect(parser.isMidReply).toBe(false);
    parser.push(Buffer.from("2"));
    expect(parser.isMidReply).toBe(true);
    parser.push(Buffer.from("50-a\r\n"));
    expect(parser.isMidReply).toBe(true);
    parser.push(Buffer.from("250 b\r\n"));
    expect(parser.isMidReply).toBe(false);
  });

  test("parses repeated replies as if each were the first one", () => {
    const wires = REPLIES.map(([, wire]) => wire);
    const many = Array.from({ length: 40 }, (_, i) => `250 2.0.0 Ok: queued as ${i % 20}\r\n`);
    const all = [...wires, ...wires.toReversed(), ...many, ...wires];
    const separate = all.flatMap((wire) => parse(wire));
    for (const portion of [1, 7, 64, 100_000])
      expect(parse(all.join(""), portion)).toEqual(separate);
  });

  test("does not take the last line of a reply for a reply of its own", () => {
    const known = "250 Ok\r\n";
    expect(parse(`${known}250-first\r\n${known}${known}`)).toEqual([
      reply(250, null, "Ok"),
      reply(250, null, "first", "Ok"),
      reply(250, null, "Ok"),
    ]);
  });

  test("quotes at most a part of an invalid line", () => {
    const [result] = parse(`<html>${"x".repeat(3_000)}\r\n`);
    expect(result?.kind === "protocol" && result.message.length).toBeLessThan(100);
  });
});

describe("the text of a reply", () => {
  test("is one line", () => {
    const several = reply(550, "5.1.1", "No such", "user");
    expect(replyText(several)).toBe("No such user");
    expect(quoteReply(several)).toBe("550 5.1.1 No such user");
    expect(quoteReply(reply(250, null, ""))).toBe("250");
  });
});
