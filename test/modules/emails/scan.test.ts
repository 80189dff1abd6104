/** The time limit of a search for mails, and the pages of one that does not end in time. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createDirectReader } from "../../../src/db/reader.ts";
import { listEmails } from "../../../src/modules/emails/list.ts";
import type { EmailQuery } from "../../../src/modules/emails/record-model.ts";
import { createEmailRecords } from "../../../src/modules/emails/records.ts";
import { type TestApp, testApp } from "../../support/app.ts";

const MAILS = 5_000;
/** Mails that a search compares before it reads the clock. */
const STEP = 200;

let t: TestApp;

beforeAll(async () => {
  t = await testApp();
  await t.create(
    "/v1/send",
    { to: "a@b.co", from: "a@acme.test", subject: "s", body: "b" },
    "data.emails.0.email",
  );
  t.db.sqlite.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     INSERT INTO emails (seq, id, project_seq, message_seq, source, to_address, subject, status,
                         priority, created_at)
     SELECT n, 'mail-' || n, 1, 1, 'TRANSACTIONAL', 'a@b.co', iif(n % 1000 = 7, 'rare', 's'), 'SENT',
            0, n
     FROM numbers`,
    [MAILS],
  );
});
afterAll(() => t.close());

/** A list whose clock advances by `msPerStep` with each step of a search. */
function listWith(msPerStep: number) {
  let now = 0;
  const reader = createDirectReader(t.db, () => (now += msPerStep / STEP));
  const app = { ...t.app.app, reader };
  const records = createEmailRecords(t);
  return (projectSeq: number, query: EmailQuery) => listEmails(app, records, projectSeq, query);
}

describe("a search that reaches its time limit", () => {
  test("returns what it found, without a total, and a cursor that continues", async () => {
    const list = listWith(500);
    const ids: string[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(1, { subject: "rare", limit: "3", ...(cursor && { cursor }) });
      ids.push(...page.items.map(({ id }) => id));
      sizes.push(page.items.length);
      expect(page.hasMore).toBe(page.nextCursor !== null);
      if (page.hasMore) expect(page.total).toBeNull();
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(ids).toEqual([4007, 3007, 2007, 1007, 7].map((n) => `mail-${n}`));
    expect(sizes.length).toBeGreaterThan(2);
  });

  test("returns a full page, and no total, if only the counting takes long", async () => {
    const page = await listWith(1_500)(1, { status: "SENT", limit: "2" });
    expect(page.items.map(({ id }) => id)).toEqual([`mail-${MAILS}`, `mail-${MAILS - 1}`]);
    expect([page.hasMore, page.total]).toEqual([true, null]);
  });

  test("continues after an empty page", async () => {
    const list = listWith(2_000);
    const first = await list(1, { subject: "nowhere" });
    expect([first.items, first.hasMore, first.total]).toEqual([[], true, null]);
    let pages = 1;
    for (let { nextCursor } = first; nextCursor !== null; pages++) {
      ({ nextCursor } = await list(1, { subject: "nowhere", cursor: nextCursor }));
    }
    // The last step finds that there are no older mails.
    expect(pages).toBe(MAILS / STEP + 1);
  });
});

test("a search within its time limit has the exact total on every page", async () => {
  const list = listWith(1);
  const first = await list(1, { subject: "RARE", limit: "2" });
  const second = await list(1, { subject: "RARE", limit: "2", cursor: first.nextCursor ?? "" });
  expect([first.total, second.total]).toEqual([5, 5]);
  expect(second.items.map(({ id }) => id)).toEqual(["mail-2007", "mail-1007"]);
});
