/**
 * The list of emails. New mails wait until they are asked for, so that no row moves under the
 * pointer; the mails that are shown are renewed in place. A live message says only that something
 * changed, so the newest page is read again: it has the new mails and the newest states.
 */

import { type InfiniteData, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Email } from "../../../modules/emails/record-model.ts";
import { api, ApiError, type ListPage, type Query } from "../../api.ts";
import { type LiveMessage, useLiveMessages } from "../../live.ts";
import { useProject } from "../../state.ts";
import { useFreshRows } from "../../ui/history-position.ts";
import { MAX_COUNTED } from "../../ui/use-live-list.ts";
import type { List } from "../../ui/use-list.ts";

/** `total` is null and `items` may be empty if the search stopped at its time limit. */
export type EmailRows = Omit<ListPage<Email>, "total"> & { total: number | null };

const PAGE_SIZE = 100;
/** Mails outside the newest page that are read again per second. */
const MAX_RENEWED = 10;

type Pages = InfiniteData<EmailRows, string | null>;

export type EmailList = List<Email> & {
  /** Mails that arrived since the list was read. */
  newCount: number;
  showNew: () => void;
  /** Older mails are being searched, and none was found so far. */
  isSearching: boolean;
};

export function useEmailList(query: Query): EmailList {
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  // Not "emails", which live messages read again as a whole.
  const queryKey = ["email-list", project, query] as const;
  useFreshRows(queryKey);
  const result = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      api.get<EmailRows>("/emails", {
        query: { ...query, limit: PAGE_SIZE, cursor: pageParam },
        signal,
      }),
    initialPageParam: firstCursor(),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchOnWindowFocus: false,
    staleTime: 0,
  });
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = result;
  const pages = result.data?.pages ?? [];
  const rows = pages.flatMap(({ items }) => items);

  // A page of a search that took long may be empty although older mails match.
  const isSearching = pages.length > 0 && rows.length === 0 && hasNextPage;
  useEffect(() => {
    if (isSearching && !isFetching && !isFetchNextPageError) void fetchNextPage();
  }, [isSearching, isFetching, isFetchNextPageError, fetchNextPage]);

  const { news, setNews } = useNews(queryKey, query);

  function showNew(): void {
    setNews({ ...news, count: 0 });
    // Reading all pages again would take long; the others are loaded when they are scrolled to.
    client.setQueryData<Pages>(queryKey, (before) => firstOf(before));
    void client.invalidateQueries({ queryKey });
  }

  return {
    rows,
    total: news.total ?? pages.at(-1)?.total ?? null,
    isLoading: result.isPending || (isSearching && !isFetchNextPageError),
    isLoadingMore: result.isFetchingNextPage,
    hasMore: hasNextPage,
    error: result.error,
    // After an error the next page is requested again only by `retry`.
    loadMore: () => void (isFetchNextPageError || fetchNextPage()),
    retry: () => void (isFetchNextPageError ? fetchNextPage() : result.refetch()),
    newCount: news.count,
    showNew,
    isSearching,
  };
}

type ListKey = readonly [string, string | null, Query];
type News = { id: string; count: number; total: number | null };

/** Counts the mails that are newer than the list, and renews those that are shown. */
function useNews(queryKey: ListKey, query: Query) {
  const client = useQueryClient();
  // It stands for the project and the query.
  const id = JSON.stringify(queryKey);
  const none: News = { id, count: 0, total: null };
  const [news, setNews] = useState(none);
  const renew = async (ids: readonly string[]) => {
    const shown = client.getQueryData<Pages>(queryKey);
    // New data would remove the error of the last page, which would then be requested again.
    const hasFailed = client.getQueryState(queryKey)?.status === "error";
    if (shown === undefined || hasFailed) return false;
    const known = new Set(shown.pages.flatMap(({ items }) => items.map((item) => item.id)));
    const newest = await api.get<EmailRows>("/emails", {
      query: { ...query, limit: MAX_COUNTED },
    });
    const inPage = new Set(newest.items.map((item) => item.id));
    const others = ids.filter((each) => known.has(each) && !inPage.has(each));
    const renewed = await Promise.all(
      others.slice(0, MAX_RENEWED).map((each) => api.get<Email>(`/emails/${each}`)),
    );
    client.setQueryData<Pages>(queryKey, (before) =>
      replaced(before, [...newest.items, ...renewed]),
    );
    const firstKnown = newest.items.findIndex((item) => known.has(item.id));
    const count = firstKnown === -1 ? newest.items.length : firstKnown;
    // Nothing moves in an empty list, so the first mails are shown at once.
    if (known.size === 0 && count > 0) await client.invalidateQueries({ queryKey });
    setNews({ id, count: known.size === 0 ? 0 : count, total: newest.total });
    return true;
  };
  useRenewal(renew);
  return { news: news.id === id ? news : none, setNews };
}

const firstCursor = (): string | null => null;

/**
 * Calls `renew` for the messages about mails, one call at a time. Later messages wait for it. If it
 * resolves to false, it is called again with the same ids at the next message.
 */
function useRenewal(renew: (ids: readonly string[]) => Promise<boolean>): void {
  const waiting = useRef<Set<string> | null>(null);
  const isRunning = useRef(false);
  const latest = useRef(renew);
  useEffect(() => {
    latest.current = renew;
  });
  const onMessages = useCallback((messages: readonly LiveMessage[]) => {
    const ids = messages.filter(({ type }) => type.startsWith("email.")).map(({ id }) => id);
    if (ids.length === 0) return;
    waiting.current = new Set([...(waiting.current ?? []), ...ids]);
    if (!isRunning.current) void run();

    async function run(): Promise<void> {
      isRunning.current = true;
      try {
        while (waiting.current !== null) {
          const next = [...waiting.current];
          waiting.current = null;
          if (await latest.current(next)) continue;
          waiting.current = new Set([...next, ...(waiting.current ?? [])]);
          return;
        }
      } catch (error) {
        // The banner of the page tells of a lost connection; the next message tries again.
        if (!(error instanceof ApiError)) throw error;
        waiting.current = null;
      } finally {
        isRunning.current = false;
      }
    }
  }, []);
  useLiveMessages(onMessages);
}

function replaced(before: Pages | undefined, emails: readonly Email[]): Pages | undefined {
  if (before === undefined) return undefined;
  const byId = new Map(emails.map((email) => [email.id, email]));
  const pages = before.pages.map((page) => ({
    ...page,
    items: page.items.map((item) => byId.get(item.id) ?? item),
  }));
  return { ...before, pages };
}

function firstOf(before: Pages | undefined): Pages | undefined {
  if (before === undefined) return undefined;
  return { pages: before.pages.slice(0, 1), pageParams: before.pageParams.slice(0, 1) };
}
