/**
 * Tells live clients and waiting requests what changed in an inbox. Changes have a number that
 * grows, and the latest ones are kept, so that a client that reconnects gets those it missed.
 */

import type { MessageRecord } from "./messages/record.ts";
import { perApp } from "../../lib/per-app.ts";

export type InboxChange =
  /** A message was parsed and is now in all lists and searches. */
  | { type: "message"; message: MessageRecord }
  /** Read state, tags or pin of a message changed. */
  | { type: "updated"; id: string; isRead?: boolean; tags?: string[]; isPinned?: boolean }
  | { type: "deleted"; id: string }
  /** All messages were deleted. */
  | { type: "cleared" }
  /** So many messages changed or were removed that clients must read the list again. */
  | { type: "reload" };

export type NumberedChange = { number: number; inboxSeq: number; change: InboxChange };

type Listener = (change: NumberedChange) => void;

/** Changes that are kept for clients that reconnect. */
const KEPT = 500;

export type InboxChanges = ReturnType<typeof createInboxChanges>;

export const inboxChanges = perApp(createInboxChanges);

function createInboxChanges() {
  const listeners = new Map<number, Set<Listener>>();
  const messageListeners: ((message: MessageRecord) => void)[] = [];
  let kept: NumberedChange[] = [];
  let last = 0;

  return {
    /** Called after a change is on disk. */
    publish(inboxSeq: number, change: InboxChange): void {
      const numbered = { number: ++last, inboxSeq, change };
      kept.push(numbered);
      if (kept.length >= 2 * KEPT) kept = kept.slice(-KEPT);
      for (const listener of listeners.get(inboxSeq) ?? []) listener(numbered);
      if (change.type !== "message") return;
      for (const listener of messageListeners) listener(change.message);
    },

    /** Calls `listener` for each later message of any inbox. */
    onMessage(listener: (message: MessageRecord) => void): void {
      messageListeners.push(listener);
    },

    /** Calls `listener` for each later change of the inbox. Returns a function that ends this. */
    subscribe(inboxSeq: number, listener: Listener): () => void {
      const all = listeners.get(inboxSeq) ?? new Set();
      all.add(listener);
      listeners.set(inboxSeq, all);
      return () => {
        all.delete(listener);
        if (all.size === 0) listeners.delete(inboxSeq);
      };
    },

    /** Whether a client or a request waits for changes of any inbox. */
    isWatched: () => listeners.size > 0,

    /** Changes of the inbox after a number; null if some of them are no longer kept. */
    since(inboxSeq: number, number: number): NumberedChange[] | null {
      const first = kept[0]?.number ?? last + 1;
      if (number > last || number + 1 < first) return null;
      return kept.filter((each) => each.number > number && each.inboxSeq === inboxSeq);
    },

    /** Number of the latest change. */
    latest: () => last,
  };
}
