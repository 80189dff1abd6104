/**
 * Creates deliveries from the event log, as a reader with its own position. The rows of deliveries
 * and the new position are stored in one change, so each event has its rows exactly once. Events that
 * no webhook needs are skipped without a write; the stored position follows once a minute.
 */

import { nextIteration } from "../../lib/yield.ts";
import type { Writer } from "../../db/writer.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { LoggedEvent, Reader } from "../../events/reader.ts";
import type { CachedWebhook, WebhookCache } from "./cache.ts";
import type { DeliveryRows } from "./rows.ts";

/** Number of events read at once. */
const PAGE = 200;
/** Duration of the work in one change. Its commit takes about the same time again. */
const SLICE_MS = 8;
const PAUSE_MS = 1000;

export function createFeed(deps: {
  reader: Reader;
  cache: WebhookCache;
  rows: Pick<DeliveryRows, "add">;
  writer: Writer;
  clock: Clock;
  log: Log;
  /** Called after the commit with the webhooks that have new deliveries. */
  onRows: (webhookSeqs: ReadonlySet<number>) => void;
}) {
  const { reader, cache, rows, writer, clock, log, onRows } = deps;
  /** All events up to this `seq` are handled or skipped; at or after the stored position. */
  let position = 0;
  let isRunning = false;
  /** True if the log may have unread events. */
  let isAwake = false;
  let isPausing = false;
  let underWay: Promise<void> | null = null;
  let cancelPause = () => {};

  function matchingWebhooks({ seq, projectSeq, name }: LoggedEvent): CachedWebhook[] {
    return cache
      .ofProject(projectSeq)
      .filter(({ startSeq, matches }) => seq > startSeq && matches(name));
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
      onRows(webhookSeqs);
    });
  }

  function addRows(event: LoggedEvent, webhookSeqs: Set<number>): void {
    const now = clock.now();
    for (const { seq: webhookSeq } of matchingWebhooks(event)) {
      const { seq: eventSeq, contactSeq } = event;
      rows.add({ id: newId(now), webhookSeq, eventSeq, contactSeq, now });
      webhookSeqs.add(webhookSeq);
    }
  }

  async function run(): Promise<void> {
    isAwake = false;
    // Several calls of wake within one iteration of the event loop lead to one read.
    await nextIteration();
    const found = skipUnwanted();
    if (found === "something") await writer.write(handleSlice);
    if (found !== "end") isAwake = true;
  }

  function wake(): void {
    isAwake = true;
    if (!isRunning || isPausing) return;
    underWay ??= run()
      .catch(pauseAfter)
      .finally(() => {
        underWay = null;
        if (isAwake) wake();
      });
  }

  function pauseAfter(error: unknown): void {
    log.error("events could not be read for webhooks", { error: describeError(error) });
    isPausing = true;
    cancelPause = clock.after(PAUSE_MS, () => {
      isPausing = false;
      wake();
    });
  }

  async function storePosition(): Promise<void> {
    if (position <= reader.place()) return;
    await writer.write(() => reader.advance(position));
  }

  return {
    /** Part of a change that records an event. It costs almost nothing if no webhook is enabled. */
    onEvent(): void {
      if (!cache.isEmpty()) writer.afterCommit(wake);
    },

    /** Recurring work: stores the position after skipped events. */
    async advancePosition(): Promise<void> {
      if (!isRunning) return;
      if (!cache.isEmpty()) return storePosition();
      await writer.write(() => {
        if (cache.isEmpty()) reader.skip();
      });
    },

    start(): void {
      isRunning = true;
      isPausing = false;
      wake();
    },

    async stop(): Promise<void> {
      isRunning = false;
      cancelPause();
      await underWay;
      await storePosition();
    },
  };
}
