/**
 * The live connection of a tab. The server names the object that changed (`{type, id}`), and the
 * queries that show it are read again, at most once a second. The connection is closed while the tab
 * is hidden, and after refusals it is opened again ever less often.
 */

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { withQuery } from "./api.ts";
import { connectWhileShown } from "./event-connection.ts";

export type LiveMessage = { type: string; id: string };

const REFRESH_MS = 1_000;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 300_000;

type Listener = (messages: readonly LiveMessage[]) => void;
const listeners = new Set<Listener>();

/** Numbers of campaigns, which the events of mails change. */
const CAMPAIGN_KEYS = ["campaign", "campaign-summaries"];
/** The queries that change with the state of a mail. A relay provider may have reported it. */
const MAIL_KEYS = [
  "emails",
  "stats",
  "events",
  "report-sources",
  "report-mailboxes",
  ...CAMPAIGN_KEYS,
];

/**
 * The first part of the query keys that a type of message changes: `email.sent` changes emails. A
 * whole type comes before its first word.
 */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  email: MAIL_KEYS,
  // Both suppress the address.
  "email.bounced": [...MAIL_KEYS, "suppressions"],
  "email.complained": [...MAIL_KEYS, "suppressions"],
  inbox: ["inboxes"],
  "inbox.refusals": ["inboxes", "inbox-rules", "inbox-refused"],
  contact: ["contacts", "events"],
  campaign: ["campaigns", "campaign-audience", ...CAMPAIGN_KEYS],
  template: ["templates"],
  layout: ["layouts"],
  // Its events change its figures.
  form: ["forms", "contacts", "events"],
  topic: ["topics", "campaign-audience"],
  workflow: ["workflows"],
  domain: ["domains"],
  webhook: ["webhooks"],
  // The state of the user has the projects with their roles.
  project: ["state"],
};

/** The first parts of the keys of all queries that messages change. */
const LIVE_KEYS: ReadonlySet<unknown> = new Set(Object.values(KEYS).flat());

/** The server has more messages than are worth sending: everything is read again. */
const RELOAD = "reload";

/** Calls `onMessages` with the messages of a second, for pages that count new rows. */
export function useLiveMessages(onMessages: Listener): void {
  useEffect(() => {
    listeners.add(onMessages);
    return () => void listeners.delete(onMessages);
  }, [onMessages]);
}

/** Keeps the connection for the project while the component is shown. */
export function useLive(project: string | null): void {
  const client = useQueryClient();
  useEffect(() => (project === null ? undefined : connect(project, client)), [project, client]);
}

/** Opens the connection; the returned function closes it. */
function connect(project: string, client: QueryClient): () => void {
  let flush: number | undefined;
  let waiting: LiveMessage[] = [];

  function refresh(): void {
    flush = undefined;
    const messages = waiting;
    waiting = [];
    const keys = new Set(
      messages.flatMap(({ type }) => {
        const noun = type.split(".")[0] ?? "";
        return KEYS[type] ?? KEYS[noun] ?? [noun];
      }),
    );
    if (messages.some(({ type }) => type === RELOAD)) void client.invalidateQueries();
    for (const key of keys) void client.invalidateQueries({ queryKey: [key] });
    for (const listener of listeners) listener(messages);
  }

  function receive(event: MessageEvent<string>): void {
    const message = parseMessage(event.data);
    if (message === null) return;
    waiting.push(message);
    flush ??= window.setTimeout(refresh, REFRESH_MS);
  }

  return connectWhileShown({
    url: withQuery("/app/api/live", { project }),
    retry: { firstMs: FIRST_RETRY_MS, longestMs: LONGEST_RETRY_MS },
    listen: (source) => source.addEventListener("message", receive),
    // Data that was read before the connection opened may have changed in between.
    onOpen: () =>
      void client.invalidateQueries({
        predicate: ({ queryKey, state }) =>
          state.fetchStatus === "idle" && LIVE_KEYS.has(queryKey[0]),
      }),
    onShown: () => void client.invalidateQueries(),
    onClose() {
      window.clearTimeout(flush);
      flush = undefined;
      waiting = [];
    },
  });
}

/** Null for a text that is not a message. */
function parseMessage(text: string): LiveMessage | null {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) return null;
  const type: unknown = Reflect.get(value, "type");
  const id: unknown = Reflect.get(value, "id");
  return typeof type === "string" ? { type, id: typeof id === "string" ? id : "" } : null;
}
