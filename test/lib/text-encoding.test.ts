import { describe, expect, test } from "bun:test";
import { guessEncoding, type TextEncoding } from "../../src/lib/text-encoding.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");
const utf8 = (text: string) => Buffer.from(text, "utf8");
const utf16 = (text: string) => Buffer.from(`\u{feff}${text}`, "utf16le");

const cases: [name: string, bytes: Buffer, encoding: TextEncoding][] = [
  ["nothing", Buffer.alloc(0), "utf-8"],
  ["ASCII", utf8("email,name\nada@example.com,Ada\n"), "utf-8"],
  ["UTF-8", utf8("name\nZoë\n太郎\n😀\n"), "utf-8"],
  ["UTF-8 with a byte order mark", utf8("\u{feff}name\nAda\n"), "utf-8"],
  ["Latin-1", latin1("name\nZoë Müller\n"), "windows-1252"],
  ["Windows-1252 with curly quotes", Buffer.from([0x93, 0x61, 0x94]), "windows-1252"],
  [
    "much UTF-8 with one broken byte",
    Buffer.concat([utf8("Zoë, Jürgen, Łukasz"), latin1("é")]),
    "utf-8",
  ],
  [
    "Latin-1 that has one pair like UTF-8",
    Buffer.concat([latin1("éèàü öß"), utf8("é")]),
    "windows-1252",
  ],
  ["a broken end", Buffer.from([0x61, 0xc3]), "windows-1252"],
  ["Polish", Buffer.from([0x57, 0x69, 0xb3, 0x61, 0x20, 0x77, 0x69, 0xb9, 0x7a]), "windows-1250"],
  ["square metres", latin1("5 m\u00b3, caf\u00e9"), "windows-1252"],
  ["Windows-1251", Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20]), "windows-1251"],
  ["KOI8-R", Buffer.from([0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4, 0x2c, 0x20]), "koi8-r"],
  ["UTF-16 without its mark", utf16("name\nAda\n").subarray(2), "utf-16le"],
  ["UTF-16 little-endian", utf16("name\nAda\n"), "utf-16le"],
  ["UTF-16 big-endian", utf16("name\nAda\n").swap16(), "utf-16be"],
];

describe("guesses", () => {
  test.each(cases)("%s", (_, bytes, encoding) => {
    for (const size of [1, 2, 3, 1000]) {
      const guess = guessEncoding();
      for (let at = 0; at < bytes.length; at += size) guess.see(bytes.subarray(at, at + size));
      expect([size, guess.result()]).toEqual([size, encoding]);
    }
  });
});
