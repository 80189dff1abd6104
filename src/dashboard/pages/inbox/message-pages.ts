/** Changes the loaded pages of a list of messages by live events. Pure functions. */

import type { InfiniteData } from "@tanstack/react-query";
import type { Message } from "../../../modules/inboxes/model.ts";
import type { ListPage } from "../../api.ts";
import type { InboxChange } from "./inbox-changes.ts";

export type MessagePages = InfiniteData<ListPage<Message>, string | null>;

/**
 * The pages after the changes. New messages go to the top if `isAll`, which means that the list has
 * no search: whether a message matches a search is only known to the server.
 */
export function withChanges(
  pages: MessagePages,
  changes: readonly InboxChange[],
  isAll: boolean,
): MessagePages {
  const known = new Set(pages.pages.flatMap(({ items }) => items.map(({ id }) => id)));
  const added = new Map<string, Message>();
  const updates = new Map<string, Partial<Message>>();
  const deleted = new Set<string>();
  for (const change of changes) {
    if (change.type === "message" && isAll && !known.has(change.message.id)) {
      added.set(change.message.id, change.message);
    } else if (change.type === "updated") {
      const { id, read, pinned, tags } = change;
      updates.set(id, { read, pinned, tags });
    } else if (change.type === "deleted") deleted.add(change.id);
  }
  const isUpdated = [...updates.keys()].some((id) => known.has(id) || added.has(id));
  const apply = (items: Message[]): Message[] =>
    isUpdated ? items.map((message) => ({ ...message, ...updates.get(message.id) })) : items;
  const isKept = ({ id }: Message) => !deleted.has(id);
  const removed = [...deleted].filter((id) => known.has(id)).length;
  const news = [...added.values()].toReversed().filter(isKept);
  if (news.length === 0 && removed === 0 && !isUpdated) return pages;
  return {
    ...pages,
    pages: pages.pages.map((page, i) => ({
      ...page,
      total: page.total + news.length - removed,
      items: apply([...(i === 0 ? news : []), ...page.items.filter(isKept)]),
    })),
  };
}

/** The pages with the messages of `newest`, a first page that was read later, at the top. */
export function withNewest(pages: MessagePages, newest: ListPage<Message>): MessagePages {
  const known = new Set(pages.pages.flatMap(({ items }) => items.map(({ id }) => id)));
  const news = newest.items.filter(({ id }) => !known.has(id));
  // More messages came than one page has, so the list is not without gaps any more.
  if (news.length === newest.items.length && newest.hasMore) {
    return { pages: [newest], pageParams: [null] };
  }
  return {
    ...pages,
    pages: pages.pages.map((page, i) => ({
      ...page,
      total: newest.total,
      items: i === 0 ? [...news, ...page.items] : page.items,
    })),
  };
}
