/**
 * The events of the WebSocket /api/events: each change of the inbox as a text frame, in order, and
 * after it the numbers of messages, at most four times a second.
 */

import type { App } from "../../../core/app.ts";
import { VERSION } from "../../../lib/version.ts";
import type { InboxChange, InboxChanges } from "../changes.ts";
import { createCountsFeed } from "../live/counts-feed.ts";
import type { Counts } from "../messages/numbers.ts";
import type { InboxRow } from "../service.ts";
import { mailpitSummary } from "./shapes.ts";

type Frame = { Type: string; Data: unknown };

export type MailpitEvents = ReturnType<typeof createMailpitEvents>;

export function createMailpitEvents({ app, changes }: { app: App; changes: InboxChanges }) {
  return {
    /** Sends the events of an inbox until the returned function is called. */
    subscribe(inbox: InboxRow, send: (frame: string) => void): () => void {
      const feed = createCountsFeed(app, inbox, {
        send: (counts) => send(JSON.stringify(statsFrame(counts))),
      });
      const unsubscribe = changes.subscribe(inbox.seq, ({ change }) => {
        for (const frame of framesOf(change)) send(JSON.stringify(frame));
        feed.schedule();
      });
      feed.schedule();
      return () => {
        unsubscribe();
        feed.end();
      };
    },
  };
}

function statsFrame({ total, unread }: Counts): Frame {
  return { Type: "stats", Data: { Total: total, Unread: unread, Version: VERSION } };
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
