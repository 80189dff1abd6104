/**
 * The queue is the emails table: QUEUED rows with a due time. Leasing turns rows SENDING and sets
 * the time at which they are due again if this process dies, so a crash never re-sends at once.
 *
 * Mail leaves in lanes: each project's transactional mail is one, each campaign that is SENDING is
 * one. Transactional lanes go first; the rest take turns (fairness.ts). A campaign that is paused
 * or cancelled, or a project that is disabled, has no lane: none of its rows need to be touched.
 *
 * A mail is leased only if the transport has a place for it. If not, it joins the line of those who
 * wait for the same (lines.ts), once, and its lane goes on with the next mail; from then on only its
 * line is asked for it. In a line there are the same lanes. However many mails one slow site gets,
 * a mail to another one does not wait behind them.
 */

import type { Db } from "../db/open.ts";
import type { DueShift } from "../lib/steady-clock.ts";
import { createTurns, type Lane as Turn, levelsOf } from "./fairness.ts";
import { createLines, NO_LINE } from "./lines.ts";
import { type Busy, isShareLine, type Pass } from "./outcome.ts";
import { type Campaign, type Candidate, prepareQueue } from "./queue-rows.ts";
import { isPastLifetime } from "./retry.ts";

/** A settlement counts only if the row still has this number of attempts. */
export type Lease = {
  seq: number;
  attempts: number;
  /** When it was due. */
  dueAt: number;
  /** Belongs to whoever has the lease; null: it needs none, or there was none. */
  pass: Pass | null;
  /** It found no place until its time was up: it leaves the queue without being tried. */
  busy: Busy | null;
};

export type Leasing = {
  leases: Lease[];
  /** There may be more at once. */
  isWorthAnother: boolean;
};

export type Queue = {
  /**
   * Part of a change: takes up to `limit` due mails, transactional ones first; `kept` of the limit
   * are for them alone.
   */
  lease(limit: number, now: number, kept?: number): Leasing;
  /** When the next mail may leave, or the next transactional one; null if none waits. */
  nextDueAt(isUrgent?: boolean): number | null;
  /** Part of a change: mails that an earlier process was sending wait for their time again. */
  returnLeases(): number;
  /**
   * Part of a change, after the clock was set: what was due stays due, and what waits for a later
   * time (a retry, the rate of a campaign) waits as long as it would have waited.
   */
  shift(shift: DueShift): void;
  /** A mail gave back its place. */
  noteFree(pass: Pass): void;
  /** A mail was put into this line, which is not worth asking before `until`. */
  noteWaiting(line: string, until: number): void;
};

/** Due again this long after a lease that was never settled; doubles with each attempt. */
const ORPHAN_DELAY_MS = 30_000;
const MOST_DOUBLINGS = 9;
const SECOND_MS = 1000;
/** How late the turn of a campaign with a rate of its own may come and still be made up for. */
const MOST_LATE_MS = 1_000;
/** Rows that may join a line at once: the event loop is not to be kept for long. */
const MOST_MOVES = 250;
/** Lines that are asked at once; the others come next. */
const MOST_LINES = 100;
/**
 * A line that waits for a share of all slots is woken when a mail ends. Slots can also come free
 * without that, so the line asks again after some time. The line of the share itself does so at the
 * time that the transport says, within these bounds; the lines of sites, of which there may be many,
 * do so after the longer time.
 */
const SHARE_REST_MS = { least: 50, most: 2_000 };

type Lane = Turn & {
  line: string;
  /** The project or campaign. */
  of: number;
  kind: "transactional" | "campaign";
  rate: number | null;
};

/** One look at the queue: what it has led to so far. */
type Look = {
  now: number;
  limit: number;
  leases: Lease[];
  moves: number;
  /** Lines that turned out to be empty. */
  emptied: number;
  /** Lanes of these have nothing to give for now. */
  resting: Set<string>;
  isHouseFull: boolean;
};

export function createQueue(db: Db, admit: (to: string) => Pass | Busy | null): Queue {
  const rows = prepareQueue(db);
  const turns = createTurns<Lane>();
  const campaignTurns = createTurns<Lane>();
  /** Campaigns with a rate of their own → when their next mail may leave. */
  const opensAt = new Map<number, number>();
  const lines = createLines();
  /** No place for anybody before this time, unless one comes free. */
  let houseOpensAt = 0;
  /** The campaigns that were SENDING at the last look. */
  let sending = "";
  /** Projects that are disabled, as of the last look. */
  let disabled: ReadonlySet<number> = new Set();

  // Those of an earlier process.
  for (const line of rows.lines()) lines.add(line);

  /** Projects with transactional mail in a line, found by skipping from one to the next. */
  function projectLanes(line: string): Lane[] {
    const lanes: Lane[] = [];
    for (let of = rows.nextProject.get({ line, key: 0 })?.key; typeof of === "number";) {
      const levels = levelsOf([of, ...placeOf(line)]);
      if (!disabled.has(of)) lanes.push({ levels, line, of, kind: "transactional", rate: null });
      of = rows.nextProject.get({ line, key: of })?.key;
    }
    return lanes;
  }

  function campaignLanes(line: string, campaigns: readonly Campaign[]): Lane[] {
    return campaigns
      .filter(({ key }) => line === NO_LINE || firstOf(line, key) !== null)
      .map(({ key, projectSeq, rate }) => {
        const levels = levelsOf([projectSeq, key, ...placeOf(line)]);
        return { levels, line, of: key, kind: "campaign", rate };
      });
  }

  /** When the first mail of a campaign is due; null if it has none there. */
  function firstOf(line: string, key: number): number | null {
    return rows.dueInCampaign.get({ line, key })?.at ?? null;
  }

  function openingOf({ key, rate }: Pick<Campaign, "key" | "rate">): number {
    return rate === null ? 0 : (opensAt.get(key) ?? 0);
  }

  /** One lane is taken from in one go; several take turns, one mail each. */
  function takeFairly(lanes: readonly Lane[], { next }: typeof turns, look: Look): void {
    let open = lanes;
    while (!isOver(look)) {
      open = open.filter(({ line }) => !look.resting.has(line));
      const lane = next(open);
      if (lane === null) return;
      const most = open.length === 1 ? look.limit - look.leases.length : 1;
      if (takeFrom(lane, most, look) === "empty") open = open.filter((other) => other !== lane);
    }
  }

  function takeFrom(lane: Lane, wanted: number, look: Look): "empty" | "more" {
    const { of, kind, line, rate } = lane;
    // It may have had its turn in another line.
    if (openingOf({ key: of, rate }) > look.now) return "empty";
    const limit = rate === null ? wanted : 1;
    const find = kind === "campaign" ? rows.findOfCampaign : rows.findTransactional;
    const candidates = find.all({ line, key: of, now: look.now, limit });
    for (const mail of candidates) {
      const isTaken = consider(mail, line, look);
      if (isTaken && rate !== null) return closeFor(of, rate, look.now);
      if (isOver(look) || look.resting.has(line)) return "more";
    }
    return candidates.length < limit ? "empty" : "more";
  }

  /**
   * Until its next mail may leave. A turn that came late is made up for: the pace of all, or the
   * mails of others, must not slow a campaign down below its rate.
   */
  function closeFor(campaign: number, rate: number, now: number): "empty" | "more" {
    const distance = SECOND_MS / rate;
    const intended = Math.max(opensAt.get(campaign) ?? now, now - MOST_LATE_MS);
    opensAt.set(campaign, intended + distance);
    return intended + distance <= now ? "more" : "empty";
  }

  /** True if it was leased; else it has joined a line, or its lane has to wait. */
  function consider(mail: Candidate, line: string, look: Look): boolean {
    const admission = admit(mail.to ?? "");
    if (admission === null) return lease(mail, { pass: null, busy: null }, look);
    if (admission.kind === "pass") return lease(mail, { pass: admission, busy: null }, look);
    if (isPastLifetime({ ...mail, now: look.now })) {
      return lease(mail, { pass: null, busy: admission }, look);
    }
    return wait(mail, line, admission, look);
  }

  function wait(mail: Candidate, line: string, busy: Busy, look: Look): false {
    const until = look.now + busy.retryAfterMs;
    if (busy.line === null) {
      look.isHouseFull = true;
      houseOpensAt = until;
      return false;
    }
    const isShare = isShareLine(busy.line);
    // Mail in the line of a site stays there while its share of all slots is used up.
    const stays = isShare && line !== NO_LINE && !isShareLine(line);
    const { least, most } = SHARE_REST_MS;
    const shareRestMs = stays ? most : Math.min(Math.max(busy.retryAfterMs, least), most);
    const rest = (which: string) =>
      isShare ? lines.rest(which, look.now + shareRestMs, true) : lines.rest(which, until);
    if (busy.line === line || stays) {
      look.resting.add(line);
      rest(line);
      return false;
    }
    const isNew = !lines.has(busy.line);
    joinLine(mail, busy.line, look);
    if (isNew) rest(busy.line);
    return false;
  }

  function joinLine({ seq }: Candidate, line: string, look: Look): false {
    rows.move.run(line, seq);
    lines.add(line);
    look.moves++;
    return false;
  }

  function lease(
    { seq, attempts, dueAt }: Candidate,
    { pass, busy }: Pick<Lease, "pass" | "busy">,
    look: Look,
  ): true {
    const orphanDelayMs = ORPHAN_DELAY_MS * 2 ** Math.min(attempts, MOST_DOUBLINGS);
    look.leases.push({ seq, attempts: attempts + 1, dueAt, pass, busy });
    rows.take.run(look.now + orphanDelayMs, seq);
    return true;
  }

  /** What became of lines that were asked and had no lane. */
  function noteEmpty(line: string, campaigns: readonly Campaign[]): void {
    const openings = campaigns.filter(({ key }) => firstOf(line, key) !== null).map(openingOf);
    if (openings.length > 0) lines.rest(line, Math.min(...openings));
    // Mail of campaigns that are paused: once they are SENDING again.
    else if (rows.hasMail(line)) lines.rest(line, Infinity);
    else lines.forget(line);
  }

  function look(limit: number, now: number, kept: number): Look {
    const found: Look = {
      now,
      limit,
      leases: [],
      moves: 0,
      emptied: 0,
      resting: new Set(),
      isHouseFull: false,
    };
    const asked = lines.open(now, MOST_LINES);
    const places = [...asked, NO_LINE];
    const campaigns = findSending();
    const ready = campaigns.filter((campaign) => openingOf(campaign) <= now);
    try {
      const urgent = places.flatMap(projectLanes);
      takeFairly(urgent, turns, found);
      found.limit = Math.max(found.leases.length, limit - kept);
      const rest = isOver(found) ? [] : places.flatMap((line) => campaignLanes(line, ready));
      takeFairly(rest, campaignTurns, found);
      if (isOver(found)) return found;
      const full = new Set([...urgent, ...rest].map(({ line }) => line));
      for (const line of asked.filter((each) => !full.has(each))) {
        noteEmpty(line, campaigns);
        found.emptied++;
      }
      return found;
    } catch (error) {
      for (const { pass } of found.leases) pass?.release();
      throw error;
    }
  }

  /** What is SENDING or enabled again has mail in lines that nobody asks any more. */
  function findSending(): Campaign[] {
    disabled = new Set(rows.findDisabled.all().map(({ seq }) => seq));
    const campaigns = rows.findCampaigns.all().filter((each) => !disabled.has(each.projectSeq));
    const now = [...campaigns.map(({ key }) => key), "", ...disabled].join();
    if (now !== sending) lines.wakeIdle();
    sending = now;
    return campaigns;
  }

  function campaignDueAt({ key, rate }: Campaign): number[] {
    const at = firstOf(NO_LINE, key);
    return at === null ? [] : [Math.max(at, openingOf({ key, rate }))];
  }

  function transactionalDueAt(): number[] {
    return projectLanes(NO_LINE).flatMap(
      ({ of }) => rows.dueInProject.get({ line: NO_LINE, key: of })?.at ?? [],
    );
  }

  function othersDueAt(): number[] {
    const ofCampaigns = findSending().flatMap(campaignDueAt);
    const inLines = lines.nextAt();
    return [...ofCampaigns, ...(inLines === null ? [] : [inLines])];
  }

  return {
    lease(limit, now, kept = 0) {
      const { leases, moves, emptied, resting, isHouseFull } = look(limit, now, kept);
      const hasChanged = leases.length + moves + emptied + resting.size > 0;
      return { leases, isWorthAnother: hasChanged && !isHouseFull };
    },
    nextDueAt(isUrgent = false) {
      const times = [...transactionalDueAt(), ...(isUrgent ? [] : othersDueAt())];
      return times.length === 0 ? null : Math.max(Math.min(...times), houseOpensAt);
    },
    returnLeases: rows.giveBack,
    shift(shift) {
      rows.shift(shift);
      lines.shift(shift);
      const { byMs, after } = shift;
      for (const [key, at] of opensAt) if (at > after) opensAt.set(key, at + byMs);
      if (houseOpensAt > after) houseOpensAt += byMs;
    },
    noteFree({ line, alsoFrees = null }) {
      houseOpensAt = 0;
      lines.noteFree(line);
      if (alsoFrees !== null) lines.wake(alsoFrees);
    },
    noteWaiting: (line, until) => lines.rest(line, until),
  };
}

function isOver({ leases, limit, moves, isHouseFull }: Look): boolean {
  return leases.length >= limit || moves >= MOST_MOVES || isHouseFull;
}

/** For the turns: all lines together have as many as mail that is in none. */
function placeOf(line: string): [string, string] {
  return [line === NO_LINE ? "new" : "waiting", line];
}
