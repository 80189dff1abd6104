/**
 * Tests which mails are letters and which are rendered in full: it depends on the mail alone, so that a
 * retry sends the same octets.
 */

import { expect, test } from "bun:test";
import type { MailRow } from "../../../src/outbox/compose/prepare.ts";
import { readResults, writeResults } from "../../../src/outbox/compose/tasks.ts";
import { TAILROOM_BYTES } from "../../../src/protocols/mime/tailroom.ts";
import { mailRow, SIGNED_AT, testPreparation, testSigner } from "../../support/compose.ts";

const LINK = '<a href="https://example.com/x">{{ name }}</a>';
const CAMPAIGN = { campaignSeq: 1, isMarketing: true } as const;
const ATTACHMENT = {
  filename: "a.txt",
  content: Buffer.from("a"),
  contentType: "text/plain",
  contentId: null,
  disposition: "attachment",
} as const;
const ITEMS = "{% for i in (1..401) %}<p>{{ name }}</p>{% endfor %}";
/** Two values that are the link to unsubscribe together. */
const TWO_VALUES = "{{ unsubscribeUrl | slice: 0, 40 }}{{ unsubscribeUrl | slice: 40, 99 }}";

const values = (name: string) => ({ variables: JSON.stringify({ name }) });
const body = (html: string) => ({ html, ...values("Ada") });

const CHOICES: [what: string, isLetter: boolean, mail: Partial<MailRow>][] = [
  ["a campaign", true, { ...CAMPAIGN, ...values("Ada") }],
  ["a campaign whose body has no outputs", true, { ...CAMPAIGN, html: "<p>News</p>" }],
  ["a transactional template with an output", true, values("Ada")],
  ["a transactional template with a tag", true, { html: "{% if x %}a{% else %}b{% endif %}" }],
  ["a finished transactional body", false, { html: "<p>Hello</p>" }],
  ["a mail with an attachment", false, { ...CAMPAIGN, attachments: [ATTACHMENT] }],
  ["a submitted message", false, { submitted: Buffer.from("Subject: a\r\n\r\na\r\n") }],
  ["an empty value", true, values("")],
  ["a value with two blanks", false, values("a  b")],
  ["a value with a blank at its end", false, values("a ")],
  ["a value with a line break", false, values("a\nb")],
  ["a value with an invisible character", false, values("a\u200bb")],
  ["a value with markup that is escaped", true, values("<b>")],
  ["a value that begins with a dot", true, values(".a")],
  ["a value that begins with From", true, values("From a")],
  ["a value that is not ASCII", true, values("山田")],
  ["a value of 2,001 characters", false, values("x".repeat(2_001))],
  ["markup as a value", false, { ...values("<b>a</b>"), html: "<p>{{ name | raw }}</p>" }],
  ["a value in an attribute", false, body('<p title="{{ name }}">x</p>')],
  ["a value in preformatted text", false, body("<pre>{{ name }}</pre>")],
  ["a value in a link", true, body(LINK)],
  ["a value in a link that may be its URL", false, { html: LINK, ...values("https://a.test") }],
  ["a link to the recipient's page", true, body('<a href="{{ unsubscribeUrl }}">{{ name }}</a>')],
  ["another text with the recipient's link", false, body('{{ manageUrl | append: "?x" }}')],
  ["values that are a link together", false, { ...CAMPAIGN, ...body(`<p>${TWO_VALUES}</p>`) }],
  ["a private-use character", false, body("<p>\ue000{{ name }}</p>")],
  ["a private-use character alone", false, { ...CAMPAIGN, html: "<p>\ue000</p>" }],
  ["text that is mostly not ASCII", false, body(`<p>${"日本語".repeat(40)}{{ name }}</p>`)],
  ["a header whose name begins with a dot", false, { headers: '[[".a","b"]]', ...values("Ada") }],
  ["401 values", false, body(ITEMS)],
  ["400 values", true, body(ITEMS.replace("401", "400"))],
  ["a body of 97 KiB", false, body(`{{ name }}${"x ".repeat(97 * 512)}`)],
  ["10,000 tags", false, body(`{{ name }}${"<br>".repeat(10_000)}`)],
  ["1,000 tracked links", false, { tracking: "ENABLED", ...body(`{{ name }}${links(1_000)}`) }],
  ["999 tracked links", false, { tracking: "ENABLED", ...body(`{{ name }}${links(999)}`) }],
  ["998 tracked links", true, { tracking: "ENABLED", ...body(`{{ name }}${links(998)}`) }],
  ["a text longer than 256 KiB", false, body(`{{ name }}${"<hr>".repeat(4_000)}`)],
];

function links(count: number): string {
  return Array.from({ length: count }, (_, i) => `<a href="https://a.test/${i}">x</a>`).join("");
}

const UNSIGNED = { signer: null, at: SIGNED_AT };

for (const [what, isLetter, rest] of CHOICES) {
  test(`a mail is ${isLetter ? "a letter" : "rendered in full"}: ${what}`, () => {
    const { prepareSync } = testPreparation();
    const mail = mailRow(rest);
    const first = prepareSync(mail, UNSIGNED);
    if (first.kind !== "prepared") throw new Error(first.reason);
    expect(first.hasTailroom).toBe(isLetter);
    // Other mails fill the cache, and change no choice.
    for (const other of ["Grace", "", "a  b"])
      prepareSync(mailRow({ ...rest, ...values(other) }), UNSIGNED);
    expect(prepareSync(mail, UNSIGNED)).toEqual(first);
    expect(testPreparation().prepareSync(mail, UNSIGNED)).toEqual(first);
  });
}

test("a letter, also a signed one, has room behind it and no line that begins with a dot", async () => {
  const { prepareSync } = testPreparation();
  const html = `<p>.{{ name }}<br>\n.${"x".repeat(74)}.${"y".repeat(74)}.</p>\n.\n..\n{{ name }}`;
  for (const signer of [null, await testSigner()]) {
    const mail = mailRow({ html, toName: ".", subject: ".", ...values("...") });
    const prepared = prepareSync(mail, { signer, at: SIGNED_AT });
    if (prepared.kind !== "prepared") throw new Error(prepared.reason);
    const { message, hasTailroom } = prepared;
    expect(hasTailroom).toBe(true);
    expect(Buffer.from(message).toString()).not.toMatch(/^\./m);
    const end = message.byteOffset + message.byteLength;
    expect(message.buffer.byteLength - end).toBeGreaterThanOrEqual(TAILROOM_BYTES);
  }
});

test("the messages of a thread have room behind them, too", () => {
  const { prepareSync } = testPreparation();
  const mails = ["Ada", "a  b", "Grace"].map((name) =>
    prepareSync(mailRow(values(name)), UNSIGNED),
  );
  const { prepared } = readResults(writeResults(mails, { slow: [] }));
  const rooms = prepared.map((each) => {
    if (each.kind !== "prepared") throw new Error(each.reason);
    const { message } = each;
    // The room is used; no other message changes.
    new Uint8Array(message.buffer, message.byteOffset + message.byteLength, TAILROOM_BYTES).fill(
      46,
    );
    return each.hasTailroom;
  });
  expect(rooms).toEqual([true, false, true]);
  const plain = (each: (typeof mails)[number]) =>
    each.kind === "prepared" ? { ...each, message: Buffer.from(each.message) } : each;
  expect(prepared.map(plain)).toEqual(mails.map(plain));
});

test("the recipient's fields of a letter are those of its mail, also if they are not ASCII", () => {
  const { prepareSync } = testPreparation();
  for (const to of ["ada@example.net", "zoë@example.net", "山田@例え.jp", "bob@example.net"]) {
    const prepared = prepareSync(mailRow({ to, toName: null, ...values("Ada") }), UNSIGNED);
    if (prepared.kind !== "prepared") throw new Error(prepared.reason);
    expect(prepared.hasTailroom).toBe(true);
    const text = Buffer.from(prepared.message).toString();
    expect(text).toContain(
      `\r\nTo: ${to.replace("例え.jp", "xn--r8jz45g.jp")}\r\nSubject: Hello\r\n`,
    );
    expect(text).toEndWith("--\r\n");
  }
});

test("mails with other fields of the sender, headers, footers or parameters have other letters", () => {
  const { prepareSync } = testPreparation();
  const changes: Partial<MailRow>[] = [
    {},
    { fromName: "Bob" },
    { fromAddress: "other@acme.test" },
    { replyTo: "reply@acme.test" },
    { headers: '[["X-A","1"]]' },
    { utm: '{"source":"news"}' },
    { tracking: "ENABLED" },
    { projectName: "Other" },
    { language: "de" },
    { messageSeq: 2 },
    { projectId: "p-2" },
    { bounceHost: "bounce.acme.test" },
    { isMarketing: false },
  ];
  const html = '<p>{{ name }} <a href="https://a.test/x">x</a></p>';
  const id = mailRow().id;
  for (let round = 0; round < 2; round++) {
    const messages = changes.map((change) => {
      const mail = mailRow({ ...CAMPAIGN, id, html, ...values("Ada"), ...change });
      const prepared = prepareSync(mail, UNSIGNED);
      expect(testPreparation().prepareSync(mail, UNSIGNED)).toEqual(prepared);
      return JSON.stringify(prepared);
    });
    expect(new Set(messages).size).toBe(changes.length);
  }
});

test("a body with a private-use character takes no letter from a body with more values", () => {
  const html = "<p>{{ name }} {{ city }}</p>";
  const lookalike = { ...CAMPAIGN, html: "<p>{{ name }} \ue001</p>", ...values("Ada") };
  const mail = mailRow({ ...CAMPAIGN, html, variables: '{"name":"Ada","city":"Bonn"}' });
  const { prepareSync } = testPreparation();
  prepareSync(mailRow(lookalike), UNSIGNED);
  expect(prepareSync(mail, UNSIGNED)).toEqual(testPreparation().prepareSync(mail, UNSIGNED));
});
