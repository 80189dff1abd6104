/** The module of live updates: it connects the feed with what happens. */

import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { EventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import type { Announcements } from "../../events/announcements.ts";
import type { Clock } from "../../lib/clock.ts";
import { mailQueued } from "../../outbox/enqueue.ts";
import type { Module } from "../module.ts";
import { createLiveFeed } from "./feed.ts";
import { liveFeedRoutes } from "./routes.ts";
import { prepareLiveRows } from "./rows.ts";

type ParsedMessage = { inboxSeq: number; seq: number; id: string };

export function createLiveModule(deps: {
  app: App;
  admission: Admission;
  announcements: Announcements;
  clock: Clock;
  db: Db;
  events: EventLog;
  /** Registers a listener of caught messages that can be read. */
  onInboxMessage: (listener: (message: ParsedMessage) => void) => void;
  writer: Pick<Writer, "afterCommit">;
}): Module {
  const { admission, clock, events, onInboxMessage, writer } = deps;
  const feed = createLiveFeed({ rows: prepareLiveRows(deps.db), clock });
  events.onEvent(() => {
    if (feed.hasClients()) writer.afterCommit(feed.wake);
  });
  mailQueued(deps.app).onRaised(feed.wake);
  deps.announcements.onAnnounced(feed.onAnnounced);
  onInboxMessage(feed.onMessage);
  return {
    name: "live",
    routes: [liveFeedRoutes({ admission, feed })],
    endRequests: feed.close,
  };
}
