/**
 * The queue is the emails table: QUEUED rows with a due time. Leasing turns rows SENDING and sets
 * the time at which they are due again if this process dies, so a crash never re-sends at once.
 *
 * Mail leaves in lanes: each project's transactional mail is one, each campaign that is SENDING is
 * one. Transactional lanes go first; the rest take turns (fairness.ts). A campaign that is paused
 * or cancelled has no lane, so none of its rows need to be touched for that.
 */

import type { Db } from "../db/open.ts";
import { createTurns, type Lane } from "./fairness.ts";

/** The lease: a settlement counts only if the row still has this number of attempts. */
export type Lease = { seq: number; attempts: number };

export type Queue = {
  /** Part of a change: takes up to `limit` due mails, transactional ones first. */
  lease(limit: number, now: number): Lease[];
  /** When the next mail may leave; null if none waits. */
  nextDueAt(): number | null;
  /** Part of a change: mails that an earlier process was sending wait for their time again. */
  returnLeases(): number;
};

/** Due again this long after a lease that was never settled; doubles with each attempt. */
const ORPHAN_DELAY_MS = 30_000;
const MOST_DOUBLINGS = 9;
const SECOND_MS = 1000;

type Campaign = Lane & {
  /** Mails per second; null: no limit of its own. */
  rate: number | null;
};

type Take = { now: number; key: number; limit: number; delay: number; doublings: number };

/*
 * The plus signs: SQLite plans with the values that are bound to a bare `= ?`, `<= ?` or `LIMIT ?`,
 * and so prepares the whole statement anew each time, for ten times its price. It does not look
 * behind a sign.
 */

export function createQueue({ sqlite }: Db): Queue {
  const takeTransactional = sqlite.prepare<Lease, [Take]>(
    leaseSql("priority = 0 AND project_seq = +$key"),
  );
  const takeCampaign = sqlite.prepare<Lease, [Take]>(leaseSql("campaign_seq = +$key"));
  const nextProject = sqlite.prepare<{ key: number | null }, [number]>(`
    SELECT min(project_seq) AS key FROM emails
    WHERE status = 'QUEUED' AND priority = 0 AND project_seq > +? AND next_at IS NOT NULL`);
  const dueInProject = sqlite.prepare<{ at: number | null }, [number]>(`
    SELECT min(next_at) AS at FROM emails
    WHERE status = 'QUEUED' AND priority = 0 AND project_seq = +? AND next_at IS NOT NULL`);
  const dueInCampaign = sqlite.prepare<{ at: number | null }, [number]>(`
    SELECT min(next_at) AS at FROM emails
    WHERE campaign_seq = +? AND status = 'QUEUED' AND next_at IS NOT NULL`);
  const findCampaigns = sqlite.prepare<Campaign, []>(`
    SELECT seq AS key, project_seq AS projectSeq, rate FROM campaigns WHERE status = 'SENDING'`);
  const giveBack = sqlite.prepare<{ seq: number }, []>(`
    UPDATE emails SET status = 'QUEUED'
    WHERE status = 'SENDING' AND next_at IS NOT NULL RETURNING seq`);

  const turns = createTurns<Lane>();
  const campaignTurns = createTurns<Campaign>();
  /** Campaigns with a rate of their own → when their next mail may leave. */
  const opensAt = new Map<number, number>();

  /** Projects with transactional mail waiting, found by skipping from one to the next. */
  function projectLanes(): Lane[] {
    const lanes: Lane[] = [];
    for (let key = nextProject.get(0)?.key; typeof key === "number";) {
      lanes.push({ projectSeq: key, key });
      key = nextProject.get(key)?.key;
    }
    return lanes;
  }

  function leaseProjects(limit: number, now: number): Lease[] {
    return takeFairly(projectLanes(), limit, {
      next: turns.next,
      take: ({ key }, most) => takeTransactional.all(values(key, most, now)),
    });
  }

  function leaseCampaigns(limit: number, now: number): Lease[] {
    const open = findCampaigns.all().filter((campaign) => openingOf(campaign) <= now);
    return takeFairly(open, limit, {
      next: campaignTurns.next,
      take: ({ key, rate }, most) => {
        const leases = takeCampaign.all(values(key, rate === null ? most : 1, now));
        if (rate !== null && leases.length > 0) opensAt.set(key, now + SECOND_MS / rate);
        return leases;
      },
    });
  }

  function campaignDueAt({ key, rate }: Campaign): number | null {
    const at = dueInCampaign.get(key)?.at ?? null;
    if (at === null || rate === null) return at;
    return Math.max(at, openingOf({ key, rate }));
  }

  function openingOf({ key, rate }: Pick<Campaign, "key" | "rate">): number {
    return rate === null ? 0 : (opensAt.get(key) ?? 0);
  }

  return {
    lease(limit, now) {
      const urgent = leaseProjects(limit, now);
      return [...urgent, ...leaseCampaigns(limit - urgent.length, now)];
    },
    nextDueAt() {
      const times = [
        ...projectLanes().flatMap(({ key }) => dueInProject.get(key)?.at ?? []),
        ...findCampaigns.all().flatMap((campaign) => campaignDueAt(campaign) ?? []),
      ];
      return times.length === 0 ? null : Math.min(...times);
    },
    returnLeases: () => giveBack.all().length,
  };
}

function leaseSql(lane: string): string {
  return `
    UPDATE emails
    SET status = 'SENDING', attempts = attempts + 1,
        next_at = $now + $delay * (1 << min(attempts, $doublings))
    WHERE seq IN (
      SELECT seq FROM emails
      WHERE status = 'QUEUED' AND ${lane} AND next_at <= +$now
      ORDER BY next_at LIMIT +$limit)
    RETURNING seq, attempts`;
}

function values(key: number, limit: number, now: number): Take {
  return { now, key, limit, delay: ORPHAN_DELAY_MS, doublings: MOST_DOUBLINGS };
}

/** One lane is taken from in one go; several take turns, one mail each. */
function takeFairly<L extends Lane>(
  lanes: readonly L[],
  limit: number,
  {
    next,
    take,
  }: { next: (lanes: readonly L[]) => L | null; take: (lane: L, most: number) => Lease[] },
): Lease[] {
  const taken: Lease[] = [];
  let open = lanes;
  while (taken.length < limit) {
    const lane = next(open);
    if (lane === null) break;
    const most = open.length === 1 ? limit - taken.length : 1;
    const leases = take(lane, most);
    // RETURNING names no order.
    taken.push(...leases.sort((a, b) => a.seq - b.seq));
    if (leases.length < most || open.length === 1) open = open.filter((other) => other !== lane);
  }
  return taken;
}
