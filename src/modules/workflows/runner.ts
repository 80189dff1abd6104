/**
 * Keeps executions going. It follows the log of events by a durable place of its own and keeps due
 * times as rows; one timer sleeps until the earliest. What a slice of events leads to is written in
 * one change with the place in the log: executions that go on, executions that start, mails.
 *
 * Order within a contact: an event comes after everything that was due at its time, and wakes what
 * waits before it starts something new. Nothing that is due overtakes an event of its contact that
 * is in the log already. So whether an event or the end of its wait was first does not depend on
 * how far behind the runner is.
 */

import { isStorageRefusal } from "../../db/refusal.ts";
import type { Writer } from "../../db/writer.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { DueShift } from "../../lib/steady-clock.ts";
import type { Db } from "../../db/open.ts";
import { DUE_FOR, type DueFor } from "../../db/schema/workflows.ts";
import { parseData } from "../contacts/data.ts";
import type { EventsOfContact } from "../events/of-contact.ts";
import type { LoggedEvent, Reader } from "../events/reader.ts";
import type { Agenda, Execution } from "./agenda.ts";
import type { Call, Calls } from "./calls.ts";
import type { Drive, HasTime } from "./drive.ts";
import type { Met } from "./engine.ts";
import type { Startable, Starts } from "./starts.ts";

export type WorkflowRunner = ReturnType<typeof createWorkflowRunner>;

/** Of one change; less of it where others write as well, and then a rest for them. */
const SLICE_MS = { alone: 10, among: 4 } as const;
/** Events and what is due share it, so that neither waits for all of the other. */
const EVENTS_SHARE = 0.6;
const SCAN_MS = 5;
const REST_MS = 6;
/** About as many as a slice gets to. */
const EVENTS_AT_ONCE = { alone: 60, among: 25 } as const;
/** Read to find out whether any of them concerns anybody; more as long as none does. */
const SCANNED_AT_ONCE = { first: 10, most: 200 } as const;
const DUE_AT_ONCE = 200;
/** A safeguard: every change wakes the runner, and so does a step of the clock. */
const LONGEST_SLEEP_MS = 30_000;
/** Events that concern nobody move the stored place only now and then. */
const PLACE_AFTER_MS = 1_000;
const STORAGE_PAUSE_MS = 1_000;
const STOP_GRACE_MS = 2_000;

type Slice = { isMore: boolean; taken: Call[] };

const NOTHING: Slice = { isMore: false, taken: [] };

export function createWorkflowRunner(deps: {
  db: Pick<Db, "sqlite">;
  agenda: Agenda;
  calls: Calls;
  clock: Clock;
  drive: Drive;
  eventsOfContact: Pick<EventsOfContact, "hasSince">;
  log: Log;
  reader: Reader;
  starts: Starts;
  triggered: (projectSeq: number, eventName: string) => readonly Startable[];
  /** Writes facts that are known but not in the log yet (opens and clicks). */
  settleFacts: () => Promise<void>;
  writer: Writer;
}) {
  const { agenda, calls, clock, drive, log, reader, starts, writer } = deps;
  const lastSeq = deps.db.sqlite.prepare<{ seq: number | null }, []>(
    "SELECT max(seq) AS seq FROM events",
  );
  let isRunning = false;
  /** Asked for since the last look. */
  let isWoken = false;
  let underWay: Promise<void> | null = null;
  let cancelTimer = () => {};
  /** Events up to here concerned nobody, or are dealt with; at or after the stored place. */
  let seen = 0;
  let isPlaceBehind = false;
  /** Changes of all that there were at the last slice, and whether there have been others since. */
  let asked = 0;
  let isAlone = true;
  /** When it had last looked, by the monotonic clock. */
  let lookedAt = -Infinity;
  let cancelPlaceTimer: (() => void) | null = null;

  function wake(): void {
    if (!isRunning) return;
    isWoken = true;
    underWay ??= work().finally(() => {
      underWay = null;
      if (isWoken) wake();
    });
  }

  /** Slice after slice until nothing is left to do now. */
  async function work(): Promise<void> {
    cancelTimer();
    try {
      // What happens in a moment is one reason to look, not many.
      if (systemClock.elapsed() - lookedAt < REST_MS) await Bun.sleep(REST_MS);
      else await turn();
      while (await round());
      lookedAt = systemClock.elapsed();
      sleep();
    } catch (error) {
      pauseAfter(error);
    }
  }

  /** False once nothing is left to do. */
  async function round(): Promise<boolean> {
    if (!isRunning) return false;
    isWoken = false;
    const found = skipUnconcerning();
    const now = clock.now();
    if (found === "end" && !isAnythingDue(now)) return isWoken;
    if (isDue("TIME", now)) await deps.settleFacts();
    isAlone = writer.asked() === asked;
    if (!isAlone) await Bun.sleep(REST_MS);
    const written = writer.write(() => (isRunning ? slice() : NOTHING));
    asked = writer.asked();
    const { isMore, taken } = await written;
    calls.start(taken);
    return isMore || isWoken;
  }

  /** Passes by events that nobody waits for, without a write. */
  function skipUnconcerning(): "end" | "something" {
    const endsAt = systemClock.elapsed() + SCAN_MS;
    // What is overdue may come to wait for an event that is in the log already.
    if (!agenda.isListening() && !isAnyOverdue(clock.now())) pass(lastSeq.get()?.seq ?? 0);
    let page: number = SCANNED_AT_ONCE.first;
    for (;;) {
      const events = reader.read(page, seen);
      const concerning = events.findIndex(isConcerning);
      const passed = concerning === -1 ? events.at(-1) : events[concerning - 1];
      if (passed !== undefined) pass(passed.seq);
      if (concerning === -1 && events.length < page) return "end";
      // After a while others have their turn, which comes with the next write.
      if (concerning !== -1 || systemClock.elapsed() > endsAt) return "something";
      page = Math.min(2 * page, SCANNED_AT_ONCE.most);
    }
  }

  /** What waits for its time may wait for the event after it, if that time was before the event. */
  function isConcerning({ projectSeq, name, contactSeq, createdAt }: LoggedEvent): boolean {
    if (contactSeq === null) return false;
    const at = timeOf(createdAt);
    return (
      deps.triggered(projectSeq, name).length > 0 ||
      agenda.isAwaited(contactSeq, name) ||
      (isAnyOverdue(at) && agenda.overdueOf(contactSeq, at).length > 0)
    );
  }

  /** An event that seems to lie ahead was recorded before the clock was set back: at the latest now. */
  function timeOf(createdAt: number): number {
    return Math.min(createdAt, clock.now());
  }

  function pass(seq: number): void {
    if (seq <= seen) return;
    seen = seq;
    isPlaceBehind = true;
    cancelPlaceTimer ??= clock.after(PLACE_AFTER_MS, () => {
      cancelPlaceTimer = null;
      void writer.write(storePlace).catch((error: unknown) => pauseAfter(error));
    });
  }

  function storePlace(): void {
    if (isPlaceBehind) reader.advance(seen);
    writer.afterCommit(() => {
      isPlaceBehind = false;
    });
  }

  function isDue(kind: DueFor, now: number): boolean {
    const at = agenda.earliest(kind);
    return at !== null && at <= now;
  }

  function isAnythingDue(now: number): boolean {
    return DUE_FOR.some((kind) => isDue(kind, now) && (kind !== "CALL" || calls.canLease(now)));
  }

  /** One change. */
  function slice(): Slice {
    const startedAt = systemClock.elapsed();
    const sliceMs = isAlone ? SLICE_MS.alone : SLICE_MS.among;
    const within = (ms: number) => () => systemClock.elapsed() - startedAt < ms;
    const { isAtEnd, place } = readEvents(within(EVENTS_SHARE * sliceMs));
    const isAllDone = fireDue(within(sliceMs), isAtEnd ? null : place);
    const now = clock.now();
    calls.giveBackExpired(now);
    const { taken, isCut } = calls.lease(now, within(sliceMs));
    return { isMore: !isAtEnd || !isAllDone || isCut, taken };
  }

  function readEvents(hasTime: HasTime): { isAtEnd: boolean; place: number } {
    const from = seen;
    const page = isAlone ? EVENTS_AT_ONCE.alone : EVENTS_AT_ONCE.among;
    const events = reader.read(page, from);
    let place = from;
    let isAtEnd = events.length < page;
    for (const event of events) {
      if ((place > from && !hasTime()) || !handle(event, hasTime)) {
        isAtEnd = false;
        break;
      }
      place = event.seq;
    }
    if (place > from) {
      reader.advance(place);
      // Rolled back with the change, the events are read again.
      writer.afterCommit(() => {
        seen = Math.max(seen, place);
      });
    }
    return { isAtEnd, place };
  }

  /** False where the contact's earlier work is not done yet: then its event has to wait. */
  function handle(event: LoggedEvent, hasTime: HasTime): boolean {
    const { contactSeq, projectSeq, name } = event;
    if (contactSeq === null) return true;
    const at = timeOf(event.createdAt);
    if (!catchUp(contactSeq, at, hasTime)) return false;
    const startable = deps.triggered(projectSeq, name);
    if (startable.length === 0 && !agenda.isAwaited(contactSeq, name)) return true;
    const now = clock.now();
    const met = metOf(event, at);
    for (const execution of agenda.awaiting(contactSeq, name)) {
      drive.proceed(execution, { occurrence: { kind: "event", event: met }, now, hasTime });
    }
    for (const workflow of startable) {
      const execution = starts.byEvent(workflow, { contactSeq, event: met, now });
      if (execution?.progress.dueFor !== "TURN") continue;
      drive.proceed(execution, { occurrence: null, now, hasTime });
    }
    return true;
  }

  /** What of a contact was due at a moment goes first. False where some of it needs another slice. */
  function catchUp(contactSeq: number, at: number, hasTime: HasTime): boolean {
    if (!isAnyOverdue(at)) return true;
    for (const execution of agenda.overdueOf(contactSeq, at)) goOn(execution, hasTime);
    return agenda.overdueOf(contactSeq, at).length === 0;
  }

  /** Of anybody's: mostly nothing is. */
  function isAnyOverdue(at: number): boolean {
    return agenda.earliest("TURN") !== null || (agenda.earliest("TIME") ?? Infinity) <= at;
  }

  function goOn(execution: Execution, hasTime: HasTime): void {
    const occurrence = execution.progress.dueFor === "TIME" ? { kind: "time" as const } : null;
    drive.proceed(execution, { occurrence, now: clock.now(), hasTime });
  }

  /**
   * `place`: how far the log was read, if not to its end. Then those of whose contacts there is more
   * to read wait for that. True if nothing is left.
   */
  function fireDue(hasTime: HasTime, place: number | null): boolean {
    const now = clock.now();
    const due = [
      ...agenda.due("TURN", Number.MAX_SAFE_INTEGER, DUE_AT_ONCE),
      ...agenda.due("TIME", now, DUE_AT_ONCE),
    ];
    for (const [done, execution] of due.entries()) {
      if (done > 0 && !hasTime()) return false;
      if (place === null || !isBehind(execution, place)) goOn(execution, hasTime);
    }
    return due.length < DUE_AT_ONCE && agenda.earliest("TURN") === null;
  }

  function isBehind({ contactSeq }: Execution, place: number): boolean {
    return contactSeq !== null && deps.eventsOfContact.hasSince(contactSeq, place);
  }

  function sleep(): void {
    cancelTimer();
    if (!isRunning) return;
    const now = clock.now();
    const times = [agenda.earliest("TIME"), agenda.nextCallAfter(now)].filter((at) => at !== null);
    const delay = Math.min(...times.map((at) => at - now), LONGEST_SLEEP_MS);
    cancelTimer = clock.after(Math.max(0, delay), wake);
  }

  function pauseAfter(error: unknown): void {
    if (isStorageRefusal(error)) {
      log.warn("workflows wait while the storage refuses", { error: describeError(error) });
    } else log.error("workflows could not be looked at", { error: describeError(error) });
    cancelTimer();
    isWoken = false;
    if (isRunning) cancelTimer = clock.after(STORAGE_PAUSE_MS, wake);
  }

  return {
    /** Something may have happened or be due. */
    wake,

    /** Part of a change: the clock was set. */
    shift: (shift: DueShift): void => agenda.shift(shift, calls.executionsUnderWay()),

    async start(): Promise<void> {
      const returned = await writer.write(() => calls.giveBackAll(clock.now()));
      if (returned > 0) log.info("webhooks of a stopped process are called again", { returned });
      seen = reader.place();
      isRunning = true;
      wake();
    },

    /** Resolves when nothing is under way, calls included; for tests. */
    async idle(): Promise<void> {
      for (;;) {
        await underWay;
        await calls.ended();
        if (underWay === null && calls.underWay() === 0) return;
      }
    },

    async stop(): Promise<void> {
      isRunning = false;
      cancelTimer();
      cancelPlaceTimer?.();
      cancelPlaceTimer = null;
      await underWay;
      await calls.stop(STOP_GRACE_MS);
      await writer.write(storePlace);
    },
  };
}

function metOf({ seq, name, data }: LoggedEvent, at: number): Met {
  return { seq, name, data: data === null ? {} : parseData(data), at };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
