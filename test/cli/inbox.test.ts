/** `mailstead inbox import` and `inbox export`, against a running server. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { splitMbox } from "../../src/cli/inbox/mbox.ts";
import { mailstead, type Running, startMailstead } from "../support/command-line.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";

let folder: string;
let server: Running;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "mailstead-inbox-"));
  const words = ["dev", "--json", "--data", join(folder, "data"), "--port", "0"];
  server = await startMailstead([...words, "--capture-smtp", "127.0.0.1:0"]);
  url = stringAt(JSON.parse(server.greeting), "url");
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const inbox = (...words: string[]) => mailstead(["inbox", ...words, "--server", url]);

function file(name: string, content: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const message = (subject: string, body = "Text") =>
  `From: a@example.org\nTo: b@example.com\nSubject: ${subject}\n\n${body}\n`;

async function subjects(): Promise<unknown[]> {
  const response = await fetch(`${url}/inboxes/default/messages?limit=100`);
  return listAt(await response.json(), "data.items").map((item) => valueAt(item, "subject"));
}

test("imports .eml, mbox and Maildir, and names and skips what is no message", async () => {
  const mbox =
    `From a@example.org Sat Jan  3 01:05:34 2026\n${message("m1", "one\n\n>From here\n>>From there")}\n` +
    `From b@example.org Sat Jan  3 01:05:35 2026\n${message("m2")}\n`;
  const paths = [
    file("one.eml", message("e1")),
    file("all.mbox", mbox),
    file("junk.eml", "\u0000\u0001 no message"),
    file("empty.eml", ""),
  ];
  file("maildir/cur/1700000002.x:2,S", message("d2"));
  file("maildir/new/1700000001.y", message("d1"));
  const missing = join(folder, "missing.eml");
  const ran = await inbox("import", ...paths, join(folder, "maildir"), missing, "--json");
  expect(ran.code).toBe(1);
  expect(valueAt(ran.json, "imported")).toBe(5);
  const skipped = listAt(ran.json, "skipped").map(String);
  expect(skipped).toHaveLength(3);
  expect(skipped[0]).toMatch(/junk\.eml: it does not begin with a header field$/);
  expect(skipped[1]).toMatch(/empty\.eml: the file is empty$/);
  expect(skipped[2]).toMatch(/missing\.eml: no file or folder has this name$/);
  expect(await subjects()).toEqual(["d2", "d1", "m2", "m1", "e1"]);
});

test("exports to .eml files, mbox and Maildir, which can be imported again", async () => {
  expect((await inbox("export", join(folder, "out", "eml"))).code).toBe(0);
  const maildir = ["--format", "maildir"];
  expect((await inbox("export", join(folder, "out", "box"), ...maildir)).code).toBe(0);
  const mbox = join(folder, "out", "again.mbox");
  expect((await inbox("export", mbox)).code).toBe(0);
  expect(readFileSync(mbox, "utf8")).toContain("one\n\n>From here\n>>From there\n");
  const repeated = await inbox("export", mbox);
  expect([repeated.code, repeated.stderr]).toEqual([
    2,
    expect.stringContaining("again.mbox exists already: name a new file"),
  ]);
  expect(readdirSync(join(folder, "out", "eml"))).toHaveLength(5);
  expect(readdirSync(join(folder, "out", "box", "new"))).toHaveLength(5);
  const again = await inbox("import", mbox, "--json");
  expect(valueAt(again.json, "imported")).toBe(5);
  const all = await subjects();
  expect(all.slice(0, 5)).toEqual(all.slice(5));
});

test("without a server exits 1 and says where it looked", async () => {
  const words = ["inbox", "export", join(folder, "none"), "--server", "http://127.0.0.1:1"];
  const ran = await mailstead(words);
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining("http://127.0.0.1:1")]);
});

describe("splitMbox", () => {
  const split = async (text: string, pieceBytes: number, maxBytes = 1000) => {
    async function* pieces() {
      for (let at = 0; at < text.length; at += pieceBytes) {
        yield Buffer.from(text.slice(at, at + pieceBytes));
      }
    }
    const found = await Array.fromAsync(splitMbox(pieces(), maxBytes));
    return found.map((each) => each?.toString() ?? null);
  };

  test("begins with the first line, also if it has no date", async () => {
    const text = "From a@example.org\nSubject: 1\n\nOne\n\nFrom here on\n";
    expect(await split(text, 1000)).toEqual(["Subject: 1\r\n\r\nOne\r\n\r\nFrom here on\r\n"]);
  });

  test.each([1, 2, 7, 1000])("reads pieces of %i bytes", async (size) => {
    const text =
      "From x 01:05\nA: 1\n\nFrom is text\n>From b\n\nFrom y 01:05\r\nB: 2\r\n\r\nc\r\n\r\n";
    expect(await split(text, size)).toEqual([
      "A: 1\r\n\r\nFrom is text\r\nFrom b\r\n",
      "B: 2\r\n\r\nc\r\n",
    ]);
  });

  test("a message beyond the limit is null, and the next one is read", async () => {
    const text = `From x 01:05\nA: 1\n\n${"long\n".repeat(500)}\nFrom y 01:05\nB: 2\n\nc\n`;
    expect(await split(text, 100)).toEqual([null, "B: 2\r\n\r\nc\r\n"]);
  });
});
