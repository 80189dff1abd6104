/**
 * The stores of direct delivery. First the state of sites: a site is loaded for its first mail.
 * Changes are collected and written together every few seconds, and only if they matter for
 * admission, so that mail never waits for a commit of this table. A crash loses the latest changes.
 *
 * Then the MTA-STS policies, because a policy applies for its whole max_age, also after a restart and
 * while it cannot be fetched (RFC 8461 §5.1). Policies in use are also in memory.
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import {
  expiresAt,
  memoryPolicyStore,
  type PolicyStore,
  type StoredPolicy,
} from "../../protocols/mta-sts/mta-sts.ts";
import { HIGHEST_LIMIT, LONGEST_PAUSE_MS, type Site, type SiteState } from "./site.ts";

export type SiteStore = {
  /** Returns the stored state; null if there is none or it is too old. */
  find(name: string): SiteState | null;
  /** Schedules a write, because the site may have changed. */
  note(name: string, site: Site): void;
  /** Change, after the clock was set: pauses last for as long as before. */
  shift(shift: DueShift): void;
  /** Writes all changes that are not written yet. */
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
/** The row as last written, and when (monotonic milliseconds). */
type Written = { row: Row; at: number };

const WRITE_DELAY_MS = 5_000;
const MAX_WRITES = 500;
const MAX_ROWS = 10_000;
const LIFETIME_MS = 7 * 86_400_000;
/** A row is written again after this time even without a change, so that it does not expire. */
const RENEWAL_MS = 86_400_000;
/** A mean is written again only if it differs by this factor; means below MIN_MEAN_MS are equal. */
const SAME_MEAN_FACTOR = 1.5;
const MIN_MEAN_MS = 100;
/** Tolerance when comparing pauses, because they are computed from two clocks. */
const PAUSE_TOLERANCE_MS = 1_000;

type SiteStoreDeps = {
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

  /** Writes at most MAX_WRITES sites; the others are written after another delay. */
  async function writeChanges(): Promise<void> {
    const sites = takeChanges();
    if (sites.length > 0) await write(sites);
    if (changed.size > 0) schedule();
  }

  function takeChanges(): [string, Site, Row][] {
    const sites: [string, Site, Row][] = [];
    for (const [name, site] of changed) {
      if (sites.length === MAX_WRITES) break;
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
        removeExcess.run(MAX_ROWS);
      });
      const at = clock.elapsed();
      for (const [, site, row] of sites) written.set(site, { row, at });
    } catch (error) {
      // The old rows stay; the next mail to each of these sites schedules another write.
      log.warn("the state of receiving sites could not be stored", { error: describeError(error) });
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

/** lease-rows.ts explains the plus signs. */
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
    /** Removes sites without a good session first, so that tarpits do not displace the others. */
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

/** Limits the pause, because it would last too long if the wall clock was set back meanwhile. */
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
    Math.abs((row.pausedUntil ?? 0) - (known.pausedUntil ?? 0)) <= PAUSE_TOLERANCE_MS &&
    isSameMean(row.meanMs, known.meanMs)
  );
}

function isSameMean(one: number | null, other: number | null): boolean {
  if (one === null || other === null) return one === other;
  const less = Math.max(Math.min(one, other), MIN_MEAN_MS);
  return Math.max(one, other) <= less * SAME_MEAN_FACTOR;
}

type PolicyRow = { recordId: string; policy: string; fetchedAt: number };

/** Shape of a stored policy; a row of another shape is ignored. */
const Stored = Type.Object({
  mode: Type.Union([Type.Literal("enforce"), Type.Literal("testing"), Type.Literal("none")]),
  mx: Type.Array(Type.String()),
  maxAgeSeconds: Type.Number(),
});

export function databasePolicyStore(deps: {
  db: Db;
  writer: Pick<Writer, "write">;
  clock: Pick<Clock, "now" | "elapsed">;
  log: Log;
}): PolicyStore {
  const { writer, clock, log } = deps;
  const { sqlite } = deps.db;
  const memory = memoryPolicyStore(clock);
  const find = sqlite.prepare<PolicyRow, [string]>(`
    SELECT record_id AS recordId, policy, fetched_at AS fetchedAt
    FROM mta_sts_policies WHERE domain = +?`);
  const insert = sqlite.prepare<unknown, [string, string, string, number, number]>(`
    INSERT INTO mta_sts_policies (domain, record_id, policy, fetched_at, ends_at)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET record_id = excluded.record_id, policy = excluded.policy,
      fetched_at = excluded.fetched_at, ends_at = excluded.ends_at`);
  const removeEnded = sqlite.prepare<unknown, [number]>(
    "DELETE FROM mta_sts_policies WHERE ends_at <= +?",
  );

  function load(domain: string): StoredPolicy | null {
    const row = find.get(domain);
    if (row === null) return null;
    const policy: unknown = JSON.parse(row.policy);
    if (!Value.Check(Stored, policy)) return null;
    const stored = { id: row.recordId, policy, fetchedAt: row.fetchedAt };
    memory.set(domain, stored);
    return stored;
  }

  return {
    get: (domain) => memory.get(domain) ?? load(domain),
    set(domain, stored) {
      memory.set(domain, stored);
      writer
        .write(() => {
          removeEnded.run(clock.now());
          const policy = JSON.stringify(stored.policy);
          insert.run(domain, stored.id, policy, stored.fetchedAt, expiresAt(stored));
        })
        .catch((error: unknown) =>
          log.warn("an MTA-STS policy could be stored in memory only", {
            domain,
            error: describeError(error),
          }),
        );
    },
  };
}
