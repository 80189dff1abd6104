/** Messages that take the parser too long delay neither other inboxes nor their readers. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { silentLog } from "../../../src/lib/log.ts";
import { senderOfInbox } from "../../../src/lib/message-senders.ts";
import { createIndexer } from "../../../src/modules/inboxes/indexing/indexer.ts";
import { parseForIndex } from "../../../src/modules/inboxes/parsing/parse.ts";
import { ParserError } from "../../../src/modules/inboxes/parsing/parser.ts";
import type { Unparsed } from "../../../src/modules/inboxes/parsing/tasks.ts";
import { captureApp } from "../../support/capture.ts";
import { waitUntil } from "../../support/eventually.ts";

let t: Awaited<ReturnType<typeof captureApp>>;
beforeAll(async () => {
  t = await captureApp();
  await t.inboxes.indexer.stop();
});
afterAll(() => t.close());

const SLOW = "X-Slow: yes\r\nSubject: slow\r\n\r\nx";

/** Stores a message in an inbox, and returns its `seq`. */
async function store(inboxSeq: number, text: string): Promise<void> {
  const raw = Buffer.from(`${text.replace("x", "y")}\r\n--b\r\n`);
  const arrival = t.inboxes.intake.open(Promise.resolve(inboxSeq));
  await arrival.add(raw);
  await arrival.complete({ inboxSeq, envelope: ENVELOPE, username: "", emailId: null });
}

const ENVELOPE = {
  from: "a@example.com",
  to: [],
  peer: "",
  helo: "",
  tls: null,
  sessionId: null,
  hasBareLf: false,
};

test("are put off, one at a time, until nothing else waits", async () => {
  const { inboxes } = t.inboxes;
  const made = await t.app.writer.write(() =>
    ["hostile", "honest"].map((name) => inboxes.create(t.project.seq, { name })().seq),
  );
  const [hostile = 0, honest = 0] = made;
  const multipart = "Content-Type: multipart/mixed; boundary=b\r\n";
  for (let i = 0; i < 3; i++) await store(hostile, `${multipart}${SLOW}`);
  for (let i = 0; i < 2; i++) await store(honest, `${multipart}Subject: quick\r\n\r\nx`);

  const slow = new Set<string>();
  const tasks: string[] = [];
  const parser = {
    isSlow: (sender: string) => slow.has(sender),
    async index(messages: readonly Unparsed[], sender: string) {
      tasks.push(`${sender === senderOfInbox(hostile) ? "hostile" : "honest"} ${messages.length}`);
      if (messages.some(({ raw }) => Buffer.from(raw).includes("X-Slow"))) {
        slow.add(sender);
        throw new ParserError("it took too long");
      }
      return Promise.all(
        messages.map(async ({ raw }) => ({
          ok: true as const,
          parsed: await parseForIndex(Buffer.from(raw), []),
        })),
      );
    },
  };
  const { app, db, clock } = t;
  const indexer = createIndexer({ ...app, ...t.inboxes, db, clock, log: silentLog, parser });
  indexer.start();
  await indexer.caughtUp();
  const states = () =>
    db.sqlite.query("SELECT state, count(*) FROM inbox_messages GROUP BY state").values();
  await waitUntil(() => states().every(([state]) => state !== "RECEIVED"));
  expect(tasks).toEqual(["hostile 3", "honest 2", "hostile 1", "hostile 1", "hostile 1"]);
  expect(states()).toEqual([
    ["PARSED", 2],
    ["UNREADABLE", 3],
  ]);
  await indexer.stop();
});
