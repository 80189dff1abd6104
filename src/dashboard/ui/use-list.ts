import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { api, type ListPage, type Query } from "../api.ts";
import { useProject } from "../state.ts";

const PAGE_SIZE = 100;

/** The data of a DataTable: the rows that were loaded so far, and how to load more. */
export type List<T> = {
  rows: readonly T[];
  /** Number of all rows that match; null before the first page. */
  total: number | null;
  isLoading: boolean;
  isLoadingMore: boolean;
  hasMore: boolean;
  error: Error | null;
  loadMore: () => void;
  retry: () => void;
};

/**
 * A list of the interface in pages, by its cursor: `useList<Event>("events", "/events", { name })`.
 * `noun` is the first part of the query key, which live messages invalidate.
 */
export function useList<T>(noun: string, path: string, query: Query = {}): List<T> {
  const project = useProject()?.id ?? null;
  const result = useInfiniteQuery({
    queryKey: [noun, project, path, query],
    queryFn: ({ pageParam, signal }) =>
      api.get<ListPage<T>>(path, {
        query: { limit: PAGE_SIZE, ...query, cursor: pageParam },
        signal,
      }),
    initialPageParam: firstCursor(),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
  });
  const pages = result.data?.pages ?? [];
  return {
    rows: pages.flatMap(({ items }) => items),
    total: pages.at(-1)?.total ?? null,
    isLoading: result.isPending,
    isLoadingMore: result.isFetchingNextPage,
    hasMore: result.hasNextPage,
    error: result.error,
    // After an error the next page is requested again only by `retry`.
    loadMore: () => void (result.isFetchNextPageError || result.fetchNextPage()),
    retry: () => void (result.isFetchNextPageError ? result.fetchNextPage() : result.refetch()),
  };
}

const firstCursor = (): string | null => null;
