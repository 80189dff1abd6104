/** Threads that compose: the same bytes as on the event loop, and what happens to faulty mails. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createLog } from "../../../src/lib/log.ts";
import type { ComposeJob } from "../../../src/outbox/compose/job-queue.ts";
import { createPool, type PoolDeps } from "../../../src/outbox/compose/pool.ts";
import type { MailRow, Prepared } from "../../../src/outbox/compose/prepare.ts";
import { WITHDRAWN, type Busy } from "../../../src/outbox/outcome.ts";
import { type ManualClock, manualClock, threadsClock } from "../../support/clock.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import {
  ENDLESS,
  mailRow,
  SIGNED_AT,
  testJob,
  testPreparation,
  testSigner,
  TOKEN_KEYS,
} from "../../support/compose.ts";

const pools: ReturnType<typeof createPool>[] = [];

afterEach(() => {
  for (const pool of pools.splice(0)) pool.close();
});

function setUp(rest: Partial<PoolDeps> = {}) {
  const created = createTestPool(rest);
  pools.push(created.pool);
  return created;
}

/** A pool that is not closed at the end of a test. */
function createTestPool(rest: Partial<PoolDeps> = {}) {
  const lines: string[] = [];
  /** Ids of the mails that were prepared on the event loop. */
  const here: string[] = [];
  const preparation = testPreparation();
  const pool = createPool({
    keys: TOKEN_KEYS,
    log: createLog({ level: "warn", format: "json", write: (line) => void lines.push(line) }),
    now: () => SIGNED_AT.getTime(),
    prepareHere(job: ComposeJob) {
      here.push(job.mail.id);
      void preparation
        .prepare(job.mail, { signer: job.signer, at: SIGNED_AT })
        .then(job.resolve, job.reject);
    },
    mayCompose: () => true,
    ...rest,
  });

  /** Prepares mails together and returns their results in order. */
  function prepare(mails: readonly MailRow[], job: Partial<ComposeJob> = {}) {
    const jobs = mails.map((mail) => testJob(mail, job));
    pool.add(jobs.map((each) => each.job));
    return Promise.all(jobs.map(({ result }) => result));
  }

  return { pool, prepare, lines, here, preparation };
}

function textOf(result: Prepared | Busy | undefined): string {
  if (result?.kind !== "prepared") throw new Error(JSON.stringify(result));
  return new TextDecoder().decode(result.message);
}

const many = (size: number, rest: (i: number) => Partial<MailRow> = () => ({})) =>
  Array.from({ length: size }, (_, i) => mailRow(rest(i)));

const NAMES = ["Ada", "", "Zoë & Co", " blank ", "<b>", "حسن", "張偉", "😀", "a\tb", "=20"];

const MAILS: [name: string, mails: MailRow[]][] = [
  ["a plain body", many(3, () => ({ html: "<p>Hello</p>" }))],
  [
    "values of all kinds",
    NAMES.map((name) => mailRow({ variables: JSON.stringify({ name }), toName: name })),
  ],
  [
    "campaigns with a footer, links, a pixel and a rendered subject",
    NAMES.map((name) =>
      mailRow({
        campaignSeq: 7,
        isMarketing: true,
        tracking: "ENABLED",
        language: "de",
        subject: "News for {{ name | default: 'you' }}",
        variables: JSON.stringify({ name, items: [1, 2, 3].slice(name.length % 3) }),
        html:
          '<p>{{ name }}</p>{% for i in items %}<p><a href="https://shop.test/{{ i }}">{{ i }}</a>' +
          "</p>{% endfor %}",
      }),
    ),
  ],
  ["bodies that differ", many(20, (i) => ({ html: `<p>${"word ".repeat(i * 40)}</p>` }))],
  [
    "headers and attachments",
    many(3, (i) => ({
      headers: JSON.stringify([["X-Number", `${i}`]]),
      replyTo: "reply@acme.test",
      attachments: [
        {
          filename: `${i}.bin`,
          content: new Uint8Array(3_000).fill(i),
          contentType: "application/octet-stream",
          contentId: null,
          disposition: "attachment",
        },
      ],
    })),
  ],
  [
    "mails that fail",
    [
      mailRow({ html: "{% if %}" }),
      mailRow({ variables: JSON.stringify({ name: "\0" }) }),
      mailRow({ subject: "a\nb" }),
      mailRow({ campaignSeq: 1, subject: "{{ nothing }}" }),
      mailRow(),
    ],
  ],
];

/** The pool of the tests that change nothing about it. */
let common: ReturnType<typeof createTestPool>;
let mayCompose = true;

beforeAll(() => {
  common = createTestPool({ mayCompose: () => mayCompose });
});

afterAll(() => common.pool.close());

describe("a thread returns what the event loop would", () => {
  for (const isSigned of [false, true]) {
    test.each(MAILS)(`${isSigned ? "signed" : "unsigned"}: %s`, async (_, mails) => {
      const { prepare, preparation, here } = common;
      const signer = isSigned ? await testSigner() : null;
      const results = await prepare(mails, { signer });
      const expected = await Promise.all(
        mails.map((mail) => preparation.prepare(mail, { signer, at: SIGNED_AT })),
      );
      expect(results).toEqual(expected);
      expect(here).toEqual([]);
      if (isSigned && results[0]?.kind === "prepared") {
        expect(textOf(results[0])).toStartWith("DKIM-Signature: v=1; a=rsa-sha256;");
      }
    });
  }

  test("with several signers, of which each has its own keys", async () => {
    const { pool } = common;
    const signers = await Promise.all(["a.test", "b.test", "c.test"].map(testSigner));
    const jobs = Array.from({ length: 30 }, (_, i) =>
      testJob(mailRow(), { signer: signers[i % 3] ?? null }),
    );
    pool.add(jobs.map(({ job }) => job));
    const results = await Promise.all(jobs.map(({ result }) => result));
    const domains = results.map((result) => /d=(\w\.test)/.exec(textOf(result))?.[1]);
    expect(domains).toEqual(jobs.map((_, i) => signers[i % 3]?.domain));
  });
});

test("results of many mails come to the mails that they belong to", async () => {
  const { prepare } = common;
  const first = many(200, (i) => ({
    campaignSeq: i % 3,
    subject: `{{ n }}`,
    variables: `{"n":${i}}`,
  }));
  const second = many(200, (i) => ({ subject: `transactional ${i}` }));
  const results = await Promise.all([prepare(first), prepare(second)]);
  const subjects = results.map((each) => each.map((one) => one.kind === "prepared" && one.subject));
  expect(subjects[0]).toEqual(first.map((_, i) => `${i}`));
  expect(subjects[1]).toEqual(second.map(({ subject }) => subject));
  for (const [i, result] of results[1].entries()) {
    expect(textOf(result)).toContain(`Message-ID: <${second[i]?.id}@acme.test>`);
  }
});

test("transactional mail goes ahead of campaigns", async () => {
  const { pool } = common;
  const order: string[] = [];
  const add = (name: string, rest: Partial<MailRow>) => {
    const { job, result } = testJob(mailRow(rest));
    pool.add([job]);
    return result.then(() => order.push(name));
  };
  const ends = Array.from({ length: 300 }, () => add("campaign", { campaignSeq: 21 }));
  ends.push(add("transactional", {}));
  await Promise.all(ends);
  expect(order.indexOf("transactional")).toBeLessThan(100);
});

test("campaigns wait while their messages take too much memory", async () => {
  mayCompose = false;
  const { pool, prepare } = common;
  let isDone = false;
  const waiting = prepare(many(3, () => ({ campaignSeq: 1 }))).finally(() => {
    isDone = true;
  });
  for (let i = 0; i < 5; i++) await prepare(many(3));
  expect(isDone).toBe(false);
  mayCompose = true;
  pool.schedule();
  expect((await waiting).map(({ kind }) => kind)).toEqual(Array(3).fill("prepared"));
});

/** The time limits of a batch: the first is reached early, so that a test takes little time. */
const HELD_MS = 20;
const LIMIT_MS = 80;

describe("a mail that takes too long", () => {
  test("fails alone: its batch is split until it is found", async () => {
    const { prepare, here } = setUp({
      clock: threadsClock(),
      heldMs: HELD_MS,
      limitMs: LIMIT_MS,
      // A collection of garbage in other threads does not count.
      maxStretch: Infinity,
    });
    const mails = many(3, (i) => ({ campaignSeq: 1, html: i === 2 ? ENDLESS : "<p>{{ n }}</p>" }));
    const results = await prepare(mails);
    expect(results.map(({ kind }) => kind)).toEqual(["prepared", "prepared", "failed"]);
    expect(results[2]).toEqual({
      kind: "failed",
      reason: `The body cannot be rendered: it takes longer than ${LIMIT_MS} ms.`,
      isTooSlow: true,
    });
    expect(here).toEqual([]);
  });

  /** Advances the clock while a thread has a batch that gets no processor. */
  async function advanceDuringBatch(
    { pool }: Pick<ReturnType<typeof setUp>, "pool">,
    clock: ManualClock,
    ms: number,
    work: () => void = () => {},
  ): Promise<void> {
    await waitUntil(pool.isUp);
    await settleEventLoop();
    clock.advance(HELD_MS);
    work();
    clock.advance(ms);
  }

  test("is prepared if only the wait for a processor was long", async () => {
    const clock = manualClock();
    const file = new URL("./threads/late.ts", import.meta.url);
    const created = setUp({ clock, heldMs: HELD_MS, limitMs: LIMIT_MS, file });
    const results = created.prepare(many(3));
    await advanceDuringBatch(created, clock, 5 * LIMIT_MS);
    expect((await results).map(({ kind }) => kind)).toEqual(Array(3).fill("prepared"));
    expect(created.here).toEqual([]);
  });

  /**
   * Gives work to the event loop and to the threads of the collector, until they have used more
   * processor time than a mail may take.
   */
  function keepBusy(): void {
    const before = process.cpuUsage();
    const spentMs = ({ user, system } = process.cpuUsage(before)) => (user + system) / 1_000;
    while (spentMs() < 2 * LIMIT_MS) {
      expect(Array.from({ length: 50_000 }, (_, i) => ({ i }))).toHaveLength(50_000);
      Bun.gc(true);
    }
  }

  test.each([
    ["", () => {}],
    [", also if other threads used the processor meanwhile", keepBusy],
  ])("is deferred if its thread got no processor time%s", async (_, work) => {
    const clock = manualClock();
    const file = new URL("./threads/sleeps.ts", import.meta.url);
    const created = setUp({ clock, heldMs: HELD_MS, limitMs: LIMIT_MS, file });
    const results = created.prepare(many(1));
    // The second attempt is the last one.
    for (let attempt = 1; attempt <= 2; attempt++) {
      await advanceDuringBatch(created, clock, 11 * LIMIT_MS, work);
    }
    const reason = "The message could not be prepared: the machine is overloaded.";
    expect(await results).toEqual([{ kind: "deferred", reason }]);
  });

  test("fails by the limit of the template engine, and others of its batch continue", async () => {
    const { prepare } = setUp({ renderLimitMs: 50 });
    const mails = many(3, (i) => ({ campaignSeq: 1, html: i === 0 ? ENDLESS : "<p>{{ n }}</p>" }));
    const [slow, ...others] = await prepare(mails);
    const reason = expect.stringContaining("The template takes longer");
    expect(slow).toMatchObject({ kind: "failed", reason });
    expect(others.map(({ kind }) => kind)).toEqual(["prepared", "prepared"]);
  });

  test("does not delay the mail of others until it is done", async () => {
    const { prepare } = setUp({ clock: threadsClock(), heldMs: HELD_MS });
    await prepare(many(2));
    let isSlowDone = false;
    const slow = prepare(many(4, () => ({ campaignSeq: 1, html: ENDLESS }))).then((results) => {
      isSlowDone = true;
      return results;
    });
    for (let i = 0; i < 5; i++) await prepare(many(2));
    expect(isSlowDone).toBe(false);
    pools.splice(0).forEach((pool) => pool.close());
    expect(await slow).toContain(WITHDRAWN);
  });

  test("is returned to the queue if others of its flow wait", async () => {
    const { pool, prepare } = setUp();
    pool.noteCost("campaign 1", 500);
    expect(pool.backlogOf("campaign 1")).toBeNull();
    const slow = prepare(many(20, () => ({ campaignSeq: 1, html: ENDLESS })));
    const times = [pool.backlogOf("campaign 1"), pool.backlogOf("campaign 1")].map(
      (busy) => busy?.retryAfterMs ?? 0,
    );
    expect(times[0]).toBeGreaterThan(20_000);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1_500);
    expect(pool.backlogOf("campaign 2")).toBeNull();
    pool.close();
    expect(await slow).toContain(WITHDRAWN);
  });
});

describe("a thread that fails", () => {
  const file = (name: string) => new URL(`./threads/${name}.ts`, import.meta.url);

  test.each([
    ["has no program", file("missing"), /find module|not found/i],
    ["throws an error", file("throws"), /always fails/],
    ["ends by itself", file("ends"), /ended by itself/],
  ])(
    "because it %s leaves its mails to the event loop, and the log says so once",
    async (...row) => {
      const [, program, reason] = row;
      const { prepare, here, lines, pool } = setUp({ file: program });
      for (let round = 1; round <= 2; round++) {
        const mails = many(5);
        const results = await prepare(mails);
        expect(results.map(({ kind }) => kind)).toEqual(mails.map(() => "prepared"));
        expect(here.splice(0)).toEqual(mails.map(({ id }) => id));
        expect(pool.isAvailable()).toBe(false);
      }
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(reason);
    },
  );
});

const IDLE_MS = 60_000;

test("a thread without work ends, and another one starts when there is work", async () => {
  const clock = manualClock();
  const { pool, prepare, here } = setUp({ clock });
  for (let round = 0; round < 2; round++) {
    const [result] = await prepare(many(1));
    expect([result?.kind, pool.isUp()]).toEqual(["prepared", true]);
    clock.advance(IDLE_MS - 1);
    expect(pool.isUp()).toBe(true);
    clock.advance(1);
    expect(pool.isUp()).toBe(false);
  }
  expect(here).toEqual([]);
});

test("a pool that is closed returns its mails to the queue", async () => {
  const { pool, prepare } = setUp();
  const results = prepare(many(10));
  pool.close();
  expect(await results).toEqual(Array(10).fill(WITHDRAWN));
});

test("a result that withdraws its flow also withdraws the rest of its batch", async () => {
  const { pool } = setUp({ file: new URL("../../support/first-only-thread.ts", import.meta.url) });
  const flow = "campaign 1";
  const jobs = many(8).map((mail) => testJob(mail, { flow, isTransactional: false }));
  const [first] = jobs;
  if (first === undefined) throw new Error("no job");
  const { resolve } = first.job;
  first.job.resolve = (prepared) => {
    pool.withdraw(flow);
    resolve(prepared);
  };
  pool.add(jobs.map(({ job }) => job));
  const [result, ...others] = await Promise.all(jobs.map((job) => job.result));
  expect(result?.kind).toBe("prepared");
  expect(others).toEqual(others.map(() => WITHDRAWN));
});
