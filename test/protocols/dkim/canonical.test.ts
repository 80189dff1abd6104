import { describe, expect, test } from "bun:test";
import {
  fieldName,
  relaxedBody,
  relaxedField,
  splitMessage,
} from "../../../src/protocols/dkim/canonical.ts";

function relaxed(body: string): string {
  return Buffer.concat([...relaxedBody(Buffer.from(body, "latin1"))]).toString("latin1");
}

function hashOf(body: string): string {
  return new Bun.CryptoHasher("sha256").update(relaxed(body)).digest("base64");
}

/** A reference implementation that applies one rule after the other (RFC 6376 §3.4.4). */
function byDefinition(body: string): string {
  const lines = body
    .replace(/[ \t]+(?=\r\n|$)/g, "")
    .replace(/[ \t]+/g, " ")
    .replace(/(\r\n)*$/, "");
  return lines === "" ? "" : `${lines}\r\n`;
}

describe("a header field in relaxed form", () => {
  const cases: [why: string, field: string, canonical: string][] = [
    ["the example of RFC 6376 §3.4.5, A", "A: X", "a:X"],
    ["the example of RFC 6376 §3.4.5, B", "B : Y\t\r\n\tZ  ", "b:Y Z"],
    ["a name in capitals", "SUBJECT: Hello", "subject:Hello"],
    ["no blank after the colon", "Subject:Hello", "subject:Hello"],
    ["many lines", "X: a\r\n b\r\n\tc\r\n  d", "x:a b c d"],
    ["a first line with nothing on it", "X:\r\n a", "x:a"],
    ["no value", "X:", "x:"],
    ["blanks for a value", "X:  \r\n \t ", "x:"],
    ["colons in the value", "X: a: b:c", "x:a: b:c"],
    ["a no-break space, which is no blank here", "X: \xa0a\xa0 ", "x:\xa0a\xa0"],
  ];
  test.each(cases)("%s", (_, field, canonical) => {
    expect(relaxedField(field)).toBe(canonical);
  });
});

describe("a body in relaxed form", () => {
  const cases: [why: string, body: string, canonical: string][] = [
    ["the example of RFC 6376 §3.4.5", " C \r\nD \t E\r\n\r\n\r\n", " C\r\nD E\r\n"],
    ["empty", "", ""],
    ["a line end only", "\r\n", ""],
    ["blank lines only", "\r\n \r\n\t\r\n", ""],
    ["blanks only", "  \t", ""],
    ["no line end at its end", "a", "a\r\n"],
    ["blanks at its end", "a \t", "a\r\n"],
    ["blank lines with blanks at its end", "a\r\n \r\n\t \r\n\r\n", "a\r\n"],
    ["blank lines in the middle", "a\r\n\r\n \r\nb\r\n", "a\r\n\r\n\r\nb\r\n"],
    ["one blank in front of a line", "a\r\n b\r\n", "a\r\n b\r\n"],
    ["tabs", "a\tb\t\tc\r\n", "a b c\r\n"],
    ["a single CR and a single LF, which are not line ends", "a \r b \n\r\n", "a \r b \n\r\n"],
    ["octets beyond ASCII", "\xa0 \xff  \x85\r\n", "\xa0 \xff \x85\r\n"],
  ];
  test.each(cases)("%s", (_, body, canonical) => {
    expect(relaxed(body)).toBe(canonical);
    expect(byDefinition(body)).toBe(canonical);
  });

  test("has the hash of RFC 8463 §A.3", () => {
    const body = "Hi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n";
    expect(hashOf(body)).toBe("2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=");
  });

  test("has the hash of no data if it is empty (RFC 6376 §3.4.4)", () => {
    expect(hashOf("\r\n\r\n")).toBe("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  });

  const large: [why: string, body: string][] = [
    ["short lines", "abc  def\t\r\n".repeat(30_000)],
    ["nothing to change", "abcdefgh\r\n".repeat(30_000)],
    ["one line that is longer than a block", "ab  cd ".repeat(50_000)],
    ["a long line between short ones", `a  b\r\n${"x y  ".repeat(40_000)}\r\nc \r\n`],
    ["a run of blanks across the end of a block", `${"x".repeat(65_530)}${" ".repeat(20)}y`],
    ["a line end across the end of a block", `${"x".repeat(65_534)} \r\n  y\r\n`],
    ["very many blank lines at its end", `a\r\n${" \t\r\n".repeat(50_000)}`],
  ];
  test.each(large)("is the same in blocks: %s", (_, body) => {
    expect(relaxed(body) === byDefinition(body)).toBe(true);
  });
});

describe("a message is split", () => {
  test("into folded fields and the body", () => {
    const { fields, body } = splitMessage(Buffer.from("A: 1\r\n 2\r\nB: 3\r\n\r\nx\r\n\r\ny"));
    expect(fields).toEqual(["A: 1\r\n 2", "B: 3"]);
    expect(fields.map(fieldName)).toEqual(["a", "b"]);
    expect(body.toString()).toBe("x\r\n\r\ny");
  });

  test.each(["A: 1\r\nB: 2\r\n", "A: 1\r\nB: 2", "A: 1\r\nB: 2\r\n\r\n"])(
    "if it has no body: %j",
    (message) => {
      const { fields, body } = splitMessage(Buffer.from(message));
      expect(fields).toEqual(["A: 1", "B: 2"]);
      expect(body.length).toBe(0);
    },
  );

  test("with one character for each octet beyond ASCII", () => {
    const { fields } = splitMessage(Buffer.from("To: grüße@example.com\r\n\r\n"));
    expect(Buffer.from(fields[0] ?? "", "latin1").toString("utf8")).toBe("To: grüße@example.com");
  });
});
