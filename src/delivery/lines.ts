/**
 * Lines: mails that were due and met a door without a place for them wait apart from all others,
 * each in the line for its door, so that nobody has to look past them. Which mail stands in which
 * line is in the database; here is which lines there are, and when each is worth asking again.
 */

import type { DueShift } from "../lib/steady-clock.ts";

/** No line: where every mail begins. */
export const NO_LINE = "";

export type Lines = ReturnType<typeof createLines>;

type Rest = {
  /** Infinity: until it is woken. */
  until: number;
  /** For any place in the house; else for one at its own door. */
  isForHouse: boolean;
};

const NO_REST: Rest = { until: 0, isForHouse: false };

export function createLines() {
  /** Those that were asked longest ago come first. */
  const rests = new Map<string, Rest>();

  function wakeLongestWaiting(): void {
    for (const [line, { isForHouse }] of rests) {
      if (!isForHouse) continue;
      rests.set(line, NO_REST);
      return;
    }
  }

  /** A mail of this line may get what it waits for. */
  function wake(line: string): void {
    if (rests.has(line)) rests.set(line, NO_REST);
  }

  return {
    has: (line: string): boolean => rests.has(line),

    /** A line that is not known yet is open. */
    add(line: string): void {
      if (line !== NO_LINE && !rests.has(line)) rests.set(line, NO_REST);
    },

    /** Not to be asked before `until`. It was asked just now, and so is the last one to be asked. */
    rest(line: string, until: number, isForHouse = false): void {
      if (line === NO_LINE) return;
      rests.delete(line);
      rests.set(line, { until, isForHouse });
    },

    /** Nobody stands in it. */
    forget: (line: string): boolean => rests.delete(line),

    /** A mail has ended: its place is free, and one in the house. */
    noteFree(line: string | null): void {
      wakeLongestWaiting();
      if (line !== null) wake(line);
    },

    wake,

    /** Those that rested until they are woken. */
    wakeIdle(): void {
      for (const [line, { until }] of rests) if (until === Infinity) rests.set(line, NO_REST);
    },

    /** Those that may be asked; they count as asked, so that next time it is the others' turn. */
    open(now: number, most: number): string[] {
      const open: string[] = [];
      for (const [line, { until }] of rests) {
        if (until > now) continue;
        open.push(line);
        if (open.length === most) break;
      }
      for (const line of open) {
        rests.delete(line);
        rests.set(line, NO_REST);
      }
      return open;
    },

    /** The clock was set: each line rests as long as it would have rested. */
    shift({ byMs, after }: DueShift): void {
      for (const [line, rest] of rests) {
        if (rest.until > after) rests.set(line, { ...rest, until: rest.until + byMs });
      }
    },

    /** When the next one is worth asking; null if none is before it is woken. */
    nextAt(): number | null {
      let earliest = Infinity;
      for (const { until } of rests.values()) earliest = Math.min(earliest, until);
      return earliest === Infinity ? null : earliest;
    },
  };
}
