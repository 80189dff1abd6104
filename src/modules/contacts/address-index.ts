/**
 * Finds contacts by a part of their address, with the exact number of them: addresses are kept in
 * memory, packed (about 35 bytes each, 64 MiB at most), and looked through. A million take 5 to
 * 20 ms for any text, frequent or rare, of one letter or many. An FTS5 trigram index was measured
 * against this: 108 MB on disk, a third more time for every import, up to 80 ms in one piece for
 * frequent text, and nothing for text shorter than three letters.
 *
 * Addresses are packed in blocks of 1024 neighbouring `seq`. Triggers count the changes of every
 * block (`contact_blocks`): a block is read again when its count has moved, so what is in memory is
 * never wrong, whoever wrote. Long work goes in turns of a few milliseconds. A while after the last
 * search everything is let go of: most of the time nobody searches, and reading a million again
 * takes half a second.
 */

import type { Db } from "../../db/open.ts";
import type { Clock } from "../../lib/clock.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";

export type AddressQuery = {
  /** As addresses are kept: lower case, NFC. Not empty. */
  term: string;
  /** Undefined: both. */
  isSubscribed: boolean | undefined;
  /** Of those found: newest first, below this `seq` if it is given. */
  before: number | undefined;
  limit: number;
};

export type Found = { total: number; seqs: number[] };

export type AddressIndex = {
  search(projectSeq: number, query: AddressQuery): Promise<Found>;
  /** Lets go of what is in memory; the next search reads it again. */
  release(): void;
};

/** As in the triggers. */
const BLOCK = 1024;
/** About two million addresses; what is beyond is looked through in the database. */
const MOST_BYTES = 64 * 1024 * 1024;
const KEPT_MS = 10 * 60_000;
/** Rounds of counting what changed meanwhile; the last one does not pause. */
const MOST_ROUNDS = 3;

/* Of one entry: START, a flag, the place in the block in three characters, the address. None of these
   occurs in an address (mail/address), nor, therefore, in a text that can be found in one. They are
   ASCII, so that a block of ASCII addresses takes a byte for each character. */
const START = "\n";
const SUBSCRIBED = "\u{1}";
const UNSUBSCRIBED = "\u{2}";
const DIGIT_BASE = 0x10;
const DIGITS = 16;
const UNFINDABLE = /\p{Cc}/u;
const ADDRESS_OFFSET = 5;

type Version = { block: number; version: number };
type Packed = { version: number; text: string; sizeBytes: number };

export function createAddressIndex(deps: {
  db: Db;
  clock: Clock;
  scheduler: FairScheduler;
  mostBytes?: number;
}): AddressIndex {
  const { clock, scheduler, mostBytes = MOST_BYTES } = deps;
  const { sqlite } = deps.db;
  const readVersions = sqlite.prepare<unknown, [number]>(
    "SELECT block, version FROM contact_blocks WHERE project_seq = ? ORDER BY block DESC",
  );
  // Put together by SQLite: a million rows would be millions of objects that are garbage at once.
  const place = "(seq - ?2)";
  const digit = (worth: number) => `${DIGIT_BASE} + ${place} / ${worth} % ${DIGITS}`;
  const entry = `char(10, 2 - is_subscribed, ${digit(256)}, ${digit(16)}, ${digit(1)}) || email`;
  const readBlock = sqlite.prepare<{ text: string | null }, [number, number, number]>(`
    SELECT group_concat(${entry}, '' ORDER BY seq) AS text FROM contacts
    WHERE project_seq = +?1 AND seq >= ?2 AND seq < ?3`);
  const matching = `FROM contacts WHERE project_seq = +?1 AND seq >= ?2 AND seq < ?3
    AND (?4 IS NULL OR is_subscribed = ?4) AND instr(email, ?5) > 0`;
  type Match = [number, number, number, number | null, string];
  const countStored = sqlite.prepare<{ count: number }, Match>(
    `SELECT count(*) AS count ${matching}`,
  );
  const findStored = sqlite.prepare<{ seq: number }, Match>(
    `SELECT seq ${matching} ORDER BY seq DESC`,
  );
  const memory = createMemory(mostBytes);
  let cancelRelease = () => {};

  function release(): void {
    cancelRelease();
    memory.clear();
  }

  function versionsOf(projectSeq: number): Version[] {
    return readVersions
      .values(projectSeq)
      .map(([block, version]) => ({ block: Number(block), version: Number(version) }));
  }

  /** Null where there is no room for it. */
  function textOf(projectSeq: number, { block, version }: Version): string | null {
    const known = memory.get(projectSeq, block);
    if (known?.version === version) return known.text;
    if (known === undefined && !memory.hasRoom(projectSeq)) return null;
    const first = block * BLOCK;
    const text = readBlock.get(projectSeq, first, first + BLOCK)?.text ?? "";
    memory.set(projectSeq, block, { version, text, sizeBytes: sizeOf(text) });
    return text;
  }

  function matchOf(projectSeq: number, { block }: Version, query: AddressQuery): Match {
    const { isSubscribed, term } = query;
    const flag = isSubscribed === undefined ? null : Number(isSubscribed);
    return [projectSeq, block * BLOCK, (block + 1) * BLOCK, flag, term];
  }

  function countOf(projectSeq: number, version: Version, query: AddressQuery): number {
    const text = textOf(projectSeq, version);
    if (text !== null) return countIn(text, query);
    return countStored.get(...matchOf(projectSeq, version, query))?.count ?? 0;
  }

  /** As `seq`, newest first. */
  function seqsOf(projectSeq: number, version: Version, query: AddressQuery): number[] {
    const text = textOf(projectSeq, version);
    if (text !== null) return placesIn(text, query).map((place) => version.block * BLOCK + place);
    return findStored.all(...matchOf(projectSeq, version, query)).map(({ seq }) => seq);
  }

  /** Exact at the moment it returns: what changed while others had their turn is counted again. */
  async function countAll(projectSeq: number, query: AddressQuery): Promise<Counted[]> {
    const slices = await startSlices(scheduler.of(projectSeq));
    const known = new Map<number, Counted>();
    memory.touch(projectSeq);
    for (let round = 1; ; round++) {
      const versions = versionsOf(projectSeq);
      const stale = versions.filter((now) => known.get(now.block)?.version !== now.version);
      if (stale.length === 0) return versions.flatMap(({ block }) => known.get(block) ?? []);
      for (const now of stale) {
        if (round < MOST_ROUNDS && slices.isOver()) await slices.next();
        known.set(now.block, { ...now, count: countOf(projectSeq, now, query) });
      }
    }
  }

  return {
    async search(projectSeq, query) {
      if (UNFINDABLE.test(query.term)) return { total: 0, seqs: [] };
      cancelRelease();
      const counted = await countAll(projectSeq, query);
      cancelRelease();
      cancelRelease = clock.after(KEPT_MS, release);
      const total = counted.reduce((sum, { count }) => sum + count, 0);
      const seqs: number[] = [];
      for (const { count, ...version } of counted) {
        if (seqs.length >= query.limit) break;
        const first = version.block * BLOCK;
        if (count === 0 || (query.before !== undefined && first >= query.before)) continue;
        const before = query.before ?? Infinity;
        seqs.push(...seqsOf(projectSeq, version, query).filter((seq) => seq < before));
      }
      return { total, seqs: seqs.slice(0, query.limit) };
    },

    release,
  };
}

type Counted = Version & { count: number };

/** Packed blocks by project, bounded; the project that was longest not asked for makes room. */
function createMemory(mostBytes: number) {
  const projects = new Map<number, Map<number, Packed>>();
  let sizeBytes = 0;

  /** Makes it the last one that has to go. */
  function touch(projectSeq: number): Map<number, Packed> {
    const blocks = projects.get(projectSeq) ?? new Map<number, Packed>();
    projects.delete(projectSeq);
    projects.set(projectSeq, blocks);
    return blocks;
  }

  function forget(projectSeq: number): void {
    for (const block of projects.get(projectSeq)?.values() ?? []) sizeBytes -= block.sizeBytes;
    projects.delete(projectSeq);
  }

  return {
    /** Whether a block of the project may stay: there is space, or another project's to take. */
    hasRoom(projectSeq: number): boolean {
      const [oldest = projectSeq] = projects.keys();
      return sizeBytes < mostBytes || oldest !== projectSeq;
    },

    touch,

    clear(): void {
      projects.clear();
      sizeBytes = 0;
    },

    get: (projectSeq: number, block: number) => projects.get(projectSeq)?.get(block),

    set(projectSeq: number, block: number, packed: Packed): void {
      const blocks = touch(projectSeq);
      sizeBytes += packed.sizeBytes - (blocks.get(block)?.sizeBytes ?? 0);
      blocks.set(block, packed);
      while (sizeBytes > mostBytes) {
        const [oldest = projectSeq] = projects.keys();
        if (oldest !== projectSeq) forget(oldest);
        else {
          sizeBytes -= packed.sizeBytes;
          blocks.delete(block);
          return;
        }
      }
    },
  };
}

/** Of the text in memory: a byte for each character, or two where one of them needs it. */
function sizeOf(text: string): number {
  return /[^\0-\u{ff}]/u.test(text) ? 2 * text.length : text.length;
}

function countIn(text: string, query: AddressQuery): number {
  let count = 0;
  forEachEntry(text, query, () => count++);
  return count;
}

/** Newest first. */
function placesIn(text: string, query: AddressQuery): number[] {
  const places: number[] = [];
  forEachEntry(text, query, (at) => {
    const start = text.lastIndexOf(START, at);
    const digits = [2, 3, 4].map((offset) => text.charCodeAt(start + offset) - DIGIT_BASE);
    places.push(digits.reduce((number, next) => number * DIGITS + next, 0));
  });
  return places.toReversed();
}

/** Calls `take` with where the term was found, once for each address. */
function forEachEntry(text: string, query: AddressQuery, take: (at: number) => void): void {
  const { term, isSubscribed } = query;
  const wanted = isSubscribed === undefined ? null : isSubscribed ? SUBSCRIBED : UNSUBSCRIBED;
  let at = text.indexOf(term);
  while (at !== -1) {
    if (wanted === null || text[text.lastIndexOf(START, at) + 1] === wanted) take(at);
    const next = text.indexOf(START, at);
    at = next === -1 ? -1 : text.indexOf(term, next + ADDRESS_OFFSET);
  }
}
