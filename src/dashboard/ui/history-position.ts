/** Scroll positions of lists by entry of the history, so that Back shows a list as it was left. */

import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { type ParsedLocation, useRouter } from "@tanstack/react-router";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Entries whose positions are known; the oldest is forgotten first. */
const MAX_ENTRIES = 50;
const positions = new Map<string, number>();

const entryOf = ({ state, href }: ParsedLocation): string => state.key ?? href;

function remember(entry: string, top: number): void {
  positions.delete(entry);
  positions.set(entry, top);
  for (const oldest of positions.keys()) {
    if (positions.size <= MAX_ENTRIES) break;
    positions.delete(oldest);
  }
}

/** Scrolls the list to where it was left. Returns that position, for its first rows. */
export function useKeptPosition(scroller: RefObject<HTMLElement | null>): number {
  const router = useRouter();
  const [top] = useState(() => positions.get(entryOf(router.latestLocation)) ?? 0);
  useLayoutEffect(() => {
    if (top > 0) scroller.current?.scrollTo({ top });
  }, [top, scroller]);
  useEffect(
    () =>
      router.subscribe("onBeforeLoad", ({ fromLocation }) => {
        const { current } = scroller;
        if (fromLocation !== undefined && current !== null) {
          remember(entryOf(fromLocation), current.scrollTop);
        }
      }),
    [router, scroller],
  );
  return top;
}

/**
 * Forgets the rows of a list that is opened anew, which therefore shows the newest ones. The rows of
 * a list to which Back leads are shown as they were left, and read again.
 */
export function useFreshRows(queryKey: QueryKey): void {
  const router = useRouter();
  const client = useQueryClient();
  const id = JSON.stringify(queryKey);
  const opened = useRef("");
  if (opened.current === id) return;
  opened.current = id;
  if (positions.has(entryOf(router.latestLocation))) return;
  client.removeQueries({ queryKey, exact: true });
}
