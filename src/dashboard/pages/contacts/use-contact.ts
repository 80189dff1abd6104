/**
 * The queries of one contact. Live messages about it and its mails renew them; those about other
 * contacts, of which there may be many, do not.
 */

import { type QueryKey, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import type { Activity } from "../../../modules/contacts/activity-model.ts";
import type { Contact } from "../../../modules/contacts/model.ts";
import type { Email } from "../../../modules/emails/record-model.ts";
import type { Event } from "../../../modules/events/model.ts";
import type { ContactSegment } from "../../../modules/segments/model.ts";
import type { Suppression } from "../../../modules/suppressions.ts";
import type { ContactExecution } from "../../../modules/workflows/execution-model.ts";
import type { UnenteredWorkflow } from "../../../modules/workflows/unentered-model.ts";
import { api, ApiError, type ListPage, type Query } from "../../api.ts";
import { type LiveMessage, useLiveMessages } from "../../live.ts";
import { useProject } from "../../state.ts";

/** Entries of one page of the timeline. */
const PAGE_SIZE = 50;
/** Segments and executions that are shown. */
const LISTED = 100;
/** Changes of the subscription of each kind that are shown. */
const CHANGES = 20;

/** The key of a query of the contact; without `part`, the beginning of all their keys. */
export const contactKey = (project: string | null, id: string, ...part: string[]): QueryKey => [
  "contact",
  project,
  id,
  ...part,
];

const pathOf = (id: string) => `/contacts/${encodeURIComponent(id)}`;

export function useContact(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: contactKey(project, id),
    queryFn: ({ signal }) => api.get<Contact>(pathOf(id), { signal }),
  });
}

/** Reads everything about the contact again, after a change. */
export function useContactRefresh(id: string): () => Promise<void> {
  const client = useQueryClient();
  const project = useProject()?.id ?? null;
  return useCallback(
    () => client.invalidateQueries({ queryKey: contactKey(project, id) }),
    [client, project, id],
  );
}

export const useContactSegments = (id: string) =>
  useContactList<ContactSegment>(id, `${pathOf(id)}/segments`);

export function useUnenteredWorkflows(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: contactKey(project, id, "unentered"),
    queryFn: async ({ signal }) => {
      const path = `${pathOf(id)}/unentered-workflows`;
      const { items } = await api.get<{ items: UnenteredWorkflow[] }>(path, { signal });
      return items;
    },
  });
}

/** The last mail to the contact that has ended, or null, and those that wait. */
export function useContactMails(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: contactKey(project, id, "mails"),
    queryFn: async ({ signal }) => {
      const read = (query: Query) =>
        api.get<ListPage<Email>>("/emails", { query: { contactId: id, ...query }, signal });
      const [ended, queued] = await Promise.all([
        read({ limit: 1, ended: true }),
        read({ limit: LISTED, status: "QUEUED" }),
      ]);
      return { last: ended.items[0] ?? null, waiting: queued.items };
    },
  });
}

function useContactList<T>(id: string, path: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: contactKey(project, id, path),
    queryFn: ({ signal }) => api.get<ListPage<T>>(path, { query: { limit: LISTED }, signal }),
  });
}

/** The executions of the contact. They are read again when one in the same workflow changes. */
export function useContactExecutions(id: string) {
  const project = useProject()?.id ?? null;
  const client = useQueryClient();
  const path = `${pathOf(id)}/executions`;
  const queryKey = contactKey(project, id, path);
  const list = useContactList<ContactExecution>(id, path);
  const unfinished = new Set(
    list.data?.items.filter((item) => item.completedAt === null).map((item) => item.workflowId),
  );
  useLatestMessages({ queryKey, isFetching: list.isFetching }, async (messages) => {
    const isTheirs = messages.some(
      (message) => message.type === "workflow.execution" && unfinished.has(message.id),
    );
    if (isTheirs) await client.invalidateQueries({ queryKey });
  });
  return list;
}

/** The latest changes of the subscription, newest first. */
export function useSubscriptionChanges(id: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: contactKey(project, id, "subscription"),
    queryFn: async ({ signal }) => {
      const read = (event: string) =>
        api.get<ListPage<Event>>("/events", {
          query: { contactId: id, event, limit: CHANGES },
          signal,
        });
      const lists = await Promise.all([read("contact.subscribed"), read("contact.unsubscribed")]);
      return lists
        .flatMap(({ items }) => items)
        .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt));
    },
  });
}

/** The entry of the address among the suppressions; null without one. */
export function useAddressSuppression(email: string) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["suppressions", project, "of", email, "exactly"],
    queryFn: async ({ signal }) => {
      const query = { email, limit: LISTED };
      const { items } = await api.get<ListPage<Suppression>>("/suppressions", { query, signal });
      return items.find((item) => item.email === email) ?? null;
    },
  });
}

/** Events and mails, newest first, in pages. */
export function useActivity(id: string) {
  const project = useProject()?.id ?? null;
  const refresh = useContactRefresh(id);
  const queryKey = contactKey(project, id, "activity");
  const result = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      api.get<ListPage<Activity>>(`${pathOf(id)}/activity`, {
        query: { limit: PAGE_SIZE, cursor: pageParam },
        signal,
      }),
    initialPageParam: firstCursor(),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const activities = result.data?.pages.flatMap(({ items }) => items);
  const mails = new Set(
    activities?.flatMap(({ email, event }) => [email?.id ?? event?.emailId ?? []].flat()),
  );

  async function isNew(): Promise<boolean> {
    const query = { limit: 1 };
    const { items } = await api.get<ListPage<Activity>>(`${pathOf(id)}/activity`, { query });
    const [newest] = items;
    return newest !== undefined && keyOf(newest) !== keyOf(activities?.[0]);
  }

  useLatestMessages({ queryKey, isFetching: result.isFetching }, async (messages) => {
    const isTheirs = messages.some((message) => message.id === id || mails.has(message.id));
    // The recipient of another mail is not known, so the newest entry is read.
    const mayBeTheirs = messages.some(({ type }) => type === "email.queued");
    if (isTheirs || (mayBeTheirs && (await isNew()))) await refresh();
  });
  return { ...result, activities, total: result.data?.pages.at(-1)?.total ?? 0 };
}

const firstCursor = (): string | null => null;
const keyOf = (activity: Activity | undefined) => activity?.event?.id ?? activity?.email?.id;

/** At most this many messages wait until a query has been read. */
const MAX_WAITING = 5_000;

/**
 * Calls the latest `handle` with live messages. While the query is read, they wait, because the
 * answer may be older than they are.
 */
function useLatestMessages(
  { queryKey, isFetching }: { queryKey: QueryKey; isFetching: boolean },
  handle: (messages: readonly LiveMessage[]) => Promise<void>,
): void {
  const client = useQueryClient();
  const waiting = useRef<LiveMessage[]>([]);
  const handleWaiting = useRef(() => {});
  useEffect(() => {
    handleWaiting.current = () => {
      // A read may have begun since the page was last drawn.
      if (isFetching || client.isFetching({ queryKey }) > 0) return;
      const messages = waiting.current;
      if (messages.length === 0) return;
      waiting.current = [];
      handle(messages).catch((error: unknown) => {
        // The banner of the page tells of a lost connection; the next message tries again.
        if (!(error instanceof ApiError)) throw error;
      });
    };
    handleWaiting.current();
  });
  const onMessages = useCallback((messages: readonly LiveMessage[]) => {
    waiting.current = [...waiting.current, ...messages].slice(-MAX_WAITING);
    handleWaiting.current();
  }, []);
  useLiveMessages(onMessages);
}
