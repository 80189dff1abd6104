/**
 * The hold of the queue: while it lasts, nothing leaves. Mails are accepted and wait, and webhooks,
 * workflows and campaigns wait as well. A restored database begins with it, because its queue contains mail that
 * had left after the backup was made. `mailstead queue hold` and `release` change it also beside a
 * running server, which reads it every second.
 */

import type { App } from "../core/app.ts";
import { readInstallationValue, storeInstallationValue } from "../db/installation-values.ts";
import type { Db } from "../db/open.ts";
import { perApp } from "../lib/per-app.ts";
import { createSignal } from "../lib/signal.ts";
import { cancelHeld } from "./cancel-held.ts";

/** Since when the queue is held, in milliseconds since the epoch; null if it is not. */
export function readQueueHold(db: Pick<Db, "sqlite">): number | null {
  const since = readInstallationValue(db, "queue_held_since");
  return since === null ? null : Date.parse(since);
}

/** Part of a change, or before the writer is used. Keeps the time of a hold that lasts already. */
export function holdQueue(db: Pick<Db, "sqlite">, now: number): void {
  if (readQueueHold(db) !== null) return;
  storeInstallationValue(db, "queue_held_since", new Date(now).toISOString());
}

/** Part of a change, or before the writer is used. */
export function releaseQueue(db: Pick<Db, "sqlite">): void {
  storeInstallationValue(db, "queue_held_since", null);
  storeInstallationValue(db, "queue_cancel_before", null);
}

/**
 * Part of a change, while the queue is held: the server cancels the mails that were accepted before
 * this time, and then releases the queue.
 */
export function releaseQueueFrom(db: Pick<Db, "sqlite">, before: number): void {
  storeInstallationValue(db, "queue_cancel_before", new Date(before).toISOString());
}

function readCancelBefore(db: Pick<Db, "sqlite">): number | null {
  const before = readInstallationValue(db, "queue_cancel_before");
  return before === null ? null : Date.parse(before);
}

async function cancelAndRelease(app: App, before: number): Promise<void> {
  const isWanted = () => readCancelBefore(app.db) === before;
  const mails = await cancelHeld(app, before, isWanted);
  await app.writer.write(() => {
    if (isWanted()) releaseQueue(app.db);
  });
  app.log.info("old mails were cancelled before the queue was released", { mails });
}

/** The hold as this server knows it. */
export const queueHold = perApp((app: App) => {
  let since = readQueueHold(app.db);
  const released = createSignal();
  return {
    since: () => since,
    isHeld: () => since !== null,
    /** Registers what is woken after the hold. */
    onReleased: released.onRaised,

    /** Reads the hold again, because a command in another process may have changed it. */
    async refresh(): Promise<void> {
      const before = since;
      const cancelBefore = readCancelBefore(app.db);
      if (cancelBefore !== null) await cancelAndRelease(app, cancelBefore);
      since = readQueueHold(app.db);
      if (before === null && since !== null) app.log.warn("the queue is held: nothing leaves");
      if (before === null || since !== null) return;
      app.log.info("the queue was released");
      released.raise();
    },
  };
});
