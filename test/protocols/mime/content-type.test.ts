import { describe, expect, test } from "bun:test";
import { isMediaType } from "../../../src/protocols/mime/content-type.ts";
import { contentTypeOf } from "../../../src/protocols/mime/file-types.ts";

describe("the content type that a file name suggests", () => {
  const cases: [filename: string, type: string][] = [
    ["invoice.pdf", "application/pdf"],
    ["INVOICE.PDF", "application/pdf"],
    ["photo.jpeg", "image/jpeg"],
    ["photo.heic", "image/heic"],
    ["data.csv", "text/csv"],
    ["event.ics", "text/calendar"],
    ["mail.eml", "message/rfc822"],
    ["notes.md", "text/markdown"],
    ["archive.tar.gz", "application/x-gzip"],
    ["Übersicht 2026.png", "image/png"],
    ["README", "application/octet-stream"],
    ["pdf", "application/octet-stream"],
    ["file.unheard-of", "application/octet-stream"],
    ["file.constructor", "application/octet-stream"],
    ["dir.pdf/file", "application/octet-stream"],
    [".", "application/octet-stream"],
    ["", "application/octet-stream"],
  ];

  for (const [filename, type] of cases) {
    test(`"${filename}" is ${type}`, () => {
      expect(contentTypeOf(filename)).toBe(type);
      expect(isMediaType(type)).toBe(true);
    });
  }
});

describe("media types", () => {
  const valid = [
    "text/plain",
    "TEXT/HTML",
    "text/plain; charset=utf-8",
    'text/plain;charset="utf-8"; format=flowed',
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "image/svg+xml",
    'application/x; name="a \\" b;c"',
  ];
  for (const text of valid) {
    test(`accepts ${text}`, () => expect(isMediaType(text)).toBe(true));
  }

  const invalid = [
    "",
    "text",
    "text/",
    "/plain",
    "text/plain/x",
    "text plain",
    "text/plain;",
    "text/plain; charset",
    "text/plain; charset=a b",
    "text/plain\r\nBcc: a@example.com",
    "text/plain; x=\t1",
    "text/plain; name=ü",
    `text/${"x".repeat(300)}`,
  ];
  for (const text of invalid) {
    test(`refuses ${JSON.stringify(text.slice(0, 40))}`, () =>
      expect(isMediaType(text)).toBe(false));
  }
});
