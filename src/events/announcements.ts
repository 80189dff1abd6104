/** Passes on what changed from the modules that change it to the module that tells clients. */

import type { App } from "../core/app.ts";
import { perApp } from "../lib/per-app.ts";

/** A change in a project. `type` is a noun and a word, such as `webhook.delivery`. */
export type Announcement = { projectSeq: number; type: string; id: string };

export type Announcements = ReturnType<typeof createAnnouncements>;

export const announcements = perApp(() => createAnnouncements());

/** Part of a change: announces it after its commit. */
export function announceChange(app: App, item: Announcement): void {
  app.writer.afterCommit(() => announcements(app).announce(item));
}

function createAnnouncements() {
  const handlers: ((item: Announcement) => void)[] = [];
  return {
    /** Called after the commit of the change. */
    announce(item: Announcement): void {
      for (const handle of handlers) handle(item);
    },

    /** Registers a handler, which every later call of `announce` calls. */
    onAnnounced(handler: (item: Announcement) => void): void {
      handlers.push(handler);
    },
  };
}
