/**
 * Creates deliveries from the event log, as a reader with its own position. The rows of deliveries
 * and the new position are stored in one change, so each event has its rows exactly once. Events that
 * no webhook needs are skipped without a write; the stored position follows once a minute.
 */

import type { App } from "../../core/app.ts";
import type { LoggedEvent } from "../../events/reader.ts";
import { systemClock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { createWorker } from "../../lib/worker.ts";
import { webhookDispatcher } from "./dispatcher.ts";
import { addDelivery } from "./rows.ts";
import { type CachedWebhook, hasNoWebhook, webhookLog, webhooksOfProject } from "./webhooks.ts";

/** Number of events read at once. */
const PAGE = 200;
/** Duration of the work in one change. Its commit takes about the same time again. */
const SLICE_MS = 8;
const PAUSE_MS = 1000;

export const webhookFeed = perApp((app: App) => createFeed(app));

function createFeed(app: App) {
  const { writer, clock, log } = app;
  const reader = webhookLog(app);
  /** All events up to this `seq` are handled or skipped; at or after the stored position. */
  let position = 0;
  const worker = createWorker({
    clock,
    step,
    onError: (error) =>
      log.error("events could not be read for webhooks", { error: describeError(error) }),
    pauseMs: PAUSE_MS,
  });

  function matchingWebhooks({ seq, projectSeq, name }: LoggedEvent): CachedWebhook[] {
    return webhooksOfProject(app, projectSeq).filter(
      ({ startSeq, matches }) => seq > startSeq && matches(name),
    );
  }

  /** Skips events that no webhook needs. */
  function skipUnwanted(): "end" | "more" | "something" {
    position = Math.max(position, reader.place());
    const events = reader.read(PAGE, position);
    const firstWanted = events.findIndex((event) => matchingWebhooks(event).length > 0);
    const lastSkipped = firstWanted === -1 ? events.at(-1) : events[firstWanted - 1];
    position = lastSkipped?.seq ?? position;
    if (firstWanted !== -1) return "something";
    return events.length === PAGE ? "more" : "end";
  }

  /** Handles one slice of events, as one change. */
  function handleSlice(): void {
    const endsAt = systemClock.elapsed() + SLICE_MS;
    const webhookSeqs = new Set<number>();
    let readUpTo = position;
    for (const event of reader.read(PAGE, position)) {
      addRows(event, webhookSeqs);
      readUpTo = event.seq;
      if (systemClock.elapsed() > endsAt) break;
    }
    reader.advance(readUpTo);
    // If the change is rolled back, the events are read again.
    writer.afterCommit(() => {
      position = Math.max(position, readUpTo);
      webhookDispatcher(app).wake(webhookSeqs);
    });
  }

  function addRows(event: LoggedEvent, webhookSeqs: Set<number>): void {
    const now = clock.now();
    for (const { seq: webhookSeq } of matchingWebhooks(event)) {
      const { seq: eventSeq, contactSeq } = event;
      addDelivery(app, { id: newId(now), webhookSeq, eventSeq, contactSeq, now });
      webhookSeqs.add(webhookSeq);
    }
  }

  async function step(): Promise<"more" | null> {
    const found = skipUnwanted();
    if (found === "something") await writer.write(handleSlice);
    return found === "end" ? null : "more";
  }

  async function storePosition(): Promise<void> {
    if (position <= reader.place()) return;
    await writer.write(() => reader.advance(position));
  }

  return {
    /** Part of a change that records an event. It costs almost nothing if no webhook is enabled. */
    onEvent(): void {
      if (!hasNoWebhook(app)) writer.afterCommit(worker.wake);
    },

    /** Recurring work: stores the position after skipped events. */
    async advancePosition(): Promise<void> {
      if (!worker.isRunning()) return;
      if (!hasNoWebhook(app)) return storePosition();
      await writer.write(() => {
        if (hasNoWebhook(app)) reader.skip();
      });
    },

    start: worker.start,

    async stop(): Promise<void> {
      await worker.stop();
      await storePosition();
    },
  };
}
