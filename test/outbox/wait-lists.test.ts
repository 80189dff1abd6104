/** Wait lists: mails without a slot wait apart from all others. */

import { describe, expect, test } from "bun:test";
import type { Busy, Slot } from "../../src/outbox/outcome.ts";
import { createLeaseQueue, type LeaseQueue } from "../../src/outbox/lane/queue.ts";
import type { Lease } from "../../src/outbox/lane/rows.ts";
import { domainOf } from "../../src/protocols/mime/address.ts";
import { openOutbox, type Outbox } from "../support/outbox.ts";

const NOW = 1_000_000;
const REST_MS = 50;
const CAMPAIGN = 1;
const DAY = 86_400_000;

/** A transport with a number of slots for each site. By default each domain is its own site. */
type SlotPool = {
  /** Recipients for which a slot was requested. */
  requested: string[];
  slots: Slot[];
  /** If set, the whole capacity is in use; the value is the wait list of the refusal. */
  fullList: string | null | undefined;
  resolve(domain: string, site: string): void;
  set(site: string, count: number): void;
  admit(to: string): Slot | Busy;
};

function slotPool(): SlotPool {
  const free = new Map<string, number>();
  const sites = new Map<string, string>();
  const state: SlotPool = {
    requested: [],
    slots: [],
    fullList: undefined,
    resolve: (domain: string, site: string) => void sites.set(domain, site),
    set: (site: string, count: number) => void free.set(site, count),
    admit(to) {
      const domain = domainOf(to);
      const site = sites.get(domain) ?? domain;
      state.requested.push(to);
      const busy = { kind: "busy", why: "full", retryAfterMs: REST_MS, reason: "full" } as const;
      const count = free.get(site) ?? Infinity;
      if (count === 0) return { ...busy, waitList: site };
      if (state.fullList !== undefined) return { ...busy, waitList: state.fullList };
      free.set(site, count - 1);
      const slot: Slot = {
        kind: "slot",
        waitList: site,
        release: () => void free.set(site, (free.get(site) ?? 0) + 1),
      };
      state.slots.push(slot);
      return slot;
    },
  };
  return state;
}

function open() {
  const outbox = openOutbox();
  const pool = slotPool();
  const queue = createLeaseQueue(outbox.db, pool.admit);
  return { outbox, pool, queue };
}

function addMany(outbox: Outbox, domain: string, count: number, rest = {}): number[] {
  return Array.from({ length: count }, (_, i) =>
    outbox.add({ to: `p${i}-${crypto.randomUUID()}@${domain}`, ...rest }),
  );
}

/** Leases `limit` mails at a time until no more can be leased at this moment. */
function leaseAll(queue: LeaseQueue, now = NOW, limit = 20): Lease[] {
  const leases: Lease[] = [];
  for (;;) {
    const found = queue.lease(limit, now);
    leases.push(...found.leases);
    if (found.leases.length === 0 && !found.mayHaveMore) return leases;
  }
}

const seqs = (leases: readonly Lease[]) => leases.map(({ seq }) => seq);

function waitListOf(outbox: Outbox, seq: number): string | undefined {
  const sql = "SELECT line FROM emails WHERE seq = ?";
  return outbox.db.sqlite.query<{ line: string }, [number]>(sql).get(seq)?.line;
}

function siteOf(outbox: Outbox, seq: number): string {
  const sql = "SELECT to_address AS 'to' FROM emails WHERE seq = ?";
  return domainOf(outbox.db.sqlite.query<{ to: string }, [number]>(sql).get(seq)?.to ?? "");
}

/** Number of rows written so far. */
function changes(outbox: Outbox): number {
  const row = outbox.db.sqlite.query<{ n: number }, []>("SELECT total_changes() AS n").get();
  return row?.n ?? 0;
}

/** Releases the slot of a lease, as at the end of its mail. */
function release(pool: SlotPool, queue: LeaseQueue, { slot }: Lease): void {
  if (slot === null) throw new Error("the lease has no slot");
  slot.release();
  queue.noteSlotReleased(slot);
  expect(pool.slots).toContain(slot);
}

describe("a mail without a slot", () => {
  test("does not delay the mails to other sites, even if there are 1,000 such mails", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 2);
    const slow = addMany(outbox, "slow.test", 1_000, { nextAt: 1 });
    const fast = addMany(outbox, "fast.test", 10, { nextAt: 2 });
    const leases = leaseAll(queue);
    expect(seqs(leases).toSorted((a, b) => a - b)).toEqual([...slow.slice(0, 2), ...fast]);
    expect(slow.slice(2).map((seq) => waitListOf(outbox, seq))).toEqual(
      Array(998).fill("slow.test"),
    );
  });

  test("is not attempted and keeps its due time", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    const seq = outbox.add({ to: "a@slow.test", nextAt: 7 });
    expect(leaseAll(queue)).toEqual([]);
    expect(outbox.row(seq)).toMatchObject({ status: "QUEUED", attempts: 0, nextAt: 7 });
  });

  test("is written once: later polls ask for one slot for the whole wait list", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    addMany(outbox, "slow.test", 500);
    leaseAll(queue);
    const before = changes(outbox);
    pool.requested.length = 0;
    for (let i = 1; i <= 10; i++) expect(leaseAll(queue, NOW + i * REST_MS)).toEqual([]);
    expect(changes(outbox)).toBe(before);
    // The first poll was at NOW; the next one is after the delay that the refusal named.
    expect(pool.requested).toHaveLength(10);
    expect(queue.nextDueAt()).toBe(NOW + 11 * REST_MS);
    expect(leaseAll(queue, NOW + 10 * REST_MS + 1)).toEqual([]);
    expect(pool.requested).toHaveLength(10);
  });

  test("is moved with at most 249 others per scan, and the queue may be polled again at once", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    addMany(outbox, "slow.test", 600);
    const before = changes(outbox);
    expect(queue.lease(20, NOW)).toEqual({ leases: [], mayHaveMore: true });
    expect(changes(outbox) - before).toBe(250);
  });

  test("is leased without a slot once its lifetime is over", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    const seq = outbox.add({ to: "a@slow.test", nextAt: 1, createdAt: 1 });
    expect(leaseAll(queue)).toEqual([]);
    const [lease] = leaseAll(queue, 1 + 4 * DAY);
    expect(lease).toMatchObject({ seq, slot: null, busy: { waitList: "slow.test" } });
  });

  test("is not moved while the whole capacity is in use", () => {
    const { outbox, pool, queue } = open();
    pool.fullList = null;
    const all = addMany(outbox, "fast.test", 30);
    expect(queue.lease(20, NOW)).toEqual({ leases: [], mayHaveMore: false });
    expect(queue.nextDueAt()).toBe(NOW + REST_MS);
    expect(all.map((seq) => waitListOf(outbox, seq))).toEqual(Array(30).fill(""));
    pool.fullList = undefined;
    expect(leaseAll(queue, NOW + REST_MS)).toHaveLength(30);
  });
});

describe("a wait list", () => {
  test("is served by due time as slots are released, before new mail", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 1);
    const waiting = [3, 1, 2].map((nextAt) => outbox.add({ to: `a${nextAt}@slow.test`, nextAt }));
    const order = [waiting[1], waiting[2], waiting[0]];
    let [lease] = leaseAll(queue);
    const leased = [lease?.seq];
    order.push(outbox.add({ to: "new@slow.test", nextAt: 9 }));
    while (lease !== undefined) {
      release(pool, queue, lease);
      [lease] = leaseAll(queue);
      if (lease !== undefined) leased.push(lease.seq);
    }
    expect(leased).toEqual(order);
  });

  test("serves transactional mail before campaign mail", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    addMany(outbox, "slow.test", 5, { priority: CAMPAIGN, nextAt: 1 });
    leaseAll(queue);
    const urgent = outbox.add({ to: "a@slow.test", nextAt: 500 });
    leaseAll(queue);
    pool.set("slow.test", 1);
    expect(seqs(leaseAll(queue, NOW + REST_MS))).toEqual([urgent]);
  });

  test("serves projects in round robin", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    const many = addMany(outbox, "slow.test", 20, { project: 1, nextAt: 1 });
    const few = addMany(outbox, "slow.test", 2, { project: 2, nextAt: 2 });
    leaseAll(queue);
    pool.set("slow.test", 4);
    const leased = seqs(leaseAll(queue, NOW + REST_MS));
    expect(leased).toHaveLength(4);
    expect(few.every((seq) => leased.includes(seq))).toBe(true);
    expect(many.filter((seq) => leased.includes(seq))).toEqual(many.slice(0, 2));
  });

  test("keeps the mail of a paused campaign and serves it after the campaign is resumed", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    addMany(outbox, "slow.test", 3, { priority: CAMPAIGN });
    leaseAll(queue);
    outbox.db.sqlite.run("UPDATE campaigns SET status = 'PAUSED'");
    pool.set("slow.test", 9);
    expect(queue.nextDueAt()).toBe(NOW + REST_MS);
    expect(leaseAll(queue, NOW + REST_MS)).toEqual([]);
    expect(queue.nextDueAt()).toBeNull();
    outbox.db.sqlite.run("UPDATE campaigns SET status = 'SENDING'");
    expect(queue.nextDueAt()).toBe(0);
    expect(leaseAll(queue, NOW + REST_MS)).toHaveLength(3);
  });

  test("observes a campaign's own rate", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    addMany(outbox, "slow.test", 3, { priority: CAMPAIGN });
    outbox.db.sqlite.run("UPDATE campaigns SET rate = 2");
    expect(leaseAll(queue)).toEqual([]);
    pool.set("slow.test", 9);
    const at = (ms: number) => leaseAll(queue, NOW + ms).length;
    expect([at(100), at(599), at(600), at(1_099), at(1_100)]).toEqual([1, 0, 1, 0, 1]);
  });

  test("observes a campaign's own rate if its mail is in several wait lists", () => {
    const { outbox, pool, queue } = open();
    for (const site of ["a.test", "b.test", "c.test"]) {
      pool.set(site, 0);
      addMany(outbox, site, 2, { priority: CAMPAIGN });
    }
    outbox.db.sqlite.run("UPDATE campaigns SET rate = 2");
    expect(leaseAll(queue)).toEqual([]);
    for (const site of ["a.test", "b.test", "c.test"]) pool.set(site, 9);
    const at = (ms: number) => leaseAll(queue, NOW + ms).length;
    expect([at(100), at(599), at(600)]).toEqual([1, 0, 1]);
  });

  test("is found by the next process", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    pool.set("other.test", 0);
    const all = [...addMany(outbox, "slow.test", 2), ...addMany(outbox, "other.test", 2)];
    leaseAll(queue);
    const next = createLeaseQueue(outbox.db, slotPool().admit);
    expect(next.nextDueAt()).toBe(0);
    expect(seqs(leaseAll(next)).toSorted((a, b) => a - b)).toEqual(all);
    expect(next.nextDueAt()).toBeNull();
  });

  test("of a domain is replaced by that of its site once the site is known", () => {
    const { outbox, pool, queue } = open();
    pool.set("a.test", 0);
    const [first = 0, second = 0] = addMany(outbox, "a.test", 2);
    leaseAll(queue);
    pool.resolve("a.test", "mx.test");
    pool.set("mx.test", 0);
    leaseAll(queue, NOW + REST_MS);
    expect([first, second].map((seq) => waitListOf(outbox, seq))).toEqual(["mx.test", "mx.test"]);
  });

  test("is polled at the time that was noted for a mail that was not attempted", () => {
    const { outbox, queue } = open();
    const seq = outbox.add({ to: "a@slow.test" });
    outbox.db.sqlite.run("UPDATE emails SET line = 'mx.test'");
    queue.noteWaiting("mx.test", NOW + 500);
    expect(leaseAll(queue, NOW + 499)).toEqual([]);
    expect(queue.nextDueAt()).toBe(NOW + 500);
    expect(seqs(leaseAll(queue, NOW + 500))).toEqual([seq]);
  });
});

describe("many wait lists", () => {
  test("are served in round robin with the mail that is in none", () => {
    const { outbox, pool, queue } = open();
    const sites = Array.from({ length: 250 }, (_, i) => `site${i}.test`);
    for (const site of sites) pool.set(site, 0);
    for (const site of sites) addMany(outbox, site, 3);
    leaseAll(queue);
    for (const site of sites) pool.set(site, 9);
    addMany(outbox, "fast.test", 500, { nextAt: 900 });
    const leased: string[] = [];
    for (let i = 0; i < 500; i++) {
      for (const { seq } of queue.lease(1, NOW + REST_MS).leases) leased.push(siteOf(outbox, seq));
    }
    expect(leased.filter((site) => site === "fast.test")).toHaveLength(250);
    expect(new Set(leased).size).toBe(251);
  });
});

describe("mails that wait for a share of the capacity", () => {
  test("have their own wait list, except for those that are in the list of a site already", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    const atSite = addMany(outbox, "slow.test", 3);
    leaseAll(queue);
    pool.set("slow.test", 9);
    pool.fullList = "# slow";
    const unknown = addMany(outbox, "new.test", 3);
    leaseAll(queue, NOW + REST_MS);
    expect(atSite.map((seq) => waitListOf(outbox, seq))).toEqual(Array(3).fill("slow.test"));
    expect(unknown.map((seq) => waitListOf(outbox, seq))).toEqual(Array(3).fill("# slow"));
  });

  test("are woken one list per released slot, the longest wait first", () => {
    const { outbox, pool, queue } = open();
    const [busy] = addMany(outbox, "busy.test", 1);
    const [lease] = leaseAll(queue);
    expect(lease?.seq).toBe(busy ?? 0);
    const sites = ["a.test", "b.test", "c.test"];
    for (const site of sites) pool.set(site, 0);
    for (const site of sites) addMany(outbox, site, 1);
    leaseAll(queue);
    for (const site of sites) pool.set(site, 9);
    pool.fullList = "# slow";
    leaseAll(queue, NOW + REST_MS);
    pool.requested.length = 0;
    for (const site of sites) {
      if (lease !== undefined) release(pool, queue, lease);
      leaseAll(queue, NOW + REST_MS);
      expect(pool.requested.map(domainOf).at(-1)).toBe(site);
    }
    expect(pool.requested).toHaveLength(3);
  });

  test("are polled again at the time that the transport names, those of a site later", () => {
    const { outbox, pool, queue } = open();
    pool.set("slow.test", 0);
    addMany(outbox, "slow.test", 1);
    leaseAll(queue);
    pool.set("slow.test", 9);
    pool.fullList = "# slow";
    addMany(outbox, "new.test", 1);
    leaseAll(queue, NOW + REST_MS);
    pool.fullList = undefined;
    const leases = (ms: number) => seqs(leaseAll(queue, NOW + REST_MS + ms));
    expect([leases(REST_MS - 1).length, leases(REST_MS).length]).toEqual([0, 1]);
    expect([leases(1_999).length, leases(2_000).length]).toEqual([0, 1]);
  });
});

describe("a released slot", () => {
  test("also wakes its second wait list", () => {
    const { outbox, pool, queue } = open();
    const [first] = addMany(outbox, "a.test", 1);
    const [lease] = leaseAll(queue);
    expect(lease?.seq).toBe(first ?? 0);
    const seq = outbox.add({ to: "b@b.test" });
    outbox.db.sqlite.run("UPDATE emails SET line = '@ 192.0.2.1' WHERE seq = ?", [seq]);
    queue.noteWaiting("@ 192.0.2.1", NOW + 2_000);
    expect(leaseAll(queue)).toEqual([]);
    const slot: Slot = { kind: "slot", waitList: "a.test", release: () => {} };
    queue.noteSlotReleased(slot);
    expect(leaseAll(queue)).toEqual([]);
    queue.noteSlotReleased({ ...slot, secondWaitList: "@ 192.0.2.1" });
    expect(seqs(leaseAll(queue))).toEqual([seq]);
    expect(pool.requested).toHaveLength(2);
  });
});
