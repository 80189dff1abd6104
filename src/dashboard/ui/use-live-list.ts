/**
 * A list of the interface that follows changes without moving rows: new rows are counted and wait
 * until they are asked for, and rows that are shown are renewed in place. A live message says only
 * that something changed, so the newest page is read again.
 */

import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api, ApiError, type ListPage, type Query } from "../api.ts";
import { type LiveMessage, useLiveMessages } from "../live.ts";
import { useProject } from "../state.ts";
import { useFreshRows } from "./history-position.ts";
import type { List } from "./use-list.ts";

const PAGE_SIZE = 100;
/** New rows that are counted; more are shown as "50+". */
export const MAX_COUNTED = 50;

type Row = { id: string };
type Pages<T> = InfiniteData<ListPage<T>, string | null>;

export type LiveList<T> = List<T> & {
  /** Rows that were added since the list was read. */
  newCount: number;
  showNew: () => void;
  /** Replaces a row that was read again. */
  renew: (row: T) => void;
};

type ListKey = readonly [string, string | null, string, Query];

/** `isAbout` says whether a live message may concern the list. */
export function useLiveList<T extends { id: string }>(options: {
  path: string;
  query?: Query;
  isAbout: (message: LiveMessage) => boolean;
}): LiveList<T> {
  const { path, query = {}, isAbout } = options;
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  // Its first part is no noun of live messages, which would read all pages again.
  const queryKey: ListKey = ["live-list", project, path, query];
  useFreshRows(queryKey);
  const result = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      api.get<ListPage<T>>(path, {
        query: { ...query, limit: PAGE_SIZE, cursor: pageParam },
        signal,
      }),
    initialPageParam: firstCursor(),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchOnWindowFocus: false,
    staleTime: 0,
  });
  const pages = result.data?.pages ?? [];
  const { news, forget, replace } = useNews(queryKey, isAbout);

  function showNew(): void {
    forget();
    // Reading all pages again would take long; the others are loaded when they are scrolled to.
    client.setQueryData<Pages<Row>>(queryKey, firstOf);
    void client.invalidateQueries({ queryKey });
  }

  return {
    rows: pages.flatMap(({ items }) => items),
    total: news.total ?? pages.at(-1)?.total ?? null,
    isLoading: result.isPending,
    isLoadingMore: result.isFetchingNextPage,
    hasMore: result.hasNextPage,
    error: result.error,
    // After an error the next page is requested again only by `retry`.
    loadMore: () => void (result.isFetchNextPageError || result.fetchNextPage()),
    retry: () => void (result.isFetchNextPageError ? result.fetchNextPage() : result.refetch()),
    newCount: news.count,
    showNew,
    renew: (row) => replace([row]),
  };
}

type News = { id: string; count: number; total: number | null };

/** Counts the rows that are newer than the list, and renews those that are shown. */
function useNews(queryKey: ListKey, isAbout: (message: LiveMessage) => boolean) {
  const [, , path, query] = queryKey;
  const client = useQueryClient();
  // It stands for the project, the list and the query.
  const id = JSON.stringify(queryKey);
  const none: News = { id, count: 0, total: null };
  const [news, setNews] = useState(none);

  function replace(rows: readonly Row[]): void {
    client.setQueryData<Pages<Row>>(queryKey, (before) => replaced(before, rows));
  }

  async function readNewest(): Promise<void> {
    const before = client.getQueryData<Pages<Row>>(queryKey);
    // New data would remove the error of the last page, which would then be requested again.
    const hasFailed = client.getQueryState(queryKey)?.status === "error";
    if (before === undefined || hasFailed) return;
    const known = new Set(before.pages.flatMap(({ items }) => items.map((item) => item.id)));
    const newest = await api.get<ListPage<Row>>(path, { query: { ...query, limit: MAX_COUNTED } });
    replace(newest.items);
    const firstKnown = newest.items.findIndex((item) => known.has(item.id));
    const count = firstKnown === -1 ? newest.items.length : firstKnown;
    // Nothing moves in an empty list, so the first rows are shown at once.
    if (known.size === 0 && count > 0) await client.invalidateQueries({ queryKey });
    setNews({ id, count: known.size === 0 ? 0 : count, total: newest.total });
  }
  useRenewal(readNewest, isAbout);

  return {
    news: news.id === id ? news : none,
    forget: () => setNews({ ...news, count: 0 }),
    replace,
  };
}

function replaced(before: Pages<Row> | undefined, rows: readonly Row[]): Pages<Row> | undefined {
  if (before === undefined) return undefined;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const pages = before.pages.map((page) => ({
    ...page,
    items: page.items.map((item) => byId.get(item.id) ?? item),
  }));
  return { ...before, pages };
}

function firstOf(before: Pages<Row> | undefined): Pages<Row> | undefined {
  if (before === undefined) return undefined;
  return { pages: before.pages.slice(0, 1), pageParams: before.pageParams.slice(0, 1) };
}

const firstCursor = (): string | null => null;

/** Calls `read` for the messages, one call at a time. Later messages wait for it. */
function useRenewal(read: () => Promise<void>, isAbout: (message: LiveMessage) => boolean): void {
  const latest = useRef({ read, isAbout });
  useEffect(() => {
    latest.current = { read, isAbout };
  });
  const isWaiting = useRef(false);
  const isRunning = useRef(false);
  const onMessages = useCallback((messages: readonly LiveMessage[]) => {
    if (!messages.some((message) => latest.current.isAbout(message))) return;
    isWaiting.current = true;
    if (!isRunning.current) void run();

    async function run(): Promise<void> {
      isRunning.current = true;
      try {
        while (isWaiting.current) {
          isWaiting.current = false;
          await latest.current.read();
        }
      } catch (error) {
        // The banner of the page tells of a lost connection; the next message tries again.
        if (!(error instanceof ApiError)) throw error;
      } finally {
        isRunning.current = false;
      }
    }
  }, []);
  useLiveMessages(onMessages);
}
