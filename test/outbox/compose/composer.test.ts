/** Tests which mails are prepared on the event loop and which by threads. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createGarbage } from "../../../src/lib/garbage.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { createComposer } from "../../../src/outbox/compose/composer.ts";
import type { Prepared } from "../../../src/outbox/compose/prepare.ts";
import type { LeasedMail } from "../../../src/outbox/lane/rows.ts";
import { type Busy, WITHDRAWN } from "../../../src/outbox/outcome.ts";
import type { Signer } from "../../../src/protocols/dkim/sign.ts";
import { templateCache } from "../../../src/render/template/cache.ts";
import { manualClock, threadsClock } from "../../support/clock.ts";
import { ENDLESS, mailRow, testSigner, TOKEN_KEYS } from "../../support/compose.ts";
import { waitUntil } from "../../support/eventually.ts";

const LOOP = "{% for i in list %}{{ i }}{% endfor %}";

/** A thread that works on a batch for longer than this is ended. */
const LIMITS = { heldMs: 20, limitMs: 80 };

const closing: (() => void)[] = [];

beforeEach(() => {
  signer = null;
});

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
    topicSeq: null,
    isInTopic: true,
    pausedUntil: null,
    suppression: null,
    priority: 0,
    envelopeFrom: null,
    ...rest,
  };
}

function createTestComposer(rest: Partial<Parameters<typeof createComposer>[0]> = {}) {
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
    signerOf: () => null,
    bounceHostOf: () => null,
    runInSlices: (piece) => piece(),
    beginWork: (id) => void here.push(id),
    noteTooSlow: (campaignSeq) => void tooSlow.push(campaignSeq),
    isTooCostly: (campaignSeq) => stopped.has(campaignSeq),
    garbage: createGarbage({ clock }),
    ...rest,
  });

  const prepareOne = (mail: LeasedMail) =>
    new Promise<Prepared | Busy>((resolve, reject) => composer.prepare(mail, { resolve, reject }));

  /** Prepares mails together; returns their results and how many were prepared on the event loop. */
  async function prepare(mails: readonly LeasedMail[]) {
    here.length = 0;
    const results = await Promise.all(mails.map(prepareOne));
    return { kinds: new Set(results.map(({ kind }) => kind)), here: here.length, results };
  }

  const many = (size: number, mail: Partial<LeasedMail>) =>
    prepare(Array.from({ length: size }, () => leased(mail)));

  return { composer, prepareOne, many, tooSlow, stopped };
}

/** A composer that is closed at the end of the test. */
function setUp(rest: Parameters<typeof createTestComposer>[0]) {
  const created = createTestComposer(rest);
  closing.push(created.composer.close);
  return created;
}

/** The composer of the tests that change nothing about it. One of its threads is up. */
let common: ReturnType<typeof createTestComposer>;
let signer: Signer | null = null;

beforeAll(async () => {
  common = createTestComposer({ signerOf: () => signer });
  await common.many(1, { html: LOOP, messageSeq: 99 });
});

afterAll(() => common.composer.close());

const prepared = new Set(["prepared" as const]);

describe("the event loop prepares", () => {
  test.each<[string, number, Partial<LeasedMail>]>([
    ["unsigned transactional mail", 50, {}],
    ["unsigned mail of campaigns", 50, { campaignSeq: 1 }],
  ])("%s", async (_, size, rest) => {
    expect(await common.many(size, rest)).toMatchObject({ kinds: prepared, here: size });
  });

  test("a few signed transactional mails", async () => {
    signer = await testSigner();
    expect(await common.many(4, {})).toMatchObject({ kinds: prepared, here: 4 });
  });

  test("cheap mail while no thread is up", async () => {
    const own = await testSigner();
    const { many } = setUp({ signerOf: () => own });
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
    expect(await common.many(size, rest)).toMatchObject({ kinds: prepared, here: 0 });
  });

  test.each<[string, number, Partial<LeasedMail>]>([
    ["signed mail of campaigns", 2, { campaignSeq: 1 }],
    ["more than a few signed transactional mails", 5, {}],
  ])("%s", async (_, size, rest) => {
    signer = await testSigner();
    expect(await common.many(size, rest)).toMatchObject({ kinds: prepared, here: 0 });
  });
});

test("a mail whose key cannot be read is deferred", async () => {
  const { many } = setUp({
    signerOf: () => {
      throw new Error("the key is sealed with another secret");
    },
  });
  const { results } = await many(1, {});
  const reason = "The message cannot be signed: the key is sealed with another secret";
  expect(results).toEqual([{ kind: "deferred", reason }]);
});

test("the mail of a stopped campaign goes back to the queue", async () => {
  const { many, stopped } = common;
  stopped.add(1);
  const { results } = await many(2, { campaignSeq: 1 });
  expect(results).toEqual([WITHDRAWN, WITHDRAWN]);
  expect((await many(1, { campaignSeq: 2 })).kinds).toEqual(prepared);
});

test("a mail whose template takes too long is counted for its campaign", async () => {
  const { many, tooSlow } = setUp({ threads: { ...LIMITS, clock: threadsClock() } });
  const { results, here } = await many(1, { campaignSeq: 7, html: ENDLESS, messageSeq: 2 });
  expect(results[0]).toMatchObject({ kind: "failed", isTooSlow: true });
  expect([tooSlow, here]).toEqual([[7], 0]);
});

test("mails that wait for a thread go back to the queue when their campaign is stopped", async () => {
  const { many, stopped } = setUp({ threads: { renderLimitMs: 50 } });
  const waiting = many(30, { campaignSeq: 1, html: ENDLESS, messageSeq: 2 });
  stopped.add(1);
  const { results } = await waiting;
  expect(results.filter(({ kind }) => kind === "failed").length).toBeWithin(1, 9);
  expect(results.at(-1)).toEqual(WITHDRAWN);
});

test("a new campaign holds one thread until its cost is known, also while others are free", async () => {
  const own = await testSigner();
  let isSigned = true;
  const threads = { renderLimitMs: 50 };
  const { many, stopped } = setUp({ signerOf: () => (isSigned ? own : null), threads });
  await many(1, { html: LOOP, messageSeq: 99 });
  await many(200, { campaignSeq: 7 }); // Starts further threads for signed mail.
  isSigned = false;
  const waiting = many(30, { campaignSeq: 1, html: ENDLESS, messageSeq: 2 });
  stopped.add(1);
  const { results } = await waiting;
  const begun = results.filter((result) => result !== WITHDRAWN);
  expect(begun.length).toBeWithin(1, 9);
});

test("large messages of campaigns wait until others have left", async () => {
  const { composer, prepareOne } = setUp({ maxMessageBytes: 16_000_000 });
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
  let isReleasing = false;
  const all = Array.from({ length: 14 }, async () => {
    const result = await prepareOne({ ...mail });
    if (result.kind !== "prepared") throw new Error(result.kind);
    messages.push(result.message);
    if (isReleasing) composer.release(mail, result.message);
  });
  // Three messages of 5.4 MB are more than the limit; threads may have begun with others.
  await waitUntil(() => messages.length >= 3);
  const transactional = await prepareOne(leased({ attachments }));
  expect(transactional.kind).toBe("prepared");
  expect(messages.length).toBeLessThan(11);
  isReleasing = true;
  for (const message of messages) composer.release(mail, message);
  await Promise.all(all);
  expect(messages).toHaveLength(14);
});
