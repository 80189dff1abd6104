import { expect, test } from "bun:test";
import { splitMailboxes } from "../../../src/protocols/mime/mailbox.ts";
import { readVisible, writeVisible } from "../../../src/protocols/mime/visible-recipients.ts";

const NAMES = [
  null,
  "Ada",
  "Cy, Inc.",
  'Eve "the" \\ Quick',
  "Jörg, Ü; x",
  "a@b.test",
  "'",
  "日本",
];

test("what is written is read as the same mailboxes", () => {
  const mailboxes = NAMES.map((name, i) => ({ name, address: `p${i}@example.com` }));
  const quoted = [...mailboxes, { name: "Q", address: '"a, b"@example.com' }];
  for (const visible of [
    { to: quoted, cc: [] },
    { to: mailboxes, cc: quoted },
  ]) {
    expect(readVisible(writeVisible(visible))).toEqual(visible);
  }
});

test("text that was not written here is refused", () => {
  expect(() => readVisible("nobody")).toThrow("a stored mailbox cannot be read");
});

test("a list is split at commas outside of quotes", () => {
  expect(splitMailboxes('"A, B" <a@x.test>, c@x.test,"d,\\",e"@x.test')).toEqual([
    '"A, B" <a@x.test>',
    "c@x.test",
    '"d,\\",e"@x.test',
  ]);
  expect(splitMailboxes('a", b, "c')).toEqual(['a", b, "c']);
  expect(splitMailboxes('a, "b, c')).toEqual(["a", '"b', "c"]);
});

test("a long list of quotation marks and backslashes is split in linear time", () => {
  const parts = splitMailboxes(`${'"\\'.repeat(500_000)},a`);
  expect(parts).toHaveLength(2);
});
