/** Searches in the database. test/proofs/ compares random ones with a plain filter. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { countMessages, findMessages } from "../../../../src/modules/inboxes/search/search.ts";
import { parseQuery, type QueryOptions } from "../../../../src/modules/inboxes/search/syntax.ts";
import { openInbox } from "../../../support/inbox-search.ts";
import { plansOfReads } from "../../../support/reads.ts";

let inbox: ReturnType<typeof openInbox>;
const LONG = "filler ".repeat(1000);

async function findOnce(query: string, options?: QueryOptions, bounds?: object): Promise<number[]> {
  const parsed = parseQuery(query, options);
  if (!parsed.ok) throw new Error(parsed.reason);
  const found = await findMessages(inbox.app, 1, parsed.query, bounds);
  if (bounds === undefined) {
    expect(await countMessages(inbox.app, 1, parsed.query)).toBe(found.length);
  }
  return found.map(({ seq }) => seq);
}

/** The result must be the same however many texts are in the index. */
async function find(...search: Parameters<typeof findOnce>): Promise<number[]> {
  inbox.indexOldest(0);
  const outside = await findOnce(...search);
  for (const texts of [2, Number.MAX_SAFE_INTEGER]) {
    inbox.indexOldest(texts);
    expect(await findOnce(...search)).toEqual(outside);
  }
  return outside;
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

test("messages are read newest first from an index, and not sorted", async () => {
  inbox = openInbox();
  const plans = await plansOfReads(inbox.app, async () => {
    await findOnce("needle", {}, { limit: 5 });
    await findOnce("from:shop", {}, { limit: 5 });
    await findOnce("is:unread", {}, { limit: 5 });
    await findOnce("xy tag:news", {}, { limit: 5 });
  });
  inbox.close();
  expect(plans.map((plan) => plan.split("\n")[0])).toEqual([
    "SEARCH m USING INDEX inbox_messages_page (inbox_seq=? AND seq>? AND seq<?)",
    // Bits of FTS5: in the order of the rows (64), the newest one first (128).
    expect.stringMatching(/^SCAN inbox_search VIRTUAL TABLE INDEX 192:/),
    "SEARCH t USING INDEX inbox_texts_long (message_seq>? AND message_seq<?)",
    "SEARCH m USING INDEX inbox_messages_page (inbox_seq=? AND seq>? AND seq<?)",
    expect.stringMatching(/^SCAN inbox_search VIRTUAL TABLE INDEX 192:/),
    "SEARCH m USING INDEX inbox_messages_page (inbox_seq=? AND seq>? AND seq<?)",
    "SEARCH inbox_messages USING COVERING INDEX inbox_messages_tags (inbox_seq=?)",
    "SEARCH m USING INDEX inbox_messages_page (inbox_seq=? AND seq>? AND seq<?)",
  ]);
  expect(plans.filter((plan) => /TEMP B-TREE/.test(plan))).toEqual([]);
});
