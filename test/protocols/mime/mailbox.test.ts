import { describe, expect, test } from "bun:test";
import { formatMailbox, mailboxText, parseMailbox } from "../../../src/protocols/mime/mailbox.ts";

describe("a mailbox", () => {
  const good: [text: string, address: string, name: string | null][] = [
    ["a@b.example", "a@b.example", null],
    [" <A@B.Example> ", "a@b.example", null],
    ["Shop <a@b.example>", "a@b.example", "Shop"],
    ["Shop<a@b.example>", "a@b.example", "Shop"],
    ['"Shop, \\"best\\" \\\\ one" <a@b.example>', "a@b.example", 'Shop, "best" \\ one'],
    ['"Shop, Inc.; \\",\\"" <a@b.example>', "a@b.example", 'Shop, Inc.; ","'],
    ['"" <a@b.example>', "a@b.example", null],
    ["a < b <a@b.example>", "a@b.example", "a < b"],
    ["Jörg <j@bücher.example>", "j@xn--bcher-kva.example", "Jörg"],
  ];
  test.each(good)("%j", (text, address, name) => {
    expect(parseMailbox(text)).toEqual({ ok: true, mailbox: { address, name } });
    const written = mailboxText({ address, name });
    expect(parseMailbox(written)).toEqual({ ok: true, mailbox: { address, name } });
  });

  const bad = [
    "",
    "Shop",
    "a@b.example\n",
    "\u00a0a@b.example",
    "Shop <a@b.example>\r\n",
    "Shop <a@b.example\u2028>",
    "<>",
    "Shop <>",
    "Shop <a@b.example",
    "a@b.example>",
    "a@b.example, c@d.example",
    "A <a@b.example>, B <c@d.example>",
    '"A" <a@b.example>, "B" <c@d.example>',
    "a@b.example, B <c@d.example>",
    "A <a@b.example>; B <c@d.example>",
    "Shop, Inc. <a@b.example>",
    "A\r\nBcc: b <a@b.example>",
    "\0 <a@b.example>",
    `${"x".repeat(256)} <a@b.example>`,
  ];
  test.each(bad)("is not %j", (text) => {
    const parsed = parseMailbox(text);
    expect(parsed.ok ? parsed.mailbox : parsed.reason).toMatch(/^The .*\.$/);
  });
});

test("a mailbox is formatted with its name", () => {
  expect(formatMailbox({ address: "a@b.example", name: "Shop" })).toBe("Shop <a@b.example>");
  expect(formatMailbox({ address: "a@b.example", name: null })).toBe("a@b.example");
});

test("a name that cannot stand in a header is left out of the text of a mailbox", () => {
  const address = "a@b.example";
  const names: [name: string, text: string][] = [
    ["Jörg O'Hara Jr.", "Jörg O'Hara Jr. <a@b.example>"],
    ["=?utf-8?Q?A?=", '"=?utf-8?Q?A?=" <a@b.example>'],
    [" Ada ", '" Ada " <a@b.example>'],
    ["A\r\nBcc: b", address],
    ["x".repeat(256), address],
    ["", address],
  ];
  for (const [name, text] of names) expect(mailboxText({ address, name })).toBe(text);
});
