/**
 * Keeps what is known of sites beyond a restart. A site is read when its first mail comes. Changes
 * are collected and written together every few seconds, and only those that matter for admission, so
 * that mail never waits for a commit of this table; a process that dies loses the latest ones.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import { HIGHEST_LIMIT, LONGEST_PAUSE_MS, type Site, type SiteState } from "./site.ts";

export type SiteStore = {
  /** Null if nothing is known, or nothing that is recent enough. */
  find(name: string): SiteState | null;
  /** The site may have changed. */
  note(name: string, site: Site): void;
  /** Part of a change, after the clock was set: pauses last as long as they would have lasted. */
  shift(shift: DueShift): void;
  /** Writes what was not written yet. */
  close(): Promise<void>;
};

type Row = {
  hasGoodSession: number;
  meanMs: number | null;
  mailLimit: number;
  pauses: number;
  /** Wall clock. */
  pausedUntil: number | null;
};
type Upsert = Row & { name: string; updatedAt: number };
/** A row as it was written last, with the monotonic time of that. */
type Written = { row: Row; at: number };

const WRITE_DELAY_MS = 5_000;
const MOST_WRITES = 500;
const MOST_ROWS = 10_000;
const LIFETIME_MS = 7 * 86_400_000;
/** A row without a change is written again after this time, so that it does not expire. */
const RENEWAL_MS = 86_400_000;
/** A mean within this factor of the written one is not worth another write, nor is one below MIN. */
const SAME_MEAN = 1.5;
const MIN_MEAN_MS = 100;
/** A written pause may differ by this much: it is computed from two clocks. */
const SAME_PAUSE_MS = 1_000;

export type SiteStoreDeps = {
  db: Db;
  writer: Pick<Writer, "write">;
  clock: Clock;
  log: Log;
};

export function databaseSiteStore({ db, writer, clock, log }: SiteStoreDeps): SiteStore {
  const { find, upsert, removeOld, removeExcess, shiftPauses } = prepare(db);
  const changed = new Map<string, Site>();
  const written = new WeakMap<Site, Written>();
  let cancelTimer: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();

  function schedule(): void {
    cancelTimer ??= clock.after(WRITE_DELAY_MS, () => {
      cancelTimer = null;
      writing = writing.then(writeChanges);
    });
  }

  /** At most MOST_WRITES sites; the others are written after a further delay. */
  async function writeChanges(): Promise<void> {
    const sites = takeChanges();
    if (sites.length > 0) await write(sites);
    if (changed.size > 0) schedule();
  }

  function takeChanges(): [string, Site, Row][] {
    const sites: [string, Site, Row][] = [];
    for (const [name, site] of changed) {
      if (sites.length === MOST_WRITES) break;
      changed.delete(name);
      const row = rowOf(site.stateAt(clock.elapsed()), clock.now());
      if (!isWritten(row, written.get(site), clock.elapsed())) sites.push([name, site, row]);
    }
    return sites;
  }

  async function write(sites: readonly [string, Site, Row][]): Promise<void> {
    try {
      await writer.write(() => {
        const updatedAt = clock.now();
        for (const [name, , row] of sites) upsert.run({ ...row, name, updatedAt });
        removeOld.run(updatedAt - LIFETIME_MS);
        removeExcess.run(MOST_ROWS);
      });
      const at = clock.elapsed();
      for (const [, site, row] of sites) written.set(site, { row, at });
    } catch (error) {
      // The sites stay as they were written before; the next mail to one of them notes it again.
      log.warn("what is known of sites could not be stored", { error: describeError(error) });
    }
  }

  return {
    find(name) {
      const unwritten = changed.get(name);
      if (unwritten !== undefined) return unwritten.stateAt(clock.elapsed());
      const row = find.get(name, clock.now() - LIFETIME_MS);
      return row === null ? null : stateOf(row, clock.now());
    },
    note(name, site) {
      changed.set(name, site);
      schedule();
    },
    shift: (shift) => void shiftPauses.run(shift),
    async close() {
      cancelTimer?.();
      cancelTimer = null;
      await writing;
      while (changed.size > 0) {
        const sites = takeChanges();
        if (sites.length > 0) await write(sites);
      }
    },
  };
}

/** The plus signs keep the planner from preparing the statement anew for each value. */
function prepare({ sqlite }: Db) {
  return {
    find: sqlite.prepare<Row, [string, number]>(`
      SELECT has_good_session AS hasGoodSession, mean_ms AS meanMs, mail_limit AS mailLimit, pauses,
             paused_until AS pausedUntil
      FROM direct_sites WHERE name = +? AND updated_at > +?`),
    upsert: sqlite.prepare<unknown, [Upsert]>(`
      INSERT INTO direct_sites
        (name, has_good_session, mean_ms, mail_limit, pauses, paused_until, updated_at)
      VALUES ($name, $hasGoodSession, $meanMs, $mailLimit, $pauses, $pausedUntil, $updatedAt)
      ON CONFLICT DO UPDATE SET has_good_session = excluded.has_good_session,
        mean_ms = excluded.mean_ms, mail_limit = excluded.mail_limit, pauses = excluded.pauses,
        paused_until = excluded.paused_until, updated_at = excluded.updated_at`),
    removeOld: sqlite.prepare<unknown, [number]>(
      "DELETE FROM direct_sites WHERE has_good_session IN (0, 1) AND updated_at <= +?",
    ),
    shiftPauses: sqlite.prepare<unknown, [DueShift]>(
      "UPDATE direct_sites SET paused_until = paused_until + $byMs WHERE paused_until > +$after",
    ),
    /** Sites without a good session go first: tarpits must not displace what is known of others. */
    removeExcess: sqlite.prepare<unknown, [number]>(`
      DELETE FROM direct_sites WHERE name IN (
        SELECT name FROM direct_sites
        ORDER BY has_good_session DESC, updated_at DESC, name DESC LIMIT -1 OFFSET +?)`),
  };
}

function rowOf(state: SiteState, now: number): Row {
  return {
    hasGoodSession: Number(state.hasGoodSession),
    meanMs: state.meanMs === null ? null : Math.round(state.meanMs),
    mailLimit: state.limit,
    pauses: state.pauses,
    pausedUntil: state.pauseMs === 0 ? null : Math.round(now + state.pauseMs),
  };
}

/** Within bounds: the wall clock may have been set back since, which must not prolong a pause. */
function stateOf(row: Row, now: number): SiteState {
  const pauseMs = row.pausedUntil === null ? 0 : row.pausedUntil - now;
  return {
    hasGoodSession: row.hasGoodSession === 1,
    meanMs: row.meanMs,
    limit: Math.min(Math.max(row.mailLimit, 1), HIGHEST_LIMIT),
    pauses: row.pauses,
    pauseMs: Math.min(Math.max(pauseMs, 0), LONGEST_PAUSE_MS),
  };
}

function isWritten(row: Row, before: Written | undefined, elapsed: number): boolean {
  if (before === undefined || elapsed - before.at >= RENEWAL_MS) return false;
  const known = before.row;
  return (
    row.hasGoodSession === known.hasGoodSession &&
    row.mailLimit === known.mailLimit &&
    row.pauses === known.pauses &&
    Math.abs((row.pausedUntil ?? 0) - (known.pausedUntil ?? 0)) <= SAME_PAUSE_MS &&
    isSameMean(row.meanMs, known.meanMs)
  );
}

function isSameMean(one: number | null, other: number | null): boolean {
  if (one === null || other === null) return one === other;
  const less = Math.max(Math.min(one, other), MIN_MEAN_MS);
  return Math.max(one, other) <= less * SAME_MEAN;
}
