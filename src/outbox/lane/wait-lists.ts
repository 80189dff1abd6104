/**
 * Wait lists: mails that are due and wait for the same slot, apart from all other mails, so that
 * the queue need not read past them. The database stores which mail is in which list
 * (`emails.line`); this file stores which lists exist and when the queue polls each of them again.
 */

import type { DueShift } from "../../lib/steady-clock.ts";

/** The value for a mail that is in no wait list: every mail starts like this. */
export const NO_WAIT_LIST = "";

type Rest = {
  /** Wall clock; Infinity means until the list is woken. */
  until: number;
  /** True if the list waits for any slot of the capacity, false if for a slot of its site. */
  isForCapacity: boolean;
};

const NO_REST: Rest = { until: 0, isForCapacity: false };

export function createWaitLists() {
  /** In the order of the last poll, the oldest first. */
  const rests = new Map<string, Rest>();

  function wakeLongestWaiting(): void {
    for (const [list, { isForCapacity }] of rests) {
      if (!isForCapacity) continue;
      rests.set(list, NO_REST);
      return;
    }
  }

  /** Makes a list ready to be polled, because one of its mails may get a slot. */
  function wake(list: string): void {
    if (rests.has(list)) rests.set(list, NO_REST);
  }

  return {
    has: (list: string): boolean => rests.has(list),

    /** Adds a list that is ready to be polled; an existing list stays as it is. */
    add(list: string): void {
      if (list !== NO_WAIT_LIST && !rests.has(list)) rests.set(list, NO_REST);
    },

    /** Excludes a list from polling before `until`, and moves it to the end of the order. */
    rest(list: string, until: number, isForCapacity = false): void {
      if (list === NO_WAIT_LIST) return;
      rests.delete(list);
      rests.set(list, { until, isForCapacity });
    },

    /** Removes a list that has no mail any more. */
    forget: (list: string): boolean => rests.delete(list),

    /** A mail of this list released its slot: wakes the list, and one that waits for capacity. */
    noteSlotReleased(list: string | null): void {
      wakeLongestWaiting();
      if (list !== null) wake(list);
    },

    wake,

    /** Wakes all lists that rest until they are woken. */
    wakeIdle(): void {
      for (const [list, { until }] of rests) if (until === Infinity) rests.set(list, NO_REST);
    },

    wakeAll(): void {
      for (const list of rests.keys()) rests.set(list, NO_REST);
    },

    /** Returns at most `limit` lists to poll, and moves them to the end of the order. */
    takeReady(now: number, limit: number): string[] {
      const ready: string[] = [];
      for (const [list, { until }] of rests) {
        if (until > now) continue;
        ready.push(list);
        if (ready.length === limit) break;
      }
      for (const list of ready) {
        rests.delete(list);
        rests.set(list, NO_REST);
      }
      return ready;
    },

    /** After the clock was set: each list rests for as long as before. */
    shift({ byMs, after }: DueShift): void {
      for (const [list, rest] of rests) {
        if (rest.until > after) rests.set(list, { ...rest, until: rest.until + byMs });
      }
    },

    /** When each list is polled next, except those that rest until they are woken. */
    times: (): [list: string, until: number][] =>
      [...rests].flatMap(([list, { until }]) => (until === Infinity ? [] : [[list, until]])),
  };
}
