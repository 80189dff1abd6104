/** Searches in the database, compared with a plain filter over the same messages. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { foldText } from "../../../../src/modules/inboxes/search/fold.ts";
import { parseQuery, type QueryOptions } from "../../../../src/modules/inboxes/search/syntax.ts";
import { type InboxMessage, openInbox } from "../../../support/inbox-search.ts";

let inbox: ReturnType<typeof openInbox>;
const LONG = "filler ".repeat(1000);

async function find(query: string, options?: QueryOptions, bounds?: object): Promise<number[]> {
  const parsed = parseQuery(query, options);
  if (!parsed.ok) throw new Error(parsed.reason);
  const found = await inbox.search.find(1, parsed.query, bounds);
  return found.map(({ seq }) => seq);
}

describe("a message is found by", () => {
  let seq = 0;
  beforeAll(() => {
    inbox = openInbox();
    inbox.add({ subject: "Nothing", body: "of interest" });
    seq = inbox.add({
      receivedAt: Date.UTC(2026, 2, 1, 12),
      size: 5000,
      messageId: "abc@host.test",
      subject: "Your Invoice 100% done_now",
      addresses: {
        from: [{ name: "Shop, Inc.", address: "shop@example.com" }],
        to: [
          { name: "Ada Lovelace", address: "ada@example.com" },
          { name: "", address: "aada@example.com" },
        ],
        cc: [{ name: "", address: "carl@example.com" }],
        bcc: [{ name: "", address: "hidden@example.com" }],
        replyTo: [{ name: "", address: "answer@example.com" }],
      },
      filenames: ["bill.pdf"],
      inlines: 1,
      body: `Dear\r\n customer Ärger\n日本語テスト\n${LONG} the needle at the end ${LONG} farther`,
      tags: ["News", "Ünder"],
    });
    inbox.add({ inboxSeq: 2, subject: "Your Invoice 100% done_now", body: "of another inbox" });
  });
  afterAll(() => inbox.close());

  const FOUND = [
    "invoice",
    "voic",
    "your invoice",
    `"your invoice"`,
    `"dear customer"`,
    "ÄRGER",
    "日本語",
    "日本",
    "日",
    "bill.pdf",
    "100%",
    "e_n",
    "needle",
    `"needle at the end"`,
    "farther customer",
    "invoice needle -missing",
    "-missing",
    "from:shop",
    `from:"shop inc"`,
    "to:ada@example.com",
    "to:lovelace",
    "to:da",
    "cc:carl bcc:hidden reply-to:answer",
    "addressed:answer",
    "subject:invoice needle",
    "subject:Your now",
    "message-id:abc@host",
    "-to:carl",
    "tag:news",
    "tag:ünder",
    "is:tagged is:unread has:attachment has:inline",
    "-is:read",
    "larger:4K smaller:5K",
    "after:2026-03-01 before:2026-03-02",
    "-after:2026-03-02",
  ];
  for (const query of FOUND) {
    test(query, async () => expect(await find(query)).toContain(seq));
  }

  const MISSED = [
    "missing",
    `"customer dear"`,
    "invoice -needle",
    "-farther",
    "100_",
    "%z",
    "invoi%e",
    "needle missing",
    "zz",
    "to:carl",
    "from:ada",
    `to:"lovelace aada"`,
    "addressed:nobody",
    "subject:needle",
    "tag:new",
    "-tag:news",
    "is:read",
    "-has:attachment",
    "larger:5K",
    "before:2026-03-01",
    "after:2026-03-02",
    "message-id:other",
  ];
  for (const query of MISSED) {
    test(`not by ${query}`, async () => expect(await find(query)).not.toContain(seq));
  }

  test("its exact address, where a quoted value means that", async () => {
    const options = { isExactWhenQuoted: true };
    expect(await find(`to:"ADA@example.com"`, options)).toEqual([seq]);
    expect(await find(`to:"da@example.com"`, options)).toEqual([]);
    expect(await find(`to:"da@example.com"`)).toEqual([seq]);
  });
});

describe("the bounds of a search", () => {
  const all: number[] = [];
  beforeAll(() => {
    inbox = openInbox();
    for (let i = 0; i < 40; i++) {
      all.unshift(
        inbox.add({ subject: "same words", body: i % 3 === 0 ? `${LONG} late` : "late" }),
      );
    }
  });
  afterAll(() => inbox.close());

  for (const query of ["same", "late", "sa", "is:unread", "late same"]) {
    test(`${query}: newest first, and limited`, async () => {
      expect(await find(query)).toEqual(all);
      expect(await find(query, {}, { limit: 7 })).toEqual(all.slice(0, 7));
      expect(await find(query, {}, { limit: 0 })).toEqual([]);
      const [, , third = 0, fourth = 0] = all;
      expect(await find(query, {}, { before: third, limit: 1 })).toEqual([fourth]);
      expect(await find(query, {}, { after: fourth })).toEqual(all.slice(0, 3));
    });
  }
});

test("a message that could not be parsed is in searches by state", async () => {
  inbox = openInbox();
  const seq = inbox.add({});
  inbox.db.sqlite.run("DELETE FROM inbox_texts");
  expect(await find("is:unread -word")).toEqual([seq]);
  expect(await find("word")).toEqual([]);
  inbox.close();
});

describe("queries of bad clients are answered", () => {
  beforeAll(() => {
    inbox = openInbox();
    inbox.add({ subject: "x", body: "a b c" });
  });
  afterAll(() => inbox.close());

  const QUERIES = [
    `"`,
    `""""`,
    `'; DROP TABLE inbox_messages; --`,
    `NEAR(a b) AND OR NOT *`,
    `{text}: ^abc + "abc" *`,
    "%%%___",
    "to:%",
    "\u0000\u0001abc",
    "\ud800abc",
    "x".repeat(10_000),
    "ab ".repeat(3_400),
    Array.from({ length: 2_500 }, (_, i) => i.toString(36)).join(" "),
    Array.from({ length: 900 }, (_, i) => `addressed:${i.toString(36)}`).join(" "),
    `"${"to:".repeat(3_000)}`,
    "-".repeat(10_000),
    "tag:".repeat(2_500),
  ];
  for (const query of QUERIES) {
    test(JSON.stringify(query.slice(0, 30)), async () => {
      expect(await find(query)).toBeArray();
    });
  }
});

/** A generator of numbers from 0 below 1 that repeats for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORDS = [
  "ada",
  "Bob",
  "carl",
  "an",
  "x",
  "Zürich",
  "100%",
  "a_b",
  "letter",
  "let",
  "Ter",
  "日本語",
];
const TAGS = ["News", "urgent", "Late"];

type Model = InboxMessage & { seq: number };

function randomMessage(random: () => number): InboxMessage {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] ?? raise();
  const words = (most: number) =>
    Array.from({ length: Math.floor(random() * most) }, () => pick(WORDS)).join(" ");
  const mailboxes = () =>
    Array.from({ length: Math.floor(random() * 3) }, () => ({
      name: words(3),
      address: `${pick(WORDS)}@${pick(WORDS)}.test`,
    }));
  return {
    inboxSeq: 1,
    receivedAt: Math.floor(random() * 1000) * 86_400_000,
    size: Math.floor(random() * 4096),
    messageId: `${pick(WORDS)}@id`,
    subject: words(4),
    addresses: {
      from: mailboxes(),
      to: mailboxes(),
      cc: mailboxes(),
      bcc: mailboxes(),
      replyTo: mailboxes(),
    },
    filenames: random() < 0.3 ? [`${pick(WORDS)}.pdf`] : [],
    inlines: random() < 0.2 ? 1 : 0,
    body: random() < 0.2 ? `${words(5)} ${LONG} ${words(5)}` : words(6),
    tags: TAGS.filter(() => random() < 0.2),
    isRead: random() < 0.5,
  };
}

type Check = { query: string; matches: (message: Model) => boolean };

function raise(): never {
  throw new Error("the list is empty");
}

function randomCheck(random: () => number): Check {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] ?? raise();
  const word = pick(WORDS);
  const value = random() < 0.5 ? word : word.slice(0, Math.ceil(random() * word.length));
  const folded = foldText(value);
  const inBoxes = (boxes: Model["addresses"]["from"] = []) =>
    boxes.some(
      ({ name, address }) => foldText(name).includes(folded) || foldText(address).includes(folded),
    );
  const boxesOf = ({ addresses }: Model) => Object.values(addresses).flat();
  const wordText = (message: Model) =>
    foldText(
      [
        message.subject,
        ...boxesOf(message).map(({ name, address }) =>
          name === "" ? address : `${name} <${address}>`,
        ),
        ...message.filenames,
        message.body,
      ].join("\n"),
    );
  const days = Math.floor(random() * 1000);
  const day = new Date(days * 86_400_000).toISOString().slice(0, 10);
  const size = 1 + Math.floor(random() * 4096);
  const tag = pick(TAGS);
  const checks: Check[] = [
    { query: value, matches: (message) => wordText(message).includes(folded) },
    { query: `"${value}"`, matches: (message) => wordText(message).includes(folded) },
    { query: `"${value} x"`, matches: (message) => wordText(message).includes(`${folded} x`) },
    { query: `from:${value}`, matches: ({ addresses }) => inBoxes(addresses.from) },
    { query: `to:"${value}"`, matches: ({ addresses }) => inBoxes(addresses.to) },
    { query: `cc:${value}`, matches: ({ addresses }) => inBoxes(addresses.cc) },
    { query: `bcc:${value}`, matches: ({ addresses }) => inBoxes(addresses.bcc) },
    { query: `reply-to:${value}`, matches: ({ addresses }) => inBoxes(addresses.replyTo) },
    { query: `addressed:${value}`, matches: (message) => inBoxes(boxesOf(message)) },
    { query: `subject:${value}`, matches: ({ subject }) => foldText(subject).includes(folded) },
    {
      query: `message-id:${value}`,
      matches: ({ messageId }) => foldText(messageId).includes(folded),
    },
    { query: `tag:${tag}`, matches: ({ tags }) => tags.includes(tag) },
    { query: "is:read", matches: ({ isRead }) => isRead },
    { query: "is:unread", matches: ({ isRead }) => !isRead },
    { query: "is:tagged", matches: ({ tags }) => tags.length > 0 },
    { query: "has:attachment", matches: ({ filenames }) => filenames.length > 0 },
    { query: "has:inline", matches: ({ inlines }) => inlines > 0 },
    { query: `after:${day}`, matches: ({ receivedAt }) => receivedAt >= days * 86_400_000 },
    { query: `before:${day}`, matches: ({ receivedAt }) => receivedAt < days * 86_400_000 },
    { query: `larger:${size}`, matches: (message) => message.size > size },
    { query: `smaller:${size}b`, matches: (message) => message.size < size },
  ];
  const check = pick(checks);
  if (random() < 0.7) return check;
  return {
    query: `${pick(["-", "!"])}${check.query}`,
    matches: (message) => !check.matches(message),
  };
}

test("random queries find the same messages as a filter over all of them", async () => {
  inbox = openInbox();
  const random = seeded(15);
  const model: Model[] = [];
  inbox.db.sqlite.transaction(() => {
    for (let i = 0; i < 300; i++) {
      const message = randomMessage(random);
      const seq = inbox.add(message);
      model.unshift({ ...message, seq });
      if (i % 9 === 0) inbox.add({ ...randomMessage(random), inboxSeq: 2 });
    }
  })();
  for (let i = 0; i < 150; i++) {
    const checks = Array.from({ length: 1 + Math.floor(random() * 3) }, () => randomCheck(random));
    const query = checks.map((check) => check.query).join(" ");
    const expected = model.filter((message) => checks.every((check) => check.matches(message)));
    const seqs = expected.map(({ seq }) => seq);
    expect([query, await find(query)]).toEqual([query, seqs]);
    const limit = Math.ceil(random() * 20);
    expect([query, await find(query, {}, { limit })]).toEqual([query, seqs.slice(0, limit)]);
  }
  inbox.close();
});
