/**
 * From the log of events to deliveries: a reader with its own place. The rows that events make and
 * the step of the place are one change, so that each event has its rows exactly once. Events that
 * nobody listens to are passed by without a write; the stored place follows now and then.
 */

import type { Writer } from "../../db/writer.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { LoggedEvent, Reader } from "../events/reader.ts";
import type { Listener, Roster } from "./roster.ts";
import type { DeliveryRows } from "./rows.ts";

export type Feed = ReturnType<typeof createFeed>;

/** Events read at once. */
const PAGE = 200;
/** Of a change; the commit takes about as long again. */
const STEP_MS = 8;
const PAUSE_MS = 1000;

export function createFeed(deps: {
  reader: Reader;
  roster: Roster;
  rows: Pick<DeliveryRows, "add">;
  writer: Writer;
  clock: Clock;
  log: Log;
  /** These webhooks have something to deliver. */
  onRows: (webhookSeqs: ReadonlySet<number>) => void;
}) {
  const { reader, roster, rows, writer, clock, log, onRows } = deps;
  /** Events up to here concern nobody, or have their rows; at or after the stored place. */
  let seen = 0;
  let isRunning = false;
  /** There may be something that was not read yet. */
  let isAwake = false;
  let isPausing = false;
  let underWay: Promise<void> | null = null;
  let cancelPause = () => {};

  function listenersOf({ seq, projectSeq, name }: LoggedEvent): Listener[] {
    return roster
      .ofProject(projectSeq)
      .filter(({ startSeq, matches }) => seq > startSeq && matches(name));
  }

  /** Passes by events that nobody listens to. */
  function passBy(): "end" | "more" | "something" {
    seen = Math.max(seen, reader.place());
    const events = reader.read(PAGE, seen);
    const wanted = events.findIndex((event) => listenersOf(event).length > 0);
    const passed = wanted === -1 ? events.at(-1) : events[wanted - 1];
    seen = passed?.seq ?? seen;
    if (wanted !== -1) return "something";
    return events.length === PAGE ? "more" : "end";
  }

  /** One change. */
  function step(): void {
    const endsAt = systemClock.elapsed() + STEP_MS;
    const found = new Set<number>();
    let place = seen;
    for (const event of reader.read(PAGE, seen)) {
      addRows(event, found);
      place = event.seq;
      if (systemClock.elapsed() > endsAt) break;
    }
    reader.advance(place);
    // Rolled back with the change, the events are read again.
    writer.afterCommit(() => {
      seen = Math.max(seen, place);
      onRows(found);
    });
  }

  function addRows(event: LoggedEvent, found: Set<number>): void {
    const now = clock.now();
    for (const { seq: webhookSeq } of listenersOf(event)) {
      const { seq: eventSeq, contactSeq } = event;
      rows.add({ id: newId(now), webhookSeq, eventSeq, contactSeq, now });
      found.add(webhookSeq);
    }
  }

  async function run(): Promise<void> {
    isAwake = false;
    // What happens in this turn of the event loop is one reason to look, not many.
    await new Promise((resolve) => setImmediate(resolve));
    const found = passBy();
    if (found === "something") await writer.write(step);
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

  async function storePlace(): Promise<void> {
    if (seen <= reader.place()) return;
    await writer.write(() => reader.advance(seen));
  }

  return {
    /** Part of a change that wrote to the log; costs next to nothing where nobody listens. */
    note(): void {
      if (!roster.isEmpty()) writer.afterCommit(wake);
    },

    /** The stored place follows; recurring work. */
    async keepUp(): Promise<void> {
      if (!isRunning) return;
      if (!roster.isEmpty()) return storePlace();
      await writer.write(() => {
        if (roster.isEmpty()) reader.skip();
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
      await storePlace();
    },
  };
}
