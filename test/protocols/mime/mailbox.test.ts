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
    ['"e@f.example" <a@b.example>', "a@b.example", "e@f.example"],
    ['"Ada <e@f.example>" <a@b.example>', "a@b.example", "Ada <e@f.example>"],
    ['"A <e@f.example>, B" <a@b.example>', "a@b.example", "A <e@f.example>, B"],
    ["a@b.example <a@b.example>", "a@b.example", "a@b.example"],
    ["A@B.example <a@b.example>", "a@b.example", "A@B.example"],
    ["'a@b.example' <a@b.example>", "a@b.example", "'a@b.example'"],
    ["j@bücher.example <j@bücher.example>", "j@xn--bcher-kva.example", "j@bücher.example"],
    ["@ada@social.example <a@b.example>", "a@b.example", "@ada@social.example"],
    ["https://b.example/@ada <a@b.example>", "a@b.example", "https://b.example/@ada"],
    ["Sales @ Shop <a@b.example>", "a@b.example", "Sales @ Shop"],
    ["@ada <a@b.example>", "a@b.example", "@ada"],
    ["Ada@Shop <a@b.example>", "a@b.example", "Ada@Shop"],
    ["Shop: Support <a@b.example>", "a@b.example", "Shop: Support"],
    ["Ada (Shop Inc.) <a@b.example>", "a@b.example", "Ada (Shop Inc.)"],
    ["Shop [Support] <a@b.example>", "a@b.example", "Shop [Support]"],
    ["I <3 Shops <a@b.example>", "a@b.example", "I <3 Shops"],
    ['Ada "Countess" Byron <a@b.example>', "a@b.example", 'Ada "Countess" Byron'],
    ['"Ada" "Byron" <a@b.example>', "a@b.example", '"Ada" "Byron"'],
    ['5" Pipes <a@b.example>', "a@b.example", '5" Pipes'],
    ["O'Hara & Co. <a@b.example>", "a@b.example", "O'Hara & Co."],
    ["A\\B <a@b.example>", "a@b.example", "A\\B"],
    ['"a<b"@b.example', '"a<b"@b.example', null],
    ['Ada <"a<b> "@b.example>', '"a<b> "@b.example', "Ada"],
    ["A\r\nBcc: b <a@b.example>", "a@b.example", "A Bcc: b"],
    ["Ada \t \u2028 Byron\u0085<a@b.example>", "a@b.example", "Ada Byron"],
    ["\0 <a@b.example>", "a@b.example", null],
    ["Ad\ud800 <a@b.example>", "a@b.example", "Ad\ufffd"],
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
    "Ada <a@b.example> <e@f.example>",
    "<e@f.example> <a@b.example>",
    "<e@f.example><a@b.example>",
    "e@f.example <a@b.example>",
    "e@f.example<a@b.example>",
    "'e@f.example' <a@b.example>",
    "e＠f.example <a@b.example>",
    "e@bücher.example <a@b.example>",
    "a+1@b.example <a@b.example>",
    "Ada via e@f.example <a@b.example>",
    "mailto:e@f.example <a@b.example>",
    "Ada e@f.example <a@b.example>",
    "Ada (e@f.example) <a@b.example>",
    "Ada <e@f.example <a@b.example>",
    'Ada "<e@f.example>, B <a@b.example>',
    '"Ada" <e@f.example> "B" <a@b.example>',
    "Ada <> <a@b.example>",
    "Ada <a@b.example> trailing",
    "Ada <a@b.example> (comment)",
    "a@b.example (Ada)",
    "a(comment)@b.example",
    "<a@b.example",
    "<<a@b.example>>",
    "Ada <a@b.example>>",
    "Ada < >",
    "Ada <Eve <a@b.example>>",
    '"Ada <a@b.example>',
    '"Ada" a@b.example',
    "Ada a@b.example",
    "a@b.example e@f.example",
    "a@b.example; e@f.example",
    "a@b.example,",
    ",a@b.example",
    ", <a@b.example>",
    "a@b.example,,,",
    "Team: a@b.example;",
    "Team: Ada <a@b.example>;",
    "Team: Ada <a@b.example>, Eve <e@f.example>;",
    "undisclosed-recipients:;",
    "<@relay.example:a@b.example>",
    "Ada <a@b.example, e@f.example>",
    "Ada <a@b.example e@f.example>",
    "Ada <a@b@f.example>",
    "Ada <a@b.\nexample>",
    "mailto:a@b.example",
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
