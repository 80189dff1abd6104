import { afterEach, describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLeaseQueue, type LeaseQueue } from "../../src/outbox/lane/queue.ts";
import { threadCpuMs } from "../../src/lib/thread-cpu.ts";
import type { Busy } from "../../src/outbox/outcome.ts";
import { openOutbox, planOf } from "../support/outbox.ts";

const NOW = 1_000_000;
const ORPHAN_DELAY_MS = 30_000;
const TRANSACTIONAL = 0;
const CAMPAIGN = 1;

/** The answer of a transport that needs no slots. */
const anybody = () => null;

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function queued() {
  const outbox = openOutbox();
  return { outbox, queue: createLeaseQueue(outbox.db, anybody) };
}

function leased(queue: LeaseQueue, limit: number, now: number) {
  return queue.lease(limit, now).leases.map(({ seq, attempts }) => ({ seq, attempts }));
}

describe("leasing", () => {
  test("leases transactional mail before campaign mail, each by due time", () => {
    const { outbox, queue } = queued();
    const early = outbox.add({ priority: CAMPAIGN, nextAt: 1 });
    const late = outbox.add({ priority: TRANSACTIONAL, nextAt: 900 });
    const middle = outbox.add({ priority: TRANSACTIONAL, nextAt: 500 });
    expect(leased(queue, 1, NOW).map(({ seq }) => seq)).toEqual([middle]);
    expect(leased(queue, 2, NOW).map(({ seq }) => seq)).toEqual([late, early]);
    expect(leased(queue, 1, NOW)).toEqual([]);
  });

  test("takes little time if many projects have later mail only", () => {
    const { outbox, queue } = queued();
    outbox.db.sqlite.transaction(() => {
      for (let project = 1; project <= 2_000; project++) outbox.add({ project, nextAt: NOW + 1 });
    })();
    leased(queue, 16, NOW);
    const beganMs = threadCpuMs();
    expect(leased(queue, 16, NOW)).toEqual([]);
    expect(threadCpuMs() - beganMs).toBeLessThan(100);
  });

  test("leases at most `limit` mails", () => {
    const { outbox, queue } = queued();
    for (let i = 0; i < 5; i++) outbox.add({ priority: i % 2 });
    expect(leased(queue, 3, NOW)).toHaveLength(3);
    expect(leased(queue, 0, NOW)).toEqual([]);
    expect(leased(queue, 9, NOW)).toHaveLength(2);
  });

  test("leases a mail at its due time and not before", () => {
    const { outbox, queue } = queued();
    outbox.add({ nextAt: NOW });
    expect(leased(queue, 1, NOW - 1)).toEqual([]);
    expect(leased(queue, 1, NOW)).toHaveLength(1);
  });

  test.each([
    "SENDING",
    "SENT",
    "DELIVERED",
    "BOUNCED",
    "FAILED",
    "SUPPRESSED",
    "CANCELLED",
  ] as const)("leaves a mail alone that is %s", (status) => {
    const { outbox, queue } = queued();
    outbox.add({ status });
    expect(leased(queue, 1, NOW)).toEqual([]);
  });

  test("counts the attempt and doubles the delay of an orphaned lease each time", () => {
    const { outbox, queue } = queued();
    const seqs = [0, 1, 2, 9, 10, 50].map((attempts) => outbox.add({ attempts }));
    expect(leased(queue, 9, NOW)).toEqual(
      seqs.map((seq, i) => ({ seq, attempts: [1, 2, 3, 10, 11, 51][i] ?? 0 })),
    );
    expect(seqs.map((seq) => (outbox.row(seq).nextAt ?? 0) - NOW)).toEqual(
      [1, 2, 4, 512, 512, 512].map((factor) => factor * ORPHAN_DELAY_MS),
    );
    expect(seqs.map((seq) => outbox.row(seq).status)).toEqual(seqs.map(() => "SENDING" as const));
  });

  test("leases no mail twice", () => {
    const { outbox, queue } = queued();
    outbox.add();
    const other = createLeaseQueue(outbox.db, anybody);
    expect([...leased(queue, 1, NOW), ...leased(other, 1, NOW)]).toHaveLength(1);
  });
});

describe("the next due time", () => {
  test("is the earliest due time of the QUEUED mails, also if it is past", () => {
    const { outbox, queue } = queued();
    expect(queue.nextDueAt()).toBeNull();
    outbox.add({ status: "SENDING", nextAt: 1 });
    outbox.add({ status: "SENT", nextAt: null });
    expect(queue.nextDueAt()).toBeNull();
    outbox.add({ priority: TRANSACTIONAL, nextAt: NOW + 500 });
    outbox.add({ priority: CAMPAIGN, nextAt: NOW + 300 });
    expect(queue.nextDueAt()).toBe(NOW + 300);
    outbox.add({ priority: TRANSACTIONAL, nextAt: NOW + 200 });
    expect(queue.nextDueAt()).toBe(NOW + 200);
  });
});

describe("after a crash", () => {
  test("a mail that was SENDING is due at its stored time, not at once", () => {
    const folder = mkdtempSync(join(tmpdir(), "mailstead-queue-"));
    folders.push(folder);
    const file = join(folder, "mailstead.db");
    const before = openOutbox(file);
    const orphan = before.add();
    const waiting = before.add({ nextAt: NOW + 5 });
    leased(createLeaseQueue(before.db, anybody), 1, NOW);
    before.db.sqlite.close();

    const after = openOutbox(file);
    const queue = createLeaseQueue(after.db, anybody);
    expect(leased(queue, 9, NOW + 1)).toEqual([]);
    expect(queue.returnLeases()).toBe(1);
    expect(after.row(orphan)).toMatchObject({
      status: "QUEUED",
      attempts: 1,
      nextAt: NOW + ORPHAN_DELAY_MS,
    });
    expect(queue.nextDueAt()).toBe(NOW + 5);
    expect(leased(queue, 9, NOW + 5)).toEqual([{ seq: waiting, attempts: 1 }]);
    expect(leased(queue, 9, NOW + ORPHAN_DELAY_MS - 1)).toEqual([]);
    expect(leased(queue, 9, NOW + ORPHAN_DELAY_MS)).toEqual([{ seq: orphan, attempts: 2 }]);
    after.db.sqlite.close();
  });

  test("returning leases does not change mails that wait or have ended", () => {
    const { outbox, queue } = queued();
    const others = [
      outbox.add({ nextAt: NOW }),
      outbox.add({ status: "SENT", nextAt: null }),
      outbox.add({ status: "CANCELLED", nextAt: null }),
    ];
    const before = others.map((seq) => outbox.row(seq));
    expect(queue.returnLeases()).toBe(0);
    expect(others.map((seq) => outbox.row(seq))).toEqual(before);
  });
});

describe("fairness", () => {
  /** Campaigns or projects of the mails in the order of their leases, one mail at a time. */
  function order(outbox: ReturnType<typeof openOutbox>, count: number, column: string): number[] {
    const queue = createLeaseQueue(outbox.db, anybody);
    return Array.from({ length: count }, () => {
      const [lease] = leased(queue, 1, NOW);
      const sql = `SELECT ${column} AS of FROM emails WHERE seq = ?`;
      return outbox.db.sqlite.query<{ of: number }, [number]>(sql).get(lease?.seq ?? 0)?.of ?? 0;
    });
  }

  test("two campaigns are served equally, even if one began earlier", () => {
    const outbox = openOutbox();
    for (let i = 0; i < 6; i++) outbox.add({ priority: CAMPAIGN, campaign: 1 });
    for (let i = 0; i < 3; i++) outbox.add({ priority: CAMPAIGN, campaign: 2, nextAt: 5 });
    expect(order(outbox, 9, "campaign_seq")).toEqual([1, 2, 1, 2, 1, 2, 1, 1, 1]);
  });

  test("a project with three campaigns is served as often as one with a single campaign", () => {
    const outbox = openOutbox();
    for (const campaign of [1, 2, 3]) {
      for (let i = 0; i < 4; i++) outbox.add({ priority: CAMPAIGN, campaign, project: 1 });
    }
    for (let i = 0; i < 4; i++) outbox.add({ priority: CAMPAIGN, campaign: 4, project: 2 });
    const first = order(outbox, 8, "project_seq");
    expect(first.filter((project) => project === 2)).toHaveLength(4);
  });

  test("a project with thousands of mails does not delay another project", () => {
    const outbox = openOutbox();
    for (let i = 0; i < 50; i++) outbox.add({ project: 1 });
    outbox.add({ project: 2, nextAt: NOW });
    expect(order(outbox, 3, "project_seq")).toContain(2);
  });

  test("mail of a campaign that is not SENDING is not leased", () => {
    const { outbox, queue } = queued();
    outbox.add({ priority: CAMPAIGN });
    outbox.db.sqlite.run("UPDATE campaigns SET status = 'PAUSED'");
    expect([leased(queue, 9, NOW), queue.nextDueAt()]).toEqual([[], null]);
    outbox.db.sqlite.run("UPDATE campaigns SET status = 'SENDING'");
    expect(leased(queue, 9, NOW)).toHaveLength(1);
  });

  test("a campaign with its own rate waits between its mails", () => {
    const { outbox, queue } = queued();
    outbox.add({ priority: CAMPAIGN });
    outbox.add({ priority: CAMPAIGN });
    outbox.db.sqlite.run("UPDATE campaigns SET rate = 2");
    expect(leased(queue, 9, NOW)).toHaveLength(1);
    expect([leased(queue, 9, NOW + 499), queue.nextDueAt()]).toEqual([[], NOW + 500]);
    expect(leased(queue, 9, NOW + 500)).toHaveLength(1);
  });

  test("a campaign with its own rate makes up for at most one second of delay", () => {
    const { outbox, queue } = queued();
    for (let i = 0; i < 100; i++) outbox.add({ priority: CAMPAIGN });
    outbox.db.sqlite.run("UPDATE campaigns SET rate = 10");
    expect(leased(queue, 99, NOW)).toHaveLength(1);
    expect(leased(queue, 99, NOW + 350)).toHaveLength(3);
    expect(leased(queue, 99, NOW + 399)).toHaveLength(0);
    expect(leased(queue, 99, NOW + 400)).toHaveLength(1);
    expect(leased(queue, 99, NOW + 60_000)).toHaveLength(11);
    expect(queue.nextDueAt()).toBe(NOW + 60_100);
  });

  test("a campaign reaches its rate beside one without a rate, even if it is polled late", () => {
    const { outbox, queue } = queued();
    for (let i = 0; i < 60; i++) outbox.add({ priority: CAMPAIGN, campaign: 1 });
    for (let i = 0; i < 800; i++) outbox.add({ priority: CAMPAIGN, campaign: 2 });
    outbox.db.sqlite.run("UPDATE campaigns SET rate = 20 WHERE seq = 1");
    const campaignOf = outbox.db.sqlite.prepare<{ of: number }, [number]>(
      "SELECT campaign_seq AS of FROM emails WHERE seq = ?",
    );
    let limited = 0;
    // The queue is polled for ten mails, ten times a second, each time a little late.
    for (let i = 0; i < 20; i++) {
      const seqs = leased(queue, 10, NOW + i * 100 + (i % 3) * 13);
      limited += seqs.filter(({ seq }) => campaignOf.get(seq)?.of === 1).length;
    }
    expect(limited).toBeGreaterThanOrEqual(37);
    expect(limited).toBeLessThanOrEqual(41);
  });
});

describe("after the clock was set", () => {
  const HOUR_MS = 60 * 60_000;
  /** Time of the clock after the step. */
  const SET_TO = 10 * HOUR_MS;
  const BACK = { byMs: -HOUR_MS, after: SET_TO };
  const FORWARD = { byMs: HOUR_MS, after: SET_TO - HOUR_MS };

  test.each([
    ["back", BACK],
    ["forward again", FORWARD],
  ])("%s, due mail stays due and other mail waits as long as before", (_, shift) => {
    const { outbox, queue } = queued();
    const before = SET_TO - shift.byMs;
    for (const priority of [TRANSACTIONAL, CAMPAIGN]) {
      outbox.add({ priority, nextAt: before - 7_000 });
      outbox.add({ priority, nextAt: before });
      outbox.add({ priority, nextAt: before + 500 });
      outbox.add({ priority, nextAt: before + 400, status: "SENDING" });
    }
    queue.shift(shift);
    expect(leased(queue, 9, SET_TO)).toHaveLength(4);
    expect(queue.nextDueAt()).toBe(SET_TO + 500);
    expect(leased(queue, 9, SET_TO + 499)).toHaveLength(0);
    expect(leased(queue, 9, SET_TO + 500)).toHaveLength(2);
  });

  test("mails keep the order of their due times and precede later mails", () => {
    const { outbox, queue } = queued();
    const dueTimes = [300, 100, 200].map((ms) => SET_TO + HOUR_MS - ms);
    const [first, third, second] = dueTimes.map((nextAt) => outbox.add({ nextAt }));
    queue.shift(BACK);
    const last = outbox.add({ nextAt: SET_TO });
    const seqs = leased(queue, 9, SET_TO).map(({ seq }) => seq);
    expect(seqs).toEqual([first ?? 0, second ?? 0, third ?? 0, last]);
  });

  test("a campaign keeps its rate", () => {
    const { outbox, queue } = queued();
    const before = SET_TO + HOUR_MS;
    for (let i = 0; i < 5; i++) outbox.add({ priority: CAMPAIGN, nextAt: 0 });
    outbox.db.sqlite.run("UPDATE campaigns SET rate = 2");
    expect(leased(queue, 9, before)).toHaveLength(1);
    queue.shift(BACK);
    expect(leased(queue, 9, SET_TO + 499)).toHaveLength(0);
    expect(leased(queue, 9, SET_TO + 500)).toHaveLength(1);
  });

  test("wait lists are polled after the same time as without the step", () => {
    const before = SET_TO + HOUR_MS;
    for (const waitList of ["slow.test", null]) {
      const outbox = openOutbox();
      let busy: Busy | null = {
        kind: "busy",
        why: "full",
        retryAfterMs: 900,
        reason: "full",
        waitList,
      };
      const queue = createLeaseQueue(outbox.db, () => busy);
      outbox.add({ nextAt: before, createdAt: before });
      expect(leased(queue, 9, before)).toHaveLength(0);
      busy = null;
      queue.shift(BACK);
      expect(queue.nextDueAt()).toBe(SET_TO + 900);
      expect(leased(queue, 9, SET_TO + 900)).toHaveLength(1);
    }
  });
});

describe("the statements of the queue", () => {
  test("use the partial index, do not sort, do not read the table, and stay prepared", () => {
    const outbox = openOutbox();
    const prepare = spyOn(outbox.db.sqlite, "prepare");
    createLeaseQueue(outbox.db, anybody);
    // The projects table is small.
    const all = prepare.mock.calls.map(([sql]) => sql);
    const statements = all.filter((sql) => !sql.includes("FROM projects"));
    prepare.mockRestore();
    expect(statements).toHaveLength(16);
    for (const sql of statements) {
      const plan = planOf(outbox.db, sql);
      expect(plan).toMatch(
        /SEARCH (?:e|emails) USING ((COVERING )?INDEX (emails_queue|emails_campaign_queue)|INTEGER PRIMARY KEY) \(|USING (COVERING )?INDEX campaigns_active/,
      );
      expect(plan).not.toMatch(/SCAN (?:e|emails)\b/);
      expect(plan).not.toContain("TEMP B-TREE FOR ORDER");
    }
    // lane/rows.ts explains the plus signs.
    for (const sql of statements) {
      expect(sql.slice(sql.indexOf("WHERE"))).not.toMatch(/(?:=|<|LIMIT)\s*[?$]/);
    }
    const dueOnly = /next_at<\?\)/;
    expect(statements.filter((sql) => dueOnly.test(planOf(outbox.db, sql)))).toHaveLength(2);
  });
});
