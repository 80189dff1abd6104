/** Mails for which there is no place: they wait in lines, and nobody waits behind them. */

import { describe, expect, test } from "bun:test";
import type { Busy, Slot } from "../../src/delivery/outcome.ts";
import { createQueue, type Lease, type Queue } from "../../src/delivery/queue.ts";
import { domainOf } from "../../src/mail/address.ts";
import { openOutbox, type Outbox } from "../support/outbox.ts";

const NOW = 1_000_000;
const REST_MS = 50;
const CAMPAIGN = 1;
const DAY = 86_400_000;

/** Doors with places; a domain is a site unless told otherwise. */
type Doors = {
  asked: string[];
  passes: Slot[];
  /** Set: nobody gets in anywhere; the line that says so. */
  house: string | null | undefined;
  resolve(domain: string, site: string): void;
  set(site: string, places: number): void;
  admit(to: string): Slot | Busy;
};

function doors(): Doors {
  const free = new Map<string, number>();
  const sites = new Map<string, string>();
  const state: Doors = {
    asked: [],
    passes: [],
    house: undefined,
    resolve: (domain: string, site: string) => void sites.set(domain, site),
    set: (site: string, places: number) => void free.set(site, places),
    admit(to) {
      const domain = domainOf(to);
      const site = sites.get(domain) ?? domain;
      state.asked.push(to);
      const busy = { kind: "busy", why: "full", retryAfterMs: REST_MS, reason: "full" } as const;
      const places = free.get(site) ?? Infinity;
      if (places === 0) return { ...busy, waitList: site };
      if (state.house !== undefined) return { ...busy, waitList: state.house };
      free.set(site, places - 1);
      const pass: Slot = {
        kind: "slot",
        waitList: site,
        release: () => void free.set(site, (free.get(site) ?? 0) + 1),
      };
      state.passes.push(pass);
      return pass;
    },
  };
  return state;
}

function open() {
  const outbox = openOutbox();
  const door = doors();
  const queue = createQueue(outbox.db, door.admit);
  return { outbox, door, queue };
}

function addMany(outbox: Outbox, domain: string, count: number, rest = {}): number[] {
  return Array.from({ length: count }, (_, i) =>
    outbox.add({ to: `p${i}-${crypto.randomUUID()}@${domain}`, ...rest }),
  );
}

/** Until there is nothing more to be had at this moment; `limit` at a time. */
function leaseAll(queue: Queue, now = NOW, limit = 20): Lease[] {
  const leases: Lease[] = [];
  for (;;) {
    const found = queue.lease(limit, now);
    leases.push(...found.leases);
    if (found.leases.length === 0 && !found.mayHaveMore) return leases;
  }
}

const seqs = (leases: readonly Lease[]) => leases.map(({ seq }) => seq);

function lineOf(outbox: Outbox, seq: number): string | undefined {
  const sql = "SELECT line FROM emails WHERE seq = ?";
  return outbox.db.sqlite.query<{ line: string }, [number]>(sql).get(seq)?.line;
}

function siteOf(outbox: Outbox, seq: number): string {
  const sql = "SELECT to_address AS 'to' FROM emails WHERE seq = ?";
  return domainOf(outbox.db.sqlite.query<{ to: string }, [number]>(sql).get(seq)?.to ?? "");
}

/** Rows written so far. */
function changes(outbox: Outbox): number {
  const row = outbox.db.sqlite.query<{ n: number }, []>("SELECT total_changes() AS n").get();
  return row?.n ?? 0;
}

/** The mail to which a place belonged has ended. */
function end(door: Doors, queue: Queue, { pass }: Lease): void {
  if (pass === null) throw new Error("it had no place");
  pass.release();
  queue.noteSlotReleased(pass);
  expect(door.passes).toContain(pass);
}

describe("a mail without a place", () => {
  test("does not keep those behind it from leaving, however many it is", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 2);
    const slow = addMany(outbox, "slow.test", 1_000, { nextAt: 1 });
    const fast = addMany(outbox, "fast.test", 10, { nextAt: 2 });
    const leases = leaseAll(queue);
    expect(seqs(leases).toSorted((a, b) => a - b)).toEqual([...slow.slice(0, 2), ...fast]);
    expect(slow.slice(2).map((seq) => lineOf(outbox, seq))).toEqual(Array(998).fill("slow.test"));
  });

  test("is no attempt and keeps its due time", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    const seq = outbox.add({ to: "a@slow.test", nextAt: 7 });
    expect(leaseAll(queue)).toEqual([]);
    expect(outbox.row(seq)).toMatchObject({ status: "QUEUED", attempts: 0, nextAt: 7 });
  });

  test("is touched once: afterwards one question is asked for all of its line", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    addMany(outbox, "slow.test", 500);
    leaseAll(queue);
    const before = changes(outbox);
    door.asked.length = 0;
    for (let i = 1; i <= 10; i++) expect(leaseAll(queue, NOW + i * REST_MS)).toEqual([]);
    expect(changes(outbox)).toBe(before);
    // The first look was at NOW, and the line rests as long as it was told to.
    expect(door.asked).toHaveLength(10);
    expect(queue.nextDueAt()).toBe(NOW + 11 * REST_MS);
    expect(leaseAll(queue, NOW + 10 * REST_MS + 1)).toEqual([]);
    expect(door.asked).toHaveLength(10);
  });

  test("moves a bounded number at a time, and there is more at once", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    addMany(outbox, "slow.test", 600);
    const before = changes(outbox);
    expect(queue.lease(20, NOW)).toEqual({ leases: [], mayHaveMore: true });
    expect(changes(outbox) - before).toBe(250);
  });

  test("leaves without being tried once its time is up", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    const seq = outbox.add({ to: "a@slow.test", nextAt: 1, createdAt: 1 });
    expect(leaseAll(queue)).toEqual([]);
    const [lease] = leaseAll(queue, 1 + 4 * DAY);
    expect(lease).toMatchObject({ seq, pass: null, busy: { waitList: "slow.test" } });
  });

  test("stays where it is while there is no place for anybody", () => {
    const { outbox, door, queue } = open();
    door.house = null;
    const all = addMany(outbox, "fast.test", 30);
    expect(queue.lease(20, NOW)).toEqual({ leases: [], mayHaveMore: false });
    expect(queue.nextDueAt()).toBe(NOW + REST_MS);
    expect(all.map((seq) => lineOf(outbox, seq))).toEqual(Array(30).fill(""));
    door.house = undefined;
    expect(leaseAll(queue, NOW + REST_MS)).toHaveLength(30);
  });
});

describe("a line", () => {
  test("goes on as places come free, by due time, before newcomers", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 1);
    const waiting = [3, 1, 2].map((nextAt) => outbox.add({ to: `a${nextAt}@slow.test`, nextAt }));
    const order = [waiting[1], waiting[2], waiting[0]];
    let [lease] = leaseAll(queue);
    const left = [lease?.seq];
    order.push(outbox.add({ to: "new@slow.test", nextAt: 9 }));
    while (lease !== undefined) {
      end(door, queue, lease);
      [lease] = leaseAll(queue);
      if (lease !== undefined) left.push(lease.seq);
    }
    expect(left).toEqual(order);
  });

  test("lets a person's mail go before campaign mail", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    addMany(outbox, "slow.test", 5, { priority: CAMPAIGN, nextAt: 1 });
    leaseAll(queue);
    const urgent = outbox.add({ to: "a@slow.test", nextAt: 500 });
    leaseAll(queue);
    door.set("slow.test", 1);
    expect(seqs(leaseAll(queue, NOW + REST_MS))).toEqual([urgent]);
  });

  test("serves projects in turn", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    const many = addMany(outbox, "slow.test", 20, { project: 1, nextAt: 1 });
    const few = addMany(outbox, "slow.test", 2, { project: 2, nextAt: 2 });
    leaseAll(queue);
    door.set("slow.test", 4);
    const left = seqs(leaseAll(queue, NOW + REST_MS));
    expect(left).toHaveLength(4);
    expect(few.every((seq) => left.includes(seq))).toBe(true);
    expect(many.filter((seq) => left.includes(seq))).toEqual(many.slice(0, 2));
  });

  test("holds back the mail of a campaign that was paused, and lets it go on afterwards", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    addMany(outbox, "slow.test", 3, { priority: CAMPAIGN });
    leaseAll(queue);
    outbox.db.sqlite.run("UPDATE campaigns SET status = 'PAUSED'");
    door.set("slow.test", 9);
    expect(queue.nextDueAt()).toBe(NOW + REST_MS);
    expect(leaseAll(queue, NOW + REST_MS)).toEqual([]);
    expect(queue.nextDueAt()).toBeNull();
    outbox.db.sqlite.run("UPDATE campaigns SET status = 'SENDING'");
    expect(queue.nextDueAt()).toBe(0);
    expect(leaseAll(queue, NOW + REST_MS)).toHaveLength(3);
  });

  test("keeps to a campaign's own rate", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    addMany(outbox, "slow.test", 3, { priority: CAMPAIGN });
    outbox.db.sqlite.run("UPDATE campaigns SET rate = 2");
    expect(leaseAll(queue)).toEqual([]);
    door.set("slow.test", 9);
    const at = (ms: number) => leaseAll(queue, NOW + ms).length;
    expect([at(100), at(599), at(600), at(1_099), at(1_100)]).toEqual([1, 0, 1, 0, 1]);
  });

  test("keeps to a campaign's own rate also where its mail stands in several", () => {
    const { outbox, door, queue } = open();
    for (const site of ["a.test", "b.test", "c.test"]) {
      door.set(site, 0);
      addMany(outbox, site, 2, { priority: CAMPAIGN });
    }
    outbox.db.sqlite.run("UPDATE campaigns SET rate = 2");
    expect(leaseAll(queue)).toEqual([]);
    for (const site of ["a.test", "b.test", "c.test"]) door.set(site, 9);
    const at = (ms: number) => leaseAll(queue, NOW + ms).length;
    expect([at(100), at(599), at(600)]).toEqual([1, 0, 1]);
  });

  test("is found again by the next process", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    door.set("other.test", 0);
    const all = [...addMany(outbox, "slow.test", 2), ...addMany(outbox, "other.test", 2)];
    leaseAll(queue);
    const next = createQueue(outbox.db, doors().admit);
    expect(next.nextDueAt()).toBe(0);
    expect(seqs(leaseAll(next)).toSorted((a, b) => a - b)).toEqual(all);
    expect(next.nextDueAt()).toBeNull();
  });

  test("of a domain becomes that of its site once that is known", () => {
    const { outbox, door, queue } = open();
    door.set("a.test", 0);
    const [first = 0, second = 0] = addMany(outbox, "a.test", 2);
    leaseAll(queue);
    door.resolve("a.test", "mx.test");
    door.set("mx.test", 0);
    leaseAll(queue, NOW + REST_MS);
    expect([first, second].map((seq) => lineOf(outbox, seq))).toEqual(["mx.test", "mx.test"]);
  });

  test("is put into by a mail that came back notAttempted, and asked at its time", () => {
    const { outbox, queue } = open();
    const seq = outbox.add({ to: "a@slow.test" });
    outbox.db.sqlite.run("UPDATE emails SET line = 'mx.test'");
    queue.noteWaiting("mx.test", NOW + 500);
    expect(leaseAll(queue, NOW + 499)).toEqual([]);
    expect(queue.nextDueAt()).toBe(NOW + 500);
    expect(seqs(leaseAll(queue, NOW + 500))).toEqual([seq]);
  });
});

describe("many lines", () => {
  test("each have their turn, and so has mail that is in none", () => {
    const { outbox, door, queue } = open();
    const sites = Array.from({ length: 250 }, (_, i) => `site${i}.test`);
    for (const site of sites) door.set(site, 0);
    for (const site of sites) addMany(outbox, site, 3);
    leaseAll(queue);
    for (const site of sites) door.set(site, 9);
    addMany(outbox, "fast.test", 500, { nextAt: 900 });
    const left: string[] = [];
    for (let i = 0; i < 500; i++) {
      for (const { seq } of queue.lease(1, NOW + REST_MS).leases) left.push(siteOf(outbox, seq));
    }
    expect(left.filter((site) => site === "fast.test")).toHaveLength(250);
    expect(new Set(left).size).toBe(251);
  });
});

describe("those who wait for a share of the house", () => {
  test("have a line of their own, but for those who stand at a site already", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    const atSite = addMany(outbox, "slow.test", 3);
    leaseAll(queue);
    door.set("slow.test", 9);
    door.house = "# slow";
    const unknown = addMany(outbox, "new.test", 3);
    leaseAll(queue, NOW + REST_MS);
    expect(atSite.map((seq) => lineOf(outbox, seq))).toEqual(Array(3).fill("slow.test"));
    expect(unknown.map((seq) => lineOf(outbox, seq))).toEqual(Array(3).fill("# slow"));
  });

  test("are woken one by one, those that wait longest first, as mails end", () => {
    const { outbox, door, queue } = open();
    const [busy] = addMany(outbox, "busy.test", 1);
    const [lease] = leaseAll(queue);
    expect(lease?.seq).toBe(busy ?? 0);
    const sites = ["a.test", "b.test", "c.test"];
    for (const site of sites) door.set(site, 0);
    for (const site of sites) addMany(outbox, site, 1);
    leaseAll(queue);
    for (const site of sites) door.set(site, 9);
    door.house = "# slow";
    leaseAll(queue, NOW + REST_MS);
    door.asked.length = 0;
    for (const site of sites) {
      if (lease !== undefined) end(door, queue, lease);
      leaseAll(queue, NOW + REST_MS);
      expect(door.asked.map(domainOf).at(-1)).toBe(site);
    }
    expect(door.asked).toHaveLength(3);
  });

  test("are asked again at the time that the transport says, those at a site later", () => {
    const { outbox, door, queue } = open();
    door.set("slow.test", 0);
    addMany(outbox, "slow.test", 1);
    leaseAll(queue);
    door.set("slow.test", 9);
    door.house = "# slow";
    addMany(outbox, "new.test", 1);
    leaseAll(queue, NOW + REST_MS);
    door.house = undefined;
    const leases = (ms: number) => seqs(leaseAll(queue, NOW + REST_MS + ms));
    expect([leases(REST_MS - 1).length, leases(REST_MS).length]).toEqual([0, 1]);
    expect([leases(1_999).length, leases(2_000).length]).toEqual([0, 1]);
  });
});

describe("a pass", () => {
  test("wakes also a second line that waits for what it frees", () => {
    const { outbox, door, queue } = open();
    const [first] = addMany(outbox, "a.test", 1);
    const [lease] = leaseAll(queue);
    expect(lease?.seq).toBe(first ?? 0);
    const seq = outbox.add({ to: "b@b.test" });
    outbox.db.sqlite.run("UPDATE emails SET line = '@ 192.0.2.1' WHERE seq = ?", [seq]);
    queue.noteWaiting("@ 192.0.2.1", NOW + 2_000);
    expect(leaseAll(queue)).toEqual([]);
    const pass: Slot = { kind: "slot", waitList: "a.test", release: () => {} };
    queue.noteSlotReleased(pass);
    expect(leaseAll(queue)).toEqual([]);
    queue.noteSlotReleased({ ...pass, secondWaitList: "@ 192.0.2.1" });
    expect(seqs(leaseAll(queue))).toEqual([seq]);
    expect(door.asked).toHaveLength(2);
  });
});
