/**
 * The events of the WebSocket /api/events: each change of the inbox as a text frame, in order, and
 * after it the numbers of messages, at most four times a second.
 */

import type { Clock } from "../../../lib/clock.ts";
import { VERSION } from "../../../lib/version.ts";
import type { InboxChange, InboxChanges } from "../changes.ts";
import type { MessageStore } from "../messages/store.ts";
import { mailpitSummary } from "./shapes.ts";

const STATS_INTERVAL_MS = 250;

type Frame = { Type: string; Data: unknown };

export type MailpitEvents = ReturnType<typeof createMailpitEvents>;

export function createMailpitEvents(deps: {
  changes: InboxChanges;
  clock: Clock;
  store: MessageStore;
}) {
  const { changes, clock, store } = deps;

  function statsOf(inboxSeq: number): Frame {
    const { total, unread } = store.counts(inboxSeq);
    return { Type: "stats", Data: { Total: total, Unread: unread, Version: VERSION } };
  }

  return {
    /** Sends the events of an inbox until the returned function is called. */
    subscribe(inboxSeq: number, send: (frame: string) => void): () => void {
      let lastStatsAt = 0;
      let cancelStats: (() => void) | null = null;

      function sendStats(): void {
        cancelStats = null;
        lastStatsAt = clock.elapsed();
        send(JSON.stringify(statsOf(inboxSeq)));
      }

      function scheduleStats(): void {
        if (cancelStats !== null) return;
        const waitMs = lastStatsAt + STATS_INTERVAL_MS - clock.elapsed();
        if (waitMs <= 0) sendStats();
        else cancelStats = clock.after(waitMs, sendStats);
      }

      const unsubscribe = changes.subscribe(inboxSeq, ({ change }) => {
        for (const frame of framesOf(change)) send(JSON.stringify(frame));
        scheduleStats();
      });
      sendStats();
      return () => {
        unsubscribe();
        cancelStats?.();
        cancelStats = null;
      };
    },
  };
}

function framesOf(change: InboxChange): Frame[] {
  switch (change.type) {
    case "message":
      return [{ Type: "new", Data: mailpitSummary(change.message) }];
    case "updated": {
      const { id, isRead, tags } = change;
      return [
        ...(isRead === undefined ? [] : [{ Type: "update", Data: { ID: id, Read: isRead } }]),
        ...(tags === undefined ? [] : [{ Type: "update", Data: { ID: id, Tags: tags } }]),
      ];
    }
    case "deleted":
      return [{ Type: "delete", Data: { ID: change.id } }];
    case "cleared":
      return [{ Type: "truncate", Data: null }];
    case "reload":
      return [{ Type: "prune", Data: null }];
  }
}
