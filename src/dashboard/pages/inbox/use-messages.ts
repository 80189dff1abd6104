/** The list of messages of an inbox, kept up to date by its live events. */

import { type QueryClient, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import type { Inbox } from "../../../modules/inboxes/inbox-model.ts";
import type { Message } from "../../../modules/inboxes/model.ts";
import { api, type ListPage } from "../../api.ts";
import { useProject } from "../../state.ts";
import type { List } from "../../ui/use-list.ts";
import { type MessagePages, withChanges, withNewest } from "./message-pages.ts";
import type { InboxChange } from "./inbox-changes.ts";
import { useInboxStream } from "./use-inbox-stream.ts";

const PAGE_SIZE = 100;
/** With a search, new messages are looked for at most once in this time. */
const SEARCH_MS = 1_000;

export type LoadedMessages = List<Message> & {
  /** Whether new messages appear by themselves. */
  isLive: boolean;
};

export const inboxPath = (inbox: string): string => `/inboxes/${encodeURIComponent(inbox)}`;
export const messagePath = (inbox: string, id: string): string =>
  `${inboxPath(inbox)}/messages/${encodeURIComponent(id)}`;

export function useMessages(inbox: string, query: string): LoadedMessages {
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  const queryKey = ["inbox-messages", project, inbox, query];
  const read = useCallback(
    (cursor: string | null, signal?: AbortSignal) =>
      api.get<ListPage<Message>>(`${inboxPath(inbox)}/messages`, {
        query: { limit: PAGE_SIZE, query, cursor },
        ...(signal === undefined ? {} : { signal }),
      }),
    [inbox, query],
  );
  const result = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: firstCursor(),
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchOnWindowFocus: false,
    gcTime: 0,
  });

  const id = JSON.stringify(queryKey);
  const findNew = useFindNew(id, async () => {
    const newest = await read(null);
    client.setQueryData<MessagePages>(queryKey, (pages) => pages && withNewest(pages, newest));
  });
  const isLive = useInboxStream(inbox, (changes) => {
    if (changes.some(({ type }) => type === "reload")) {
      void client.invalidateQueries({ queryKey });
    }
    client.setQueryData<MessagePages>(
      queryKey,
      (pages) => pages && withChanges(pages, changes, query === ""),
    );
    if (query !== "" && changes.some(({ type }) => type === "message")) findNew();
    updateCounts(client, project, inbox, changes);
    updateMessages(client, project, inbox, changes);
  });

  const pages = result.data?.pages ?? [];
  return {
    rows: pages.flatMap(({ items }) => items),
    total: pages[0]?.total ?? null,
    isLoading: result.isPending,
    isLoadingMore: result.isFetchingNextPage,
    hasMore: result.hasNextPage,
    error: result.error,
    loadMore: () => void result.fetchNextPage(),
    retry: () => void result.refetch(),
    isLive,
  };
}

/** Runs `find` soon, and not again before a second has passed. `id` names the list. */
function useFindNew(id: string, find: () => Promise<void>): () => void {
  const latest = useRef(find);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => {
    latest.current = find;
  });
  useEffect(
    () => () => {
      window.clearTimeout(timer.current);
      timer.current = undefined;
    },
    [id],
  );
  return () => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      // A lost connection is shown above the page, and the next message tries again.
      latest.current().catch(() => undefined);
    }, SEARCH_MS);
  };
}

/** The numbers of the inbox in the list of inboxes. */
function updateCounts(
  client: QueryClient,
  project: string | null,
  inbox: string,
  changes: readonly InboxChange[],
): void {
  const stats = changes.findLast((change) => change.type === "stats");
  if (stats === undefined) return;
  const { total, unread } = stats;
  client.setQueryData<Inbox[]>(["inboxes", project], (all) =>
    all?.map((each) => (isNamed(each, inbox) ? { ...each, total, unread } : each)),
  );
}

/** A message that is open shows its new tags and whether it is pinned. */
function updateMessages(
  client: QueryClient,
  project: string | null,
  inbox: string,
  changes: readonly InboxChange[],
): void {
  for (const change of changes) {
    if (change.type !== "updated") continue;
    const { id, read, pinned, tags } = change;
    client.setQueryData<Message>(["inbox-message", project, inbox, id], (message) =>
      message === undefined ? undefined : { ...message, read, pinned, tags },
    );
  }
}

/** An inbox is named by its id or its name. */
export const isNamed = ({ id, name }: Inbox, inbox: string): boolean =>
  id === inbox || name === inbox;

const firstCursor = (): string | null => null;
