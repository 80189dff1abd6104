/**
 * Sends the deliveries that are due. Rows say which are due, memory only which are under way: when
 * the process dies, those are still due and are sent again with the same id. Each webhook has a
 * concurrency limit that grows with success and shrinks with failure. All webhooks of a project
 * share the slots that the project may use, so webhooks that hang delay no other project.
 */

import { isStorageRefusal } from "../../db/refusal.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import type { FairSlots } from "../../lib/fair-slots.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { Event } from "../events/model.ts";
import type { Attempt, Attempted } from "./attempt.ts";
import type { Listener, Roster } from "./roster.ts";
import type { DeliveryRows, Due } from "./rows.ts";
import { nextTryAt } from "./schedule.ts";
import type { Webhooks } from "./service.ts";

export type WebhookDispatcher = ReturnType<typeof createWebhookDispatcher>;

type Lane = {
  webhookSeq: number;
  /** There is nothing to look for before. */
  lookAt: number;
  underWay: Set<number>;
};

/** Deliveries at once: of a webhook that was not tried yet, and at most. */
const FIRST_WIDTH = 8;
const WIDEST = 16;
const STORAGE_PAUSE_MS = 1000;

export function createWebhookDispatcher(deps: {
  rows: DeliveryRows;
  roster: Roster;
  findEvent: (seq: number) => Event | null;
  attempt: Attempt;
  /** Owned by projects. */
  slots: FairSlots;
  webhooks: Pick<Webhooks, "noteSuccess" | "noteFailure">;
  writer: Writer;
  clock: Clock;
  log: Log;
  random: () => number;
}) {
  const { rows, roster, findEvent, attempt, slots, webhooks } = deps;
  const { writer, clock, log, random } = deps;
  /** Those that have something to do, in the order of their turns. */
  const lanes = new Map<number, Lane>();
  /** How many each takes at once, as far as it was tried; also of those that have nothing to do. */
  const widths = new Map<number, number>();
  const underWay = new Set<Promise<void>>();
  let ender = new AbortController();
  let isRunning = false;
  let isLookScheduled = false;
  let cancelTimer = () => {};

  function wake(webhookSeqs: Iterable<number>): void {
    for (const webhookSeq of webhookSeqs) {
      const lane = lanes.get(webhookSeq);
      if (lane !== undefined) lane.lookAt = 0;
      else lanes.set(webhookSeq, { webhookSeq, lookAt: 0, underWay: new Set() });
    }
    lookSoon();
  }

  /** Whatever happens in one turn of the event loop is one reason to look. */
  function lookSoon(): void {
    if (isLookScheduled || !isRunning) return;
    isLookScheduled = true;
    setImmediate(() => {
      isLookScheduled = false;
      look();
    });
  }

  function look(): void {
    if (!isRunning) return;
    cancelTimer();
    try {
      const now = clock.now();
      // As they are now: a lane that was served goes to the end.
      for (const lane of Array.from(lanes.values())) serve(lane, now);
      sleep(now);
    } catch (error) {
      log.error("webhook deliveries could not be read", { error: describeError(error) });
      cancelTimer = clock.after(STORAGE_PAUSE_MS, look);
    }
  }

  function serve(lane: Lane, now: number): void {
    if (lane.lookAt > now) return;
    const listener = roster.get(lane.webhookSeq);
    if (listener === null)
      lane.lookAt = Infinity; // Enabling wakes it.
    else {
      const width = widths.get(lane.webhookSeq) ?? FIRST_WIDTH;
      const room = Math.min(width - lane.underWay.size, slots.available(listener.projectSeq));
      if (room <= 0) return;
      for (const delivery of take(lane, room, now)) start(lane, listener, delivery);
    }
    // The next turn begins with somebody else.
    lanes.delete(lane.webhookSeq);
    if (lane.lookAt < Infinity || lane.underWay.size > 0) lanes.set(lane.webhookSeq, lane);
  }

  function take(lane: Lane, room: number, now: number): Due[] {
    const { webhookSeq } = lane;
    const limit = room + lane.underWay.size;
    const due = rows.due(webhookSeq, now, limit);
    if (due.length < limit) lane.lookAt = rows.nextDueAt(webhookSeq, now) ?? Infinity;
    return due.filter(({ seq }) => !lane.underWay.has(seq)).slice(0, room);
  }

  function sleep(now: number): void {
    let next = Infinity;
    for (const { lookAt } of lanes.values()) if (lookAt > now) next = Math.min(next, lookAt);
    if (next < Infinity) cancelTimer = clock.after(next - now, look);
  }

  function start(lane: Lane, { url, projectSeq }: Listener, delivery: Due): void {
    slots.take(projectSeq);
    lane.underWay.add(delivery.seq);
    const work = deliver(lane, url, delivery).finally(() => {
      slots.release(projectSeq);
      underWay.delete(work);
      wake([lane.webhookSeq]);
    });
    underWay.add(work);
  }

  async function deliver(lane: Lane, url: string, delivery: Due): Promise<void> {
    const isOver = await attemptAndSettle(url, delivery);
    // What could not be stored must not be sent again and again: it stays with this process.
    if (isOver) lane.underWay.delete(delivery.seq);
  }

  /** False if nobody but us knows what came of it. */
  async function attemptAndSettle(url: string, delivery: Due): Promise<boolean> {
    const { id, webhookSeq } = delivery;
    const event = findEvent(delivery.eventSeq);
    if (event === null) return true; // Its row went with it.
    const message = { id, webhookSeq, url, event };
    const attempted = await attempt(message, ender.signal).catch((error: unknown) =>
      defect(id, error),
    );
    if (attempted === null) return true;
    widen(webhookSeq, attempted.isDelivered);
    return settle(delivery, attempted);
  }

  function widen(webhookSeq: number, isDelivered: boolean): void {
    const width = widths.get(webhookSeq) ?? FIRST_WIDTH;
    const wanted = isDelivered ? width * 2 : Math.floor(width / 2);
    widths.set(webhookSeq, Math.min(WIDEST, Math.max(1, wanted)));
  }

  /** A fault of ours: it is tried again, and the log says so. */
  function defect(delivery: string, error: unknown): Attempted {
    log.error("a webhook could not be sent", { delivery, error: describeError(error) });
    return {
      isDelivered: false,
      isGone: false,
      responseCode: null,
      responseExcerpt: null,
      error: "An unexpected error on our side; the log has it.",
      retryAfterMs: null,
    };
  }

  /** What the receiver said must be written down, however long the storage takes to recover. */
  async function settle(delivery: Due, attempted: Attempted): Promise<boolean> {
    for (;;) {
      try {
        await writer.write(() => settleNow(delivery, attempted));
        return true;
      } catch (error) {
        log.error("a webhook delivery could not be stored", {
          delivery: delivery.id,
          error: describeError(error),
        });
        if (!isRunning || !isStorageRefusal(error)) return false;
        await new Promise<void>((resolve) => clock.after(STORAGE_PAUSE_MS, resolve));
      }
    }
  }

  /** Part of a change. */
  function settleNow(delivery: Due, attempted: Attempted): void {
    const { isDelivered, isGone, responseCode, responseExcerpt, error, retryAfterMs } = attempted;
    const { webhookSeq } = delivery;
    const now = clock.now();
    const failure = { attempts: delivery.attempts + 1, now, retryAfterMs, random: random() };
    const nextAt = isDelivered || isGone ? null : nextTryAt(failure);
    const status = isDelivered ? "SUCCEEDED" : nextAt === null ? "FAILED" : "PENDING";
    const settled = { status, nextAt, responseCode, responseExcerpt, error, now } as const;
    if (!rows.settle(delivery, settled)) return;
    if (isDelivered) webhooks.noteSuccess(webhookSeq);
    else webhooks.noteFailure(webhookSeq, isGone, now);
  }

  async function nothingUnderWay(): Promise<true> {
    await Promise.all(underWay);
    return true;
  }

  return {
    /** These webhooks have deliveries that may be due. */
    wake,

    start(): void {
      isRunning = true;
      ender = new AbortController();
      wake(rows.lanes());
    },

    /** Waits for what is under way, at most `graceMs`; the rest is given up and due still. */
    async stop(graceMs: number): Promise<void> {
      isRunning = false;
      cancelTimer();
      const { promise: graceOver, resolve } = Promise.withResolvers<boolean>();
      const cancelGrace = clock.after(graceMs, () => resolve(false));
      const allEnded = await Promise.race([nothingUnderWay(), graceOver]);
      cancelGrace();
      if (allEnded) return;
      ender.abort();
      await Promise.all(underWay);
    },
  };
}
