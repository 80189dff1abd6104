import { afterEach, describe, expect, test } from "bun:test";
import { migrate } from "../../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../../src/db/open.ts";
import { createWriter } from "../../../src/db/writer.ts";
import { Gate } from "../../../src/outbox/direct/gate.ts";
import { databaseSiteStore } from "../../../src/outbox/direct/stores.ts";
import { Site, type SiteResult } from "../../../src/outbox/direct/site.ts";
import { type Log, silentLog } from "../../../src/lib/log.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { planOf } from "../../support/outbox.ts";

const DAY_MS = 86_400_000;
const WRITE_DELAY_MS = 5_000;

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

function emptyDatabase(): Db {
  const db = openDatabase(":memory:");
  migrate(db.sqlite);
  return db;
}

/**
 * Opens the store of a process; an existing database and clock make it that of the next process.
 */
function open(db = emptyDatabase(), clock: ManualClock = manualClock(), log: Log = silentLog) {
  const { write, drain } = createWriter(db, log);
  const state = { commits: 0 };
  const writeAndCount: typeof write = (change) => {
    state.commits++;
    return write(change);
  };
  const store = databaseSiteStore({ db, writer: { write: writeAndCount }, clock, log });
  closers.push(drain);
  const names = (): string[] =>
    db.sqlite
      .query<{ name: string }, []>("SELECT name FROM direct_sites ORDER BY name")
      .all()
      .map(({ name }) => name);
  return {
    db,
    clock,
    store,
    state,
    names,
    /** Waits until all noted changes are written. */
    async written(): Promise<void> {
      clock.advance(WRITE_DELAY_MS);
      await settleEventLoop();
      await drain();
      await settleEventLoop();
    },
  };
}

/** A site after one mail that took `ms`. */
function siteAfter(result: SiteResult, ms = 10): Site {
  const site = new Site();
  site.end(site.begin(0), result, ms);
  return site;
}

const ACCEPTED: SiteResult = { kind: "accepted" };
const FAILED: SiteResult = { kind: "failed" };

describe("the stored state of a site", () => {
  test("is read by the next process", async () => {
    const first = open();
    const site = new Site();
    const slots = [site.begin(0), site.begin(0)];
    for (const slot of slots) site.end(slot, ACCEPTED, 40);
    first.store.note("mx.test", site);
    await first.store.close();
    const { store } = open(first.db, first.clock);
    expect(store.find("mx.test")).toEqual({
      hasGoodSession: true,
      meanMs: 40,
      limit: 3,
      pauses: 0,
      pauseMs: 0,
    });
    expect(store.find("other.test")).toBeNull();
    const again = new Site(store.find("mx.test"));
    expect([again.limit, again.speedAt(0)]).toEqual([3, "fast"]);
  });

  test("is unresponsive if its first mail is still waiting", async () => {
    const { db, clock, store } = open();
    const site = new Site();
    site.begin(clock.elapsed());
    clock.advance(2_000);
    store.note("tarpit.test", site);
    await store.close();
    const state = open(db, clock).store.find("tarpit.test");
    expect(new Site(state).speedAt(0)).toBe("unresponsive");
  });

  test("can be found before it is written", () => {
    const { store } = open();
    store.note("mx.test", siteAfter(ACCEPTED));
    expect(store.find("mx.test")).toMatchObject({ hasGoodSession: true, meanMs: 10 });
  });

  test("is removed after a week without a change", async () => {
    const { db, clock, store, names, written } = open();
    store.note("old.test", siteAfter(ACCEPTED));
    await written();
    clock.advance(7 * DAY_MS - 1);
    expect(open(db, clock).store.find("old.test")).not.toBeNull();
    clock.advance(1);
    expect(open(db, clock).store.find("old.test")).toBeNull();
    store.note("new.test", siteAfter(ACCEPTED));
    await written();
    expect(names()).toEqual(["new.test"]);
  });
});

describe("a site that stays silent", () => {
  /** Begins a mail at a silent site shortly before the changes of another site are written. */
  async function beginSilence() {
    const { db, clock, store, written } = open();
    const gate = new Gate({ slots: 50, clock, store });
    const begin = async (domain: string) => {
      const slot = gate.admit(domain);
      if (slot.kind !== "slot") throw new Error(slot.reason);
      await slot.enter(domain);
      return slot;
    };
    (await begin("ok.test")).end(ACCEPTED);
    clock.advance(WRITE_DELAY_MS - 100);
    const silent = await begin("tarpit.test");
    clock.advance(100);
    await settleEventLoop();
    return { clock, gate, written, silent, find: () => open(db, clock).store.find("tarpit.test") };
  }

  test("is known after a crash", async () => {
    const { clock, written, find } = await beginSilence();
    clock.advance(2_000);
    await written();
    expect(new Site(find()).speedAt(0)).toBe("unresponsive");
  });

  test("is known after a stop, with the time for which it has been silent", async () => {
    const { clock, gate, written, find } = await beginSilence();
    clock.advance(2_000);
    await written();
    clock.advance(280_000);
    await gate.close();
    expect(find()?.meanMs).toBeGreaterThan(280_000);
  });

  test("is not written after a stop", async () => {
    const { clock, gate, written, find } = await beginSilence();
    await gate.close();
    clock.advance(2_000);
    await written();
    expect(find()?.meanMs).toBe(100);
  });

  test("is not stored as slow if it answers in time", async () => {
    const { clock, written, silent, find } = await beginSilence();
    clock.advance(1_000);
    silent.end(ACCEPTED);
    await written();
    expect(find()).toMatchObject({ hasGoodSession: true, meanMs: 1_100 });
  });
});

describe("a pause", () => {
  async function paused() {
    const { db, clock, store, written } = open();
    const site = new Site();
    site.end(site.begin(0), { kind: "limited", retryAfterMs: 600_000 }, 0);
    store.note("mx.test", site);
    await written();
    return { clock, store, find: () => open(db, clock).store.find("mx.test") };
  }

  test("continues for its remaining time by the wall clock", async () => {
    const { clock, find } = await paused();
    expect(find()).toMatchObject({ pauseMs: 595_000, pauses: 1, limit: 1 });
    clock.advance(200_000);
    expect(find()).toMatchObject({ pauseMs: 395_000 });
    clock.advance(395_000);
    expect(find()).toMatchObject({ pauseMs: 0, pauses: 1 });
  });

  test("is shifted when the clock is set", async () => {
    const { clock, store, find } = await paused();
    clock.stepWall(-DAY_MS);
    store.shift({ byMs: -DAY_MS, after: clock.now() });
    expect(find()).toMatchObject({ pauseMs: 595_000 });
    store.shift({ byMs: -DAY_MS, after: clock.now() + 595_000 });
    expect(find()).toMatchObject({ pauseMs: 595_000 });
  });

  test("is at most an hour, even if the wall clock was set back further", async () => {
    const { clock, find } = await paused();
    clock.stepWall(-30 * DAY_MS);
    expect(find()).toMatchObject({ pauseMs: 3_600_000 });
  });
});

describe("changes", () => {
  test("of many mails are written in one commit", async () => {
    const { store, state, names, written } = open();
    const sites = Array.from({ length: 100 }, () => new Site());
    for (let mail = 0; mail < 50; mail++) {
      for (const [i, site] of sites.entries()) {
        site.end(site.begin(0), ACCEPTED, 10);
        store.note(`mx${i}.test`, site);
      }
    }
    expect(state.commits).toBe(0);
    await written();
    expect(state.commits).toBe(1);
    expect(names()).toHaveLength(100);
  });

  test("that are insignificant are not written", async () => {
    const { store, state, written } = open();
    const site = siteAfter(ACCEPTED);
    store.note("mx.test", site);
    await written();
    for (let i = 0; i < 100; i++) site.end(site.begin(0), ACCEPTED, 10 + i);
    store.note("mx.test", site);
    await written();
    expect(state.commits).toBe(1);
    for (let i = 0; i < 10; i++) site.end(site.begin(0), ACCEPTED, 3_000);
    store.note("mx.test", site);
    await written();
    expect(state.commits).toBe(2);
  });

  test("are written once a day even without a difference, so that the row stays", async () => {
    const { clock, store, state, written } = open();
    const site = siteAfter(ACCEPTED);
    for (const commits of [1, 2]) {
      store.note("mx.test", site);
      await written();
      expect(state.commits).toBe(commits);
      clock.advance(DAY_MS);
    }
  });

  test("of very many sites are written in several commits", async () => {
    const { store, state, names, written } = open();
    for (let i = 0; i < 1_200; i++) store.note(`mx${i}.test`, siteAfter(FAILED));
    await written();
    expect([state.commits, names().length]).toEqual([1, 500]);
    await written();
    await written();
    expect([state.commits, names().length]).toEqual([3, 1_200]);
  });

  test("are retried with the next mail after a storage error", async () => {
    const { db, store, names, written } = open();
    db.sqlite.run("PRAGMA query_only = ON");
    const site = siteAfter(ACCEPTED);
    store.note("mx.test", site);
    await written();
    db.sqlite.run("PRAGMA query_only = OFF");
    expect(names()).toEqual([]);
    store.note("mx.test", site);
    await written();
    expect(names()).toEqual(["mx.test"]);
  });
});

describe("the table", () => {
  test("has at most 10,000 sites: sites that never answered are removed first, the oldest first", async () => {
    const { clock, store, names } = open();
    store.note("good.test", siteAfter(ACCEPTED));
    await store.close();
    clock.advance(DAY_MS);
    store.note("a.test", siteAfter(FAILED));
    await store.close();
    clock.advance(1_000);
    for (let i = 0; i < 9_999; i++) store.note(`tarpit${i}.test`, siteAfter(FAILED));
    await store.close();
    const remaining = names();
    expect(remaining).toHaveLength(10_000);
    expect([remaining.includes("good.test"), remaining.includes("a.test")]).toEqual([true, false]);
  });

  test("is pruned with the help of an index", () => {
    const { db } = open();
    const plan = planOf(
      db,
      "DELETE FROM direct_sites WHERE has_good_session IN (0, 1) AND updated_at <= +?",
    );
    expect(plan).toContain("direct_sites_age");
  });
});
