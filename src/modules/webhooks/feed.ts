/**
 * From the log of events to deliveries: a reader with its own place. The rows that a batch of events
 * makes and the step of the place are one change, so that each event has its rows exactly once.
 */

import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { LoggedEvent, Reader } from "../events/reader.ts";
import type { Roster } from "./roster.ts";
import type { DeliveryRows } from "./rows.ts";

export type Feed = ReturnType<typeof createFeed>;

/** A few milliseconds of work. */
const PAGE = 100;
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
  let isRunning = false;
  /** There may be something that was not read yet. */
  let isAwake = false;
  let isPausing = false;
  let underWay: Promise<void> | null = null;
  let cancelPause = () => {};

  /** Part of a change; returns how many events it dealt with. */
  function step(): number {
    const events = reader.read(PAGE);
    const last = events.at(-1);
    if (last === undefined) return 0;
    const found = new Set<number>();
    for (const event of events) addRows(event, found);
    reader.advance(last.seq);
    if (found.size > 0) writer.afterCommit(() => onRows(found));
    return events.length;
  }

  function addRows(event: LoggedEvent, found: Set<number>): void {
    for (const listener of roster.ofProject(event.projectSeq)) {
      if (event.seq <= listener.startSeq || !listener.matches(event.name)) continue;
      const now = clock.now();
      rows.add({
        id: newId(now),
        webhookSeq: listener.seq,
        eventSeq: event.seq,
        contactSeq: event.contactSeq,
        now,
      });
      found.add(listener.seq);
    }
  }

  async function run(): Promise<void> {
    isAwake = false;
    const count = await writer.write(step);
    if (count === PAGE) isAwake = true;
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
    roster.forget(); // A transaction may be lost whose changes it had seen.
    isPausing = true;
    cancelPause = clock.after(PAUSE_MS, () => {
      isPausing = false;
      wake();
    });
  }

  return {
    /** Part of a change that wrote to the log; costs next to nothing where nobody listens. */
    note(): void {
      if (!roster.isEmpty()) writer.afterCommit(wake);
    },

    /** Where nobody listens, the place follows the log now and then; recurring work. */
    async keepUp(): Promise<void> {
      if (!isRunning || !roster.isEmpty()) return;
      await writer.write(() => {
        if (roster.isEmpty()) reader.skip();
      });
    },

    start(): void {
      isRunning = true;
      wake();
    },

    async stop(): Promise<void> {
      isRunning = false;
      cancelPause();
      await underWay;
    },
  };
}
