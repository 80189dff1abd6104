/** Which mails are prepared on the event loop and which by threads. */

import { afterEach, describe, expect, test } from "bun:test";
import { createGarbage } from "../../../src/lib/garbage.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { createComposer } from "../../../src/outbox/compose/composer.ts";
import type { Prepared } from "../../../src/outbox/compose/prepare.ts";
import type { LeasedMail } from "../../../src/outbox/lease-rows.ts";
import { type Busy, WITHDRAWN } from "../../../src/outbox/outcome.ts";
import type { Signer } from "../../../src/protocols/dkim/sign.ts";
import { templateCache } from "../../../src/render/template/cache.ts";
import { manualClock } from "../../support/clock.ts";
import { mailRow, testSigner, TOKEN_KEYS } from "../../support/compose.ts";
import { waitUntil } from "../../support/eventually.ts";

const LOOP = "{% for i in list %}{{ i }}{% endfor %}";

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function leased(rest: Partial<LeasedMail> = {}): LeasedMail {
  return {
    ...mailRow(rest),
    seq: 1,
    attempts: 1,
    dueAt: 0,
    slot: null,
    busy: null,
    projectSeq: 1,
    isProjectEnabled: true,
    isTest: false,
    contactSeq: 1,
    isSubscribed: true,
    suppression: null,
    priority: 0,
    envelopeFrom: null,
    ...rest,
  };
}

function setUp(signerOf: () => Signer | null = () => null) {
  const clock = manualClock();
  /** Ids of the mails that were prepared on the event loop. */
  const here: string[] = [];
  const tooSlow: number[] = [];
  const stopped = new Set<number>();
  const composer = createComposer({
    ...TOKEN_KEYS,
    templateCache: templateCache({ maxEntries: 100, maxBytes: 1_000_000 }),
    clock,
    log: silentLog,
    signerOf,
    bounceHostOf: () => null,
    runInSlices: (piece) => piece(),
    beginWork: (id) => void here.push(id),
    noteTooSlow: (campaignSeq) => void tooSlow.push(campaignSeq),
    isTooCostly: (campaignSeq) => stopped.has(campaignSeq),
    garbage: createGarbage({ clock }),
    threads: { limitMs: 400 },
  });
  closing.push(composer.close);

  const prepareOne = (mail: LeasedMail) =>
    new Promise<Prepared | Busy>((resolve, reject) => composer.prepare(mail, { resolve, reject }));

  /** Prepares mails together; returns their results and how many were prepared on the event loop. */
  async function prepare(mails: readonly LeasedMail[]) {
    here.length = 0;
    const results = await Promise.all(mails.map(prepareOne));
    return { kinds: new Set(results.map(({ kind }) => kind)), here: here.length, results };
  }

  const many = (size: number, rest: Partial<LeasedMail>) =>
    prepare(Array.from({ length: size }, () => leased(rest)));

  /** Waits until a thread is up: then signed mail of a campaign goes there. */
  async function startThread(): Promise<void> {
    await many(1, { html: LOOP, messageSeq: 99 });
  }

  return { composer, prepare, prepareOne, many, startThread, here, tooSlow, stopped };
}

const prepared = new Set(["prepared" as const]);

describe("the event loop prepares", () => {
  test.each<[string, number, Partial<LeasedMail>]>([
    ["unsigned transactional mail", 50, {}],
    ["unsigned mail of campaigns", 50, { campaignSeq: 1 }],
  ])("%s", async (_, size, rest) => {
    const { many, startThread } = setUp();
    await startThread();
    expect(await many(size, rest)).toMatchObject({ kinds: prepared, here: size });
  });

  test("a few signed transactional mails", async () => {
    const signer = await testSigner();
    const { many, startThread } = setUp(() => signer);
    await startThread();
    expect(await many(4, {})).toMatchObject({ kinds: prepared, here: 4 });
  });

  test("cheap mail while no thread is up", async () => {
    const signer = await testSigner();
    const { many } = setUp(() => signer);
    expect(await many(10, { campaignSeq: 1 })).toMatchObject({ kinds: prepared, here: 10 });
  });
});

describe("threads prepare", () => {
  test.each<[string, number, Partial<LeasedMail>]>([
    ["a template that may be expensive", 1, { html: LOOP, messageSeq: 2 }],
    ["a subject that may be expensive", 1, { campaignSeq: 1, subject: `x${LOOP}` }],
    ["a large body", 1, { html: "word ".repeat(20_000), messageSeq: 2 }],
    ["large variables", 1, { variables: JSON.stringify({ name: "x".repeat(200_000) }) }],
  ])("%s", async (_, size, rest) => {
    const { many, startThread } = setUp();
    await startThread();
    expect(await many(size, rest)).toMatchObject({ kinds: prepared, here: 0 });
  });

  test.each<[string, number, Partial<LeasedMail>]>([
    ["signed mail of campaigns", 2, { campaignSeq: 1 }],
    ["more than a few signed transactional mails", 5, {}],
  ])("%s", async (_, size, rest) => {
    const signer = await testSigner();
    const { many, startThread } = setUp(() => signer);
    await startThread();
    expect(await many(size, rest)).toMatchObject({ kinds: prepared, here: 0 });
  });
});

test("a mail whose key cannot be read is deferred", async () => {
  const { many } = setUp(() => {
    throw new Error("the key is sealed with another secret");
  });
  const { results } = await many(1, {});
  const reason = "The message cannot be signed: the key is sealed with another secret";
  expect(results).toEqual([{ kind: "deferred", reason }]);
});

test("the mail of a stopped campaign goes back to the queue", async () => {
  const { many, stopped } = setUp();
  stopped.add(1);
  const { results } = await many(2, { campaignSeq: 1 });
  expect(results).toEqual([WITHDRAWN, WITHDRAWN]);
  expect((await many(1, { campaignSeq: 2 })).kinds).toEqual(prepared);
});

test("a mail whose template takes too long is counted for its campaign", async () => {
  const { many, tooSlow } = setUp();
  const html =
    "{% for i in (1..9999) %}{% for j in (1..9999) %}{% assign x = j %}{% endfor %}{% endfor %}";
  const { results, here } = await many(1, { campaignSeq: 7, html, messageSeq: 2 });
  expect(results[0]).toMatchObject({ kind: "failed", isTooSlow: true });
  expect([tooSlow, here]).toEqual([[7], 0]);
}, 30_000);

test("mails that wait for a thread go back to the queue when their campaign is stopped", async () => {
  const { many, stopped } = setUp();
  const html = "{% for i in (1..9999) %}{% for j in (1..9999) %}{% endfor %}{% endfor %}";
  const waiting = many(30, { campaignSeq: 1, html, messageSeq: 2 });
  stopped.add(1);
  const { results } = await waiting;
  expect(results.filter(({ kind }) => kind === "failed").length).toBeLessThan(9);
  expect(results.at(-1)).toEqual(WITHDRAWN);
}, 30_000);

test("a new campaign holds one thread until its cost is known, also while others are free", async () => {
  const signer = await testSigner();
  let isSigned = true;
  const { many, startThread, stopped } = setUp(() => (isSigned ? signer : null));
  await startThread();
  await many(2_000, { campaignSeq: 7 }); // Starts all threads for signed mail.
  isSigned = false;
  const html = "{% for i in (1..9999) %}{% for j in (1..9999) %}{% endfor %}{% endfor %}";
  const waiting = many(30, { campaignSeq: 1, html, messageSeq: 2 });
  stopped.add(1);
  const { results } = await waiting;
  const begun = results.filter((result) => result !== WITHDRAWN);
  expect(begun.length).toBeWithin(1, 9);
}, 30_000);

test("large messages of campaigns wait until others have left", async () => {
  const { composer, prepareOne } = setUp();
  const attachments = [
    {
      filename: "a.bin",
      content: new Uint8Array(4_000_000),
      contentType: "application/octet-stream",
      contentId: null,
      disposition: "attachment" as const,
    },
  ];
  const mail = leased({ campaignSeq: 1, attachments });
  const messages: Uint8Array[] = [];
  const all = Array.from({ length: 24 }, async () => {
    const result = await prepareOne({ ...mail });
    if (result.kind !== "prepared") throw new Error(result.kind);
    messages.push(result.message);
  });
  await waitUntil(() => messages.length >= 12);
  const transactional = await prepareOne(leased({ attachments }));
  expect(transactional.kind).toBe("prepared");
  expect(messages.length).toBeLessThan(20);
  for (const message of messages) composer.release(mail, message);
  await Promise.all(all);
  expect(messages).toHaveLength(24);
}, 60_000);
