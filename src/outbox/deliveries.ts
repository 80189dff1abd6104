/**
 * The mails under way, each in this order: it is attempted (attempt.ts), which prepares its message
 * while the lease is being written; when the lease is on disk and the pace allows it, its transaction
 * begins; its outcome is stored (store-outcome.ts).
 */

import { callForEach, type Callbacks } from "../lib/callbacks.ts";
import { describeError } from "../lib/log.ts";
import type { Begin, WhenAllowed } from "../protocols/smtp/dispatch.ts";
import type { Attempt, Verdict } from "./attempt.ts";
import type { LeasedMail } from "./lease-rows.ts";
import { Withdrawn } from "./outcome.ts";
import type { Pace } from "./pace.ts";
import type { Prefetch } from "./prefetch.ts";
import { createStoreOutcome, type StoreOutcomeDeps } from "./store-outcome.ts";

export type DeliveryDeps = StoreOutcomeDeps & { attempt: Attempt; pace: Pace };

type DeliveryOptions = {
  prefetch: Prefetch;
  isRunning: () => boolean;
  releaseSlot: (mail: LeasedMail) => void;
  /** Called when a mail is sent and when its outcome is stored. */
  noteMove: () => void;
  /** Called when a mail has released its slot and when it has ended. */
  onFree: () => void;
};

/** Waits until the lease of a mail is on disk. */
type WaitForDisk = (answer: Callbacks<void>) => void;

/** The dependencies and the state that all deliveries share. */
type Shared = Omit<DeliveryDeps, "settle"> &
  DeliveryOptions & {
    /** Prepared mails that wait for the pace. */
    waiting: Set<Delivery>;
    settle: ReturnType<typeof createStoreOutcome>["settle"];
    /** Called when the outcome of a mail is stored, or cannot be. */
    onEnd: () => void;
  };

const URGENT_PRIORITY = 1;

export function createMailDeliveries(deps: DeliveryDeps, options: DeliveryOptions) {
  const { settle, counts } = createStoreOutcome(deps, options.isRunning);
  const waiting = new Set<Delivery>();
  const idle: (() => void)[] = [];
  let underWay = 0;
  const shared: Shared = { ...deps, ...options, waiting, settle, onEnd };

  function onEnd(): void {
    underWay--;
    options.onFree(); // A retry may be due before the timer ends.
    if (underWay === 0) for (const resolve of idle.splice(0)) resolve();
  }

  return {
    start(mail: LeasedMail, waitForDisk: WaitForDisk): void {
      underWay++;
      new Delivery(mail, waitForDisk, shared).start();
    },
    count: () => underWay,
    /** Number of stored outcomes since the start, by kind. */
    outcomes: counts,
    isAnyWaiting: () => waiting.size > 0,
    withdrawWaiting(): void {
      const withdrawn = [...waiting];
      waiting.clear();
      callForEach(withdrawn, (delivery) => delivery.withdraw());
    },
    allEnded(): Promise<void> {
      return underWay === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve));
    },
  };
}

class Delivery {
  readonly #mail: LeasedMail;
  readonly #waitForDisk: WaitForDisk;
  readonly #shared: Shared;
  readonly #reserved: ReturnType<Prefetch["reserve"]>;
  /** The time is measured from the transaction, if there is one. */
  #startedAt: number;
  #startedMs: number;
  /** The transaction that waits until the mail may leave. */
  #begin: Begin = () => {};
  #refuse: (error: unknown) => void = () => {};
  #hasEnded = false;

  constructor(mail: LeasedMail, waitForDisk: WaitForDisk, shared: Shared) {
    this.#mail = mail;
    this.#waitForDisk = waitForDisk;
    this.#shared = shared;
    this.#reserved = shared.prefetch.reserve(mail);
    this.#startedAt = shared.clock.now();
    this.#startedMs = shared.clock.elapsed();
  }

  start(): void {
    const answer = { resolve: this.#end, reject: this.#endWithDefect };
    try {
      this.#shared.attempt(this.#mail, this.#leave, answer);
    } catch (error) {
      this.#endWithDefect(error);
    }
  }

  /** The process is about to end, and the mail waits for the pace. */
  withdraw(): void {
    this.#refuse(new Withdrawn());
  }

  readonly #leave: WhenAllowed = (begin, refuse) => {
    this.#begin = begin;
    this.#refuse = refuse;
    // Without its lease on disk, the mail must not be sent.
    this.#waitForDisk({ resolve: this.#waitForPace, reject: () => this.withdraw() });
  };

  readonly #waitForPace = (): void => {
    const { prefetch, clock, pace, waiting, isRunning } = this.#shared;
    // The process is about to end, and has withdrawn the mails that waited.
    if (!isRunning()) return this.withdraw();
    prefetch.noteLatency(clock.elapsed() - this.#startedMs);
    this.#reserved.stopTimeout();
    waiting.add(this);
    pace.run(this.#transact, this.#mail.campaignSeq === null ? URGENT_PRIORITY : 0);
  };

  readonly #transact = (ended: () => void): void => {
    const { prefetch, clock, waiting, writer, noteMove } = this.#shared;
    // The mail was withdrawn.
    if (!waiting.delete(this)) return ended();
    // With a faulty writer the outcome could not be stored, so the mail must not be sent.
    if (writer.hasFault()) {
      ended();
      return this.withdraw();
    }
    prefetch.noteDeparture();
    this.#reserved.release();
    noteMove();
    this.#startedAt = clock.now();
    this.#startedMs = clock.elapsed();
    const endTask = once(ended);
    try {
      this.#begin(endTask);
    } catch (error) {
      endTask();
      this.#endWithDefect(error);
    }
  };

  /** Ends the mail, once: after a defect, the rest of the attempt may answer as well. */
  readonly #end = (verdict: Verdict): void => {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { clock, releaseSlot, onFree, settle, noteMove, onEnd } = this.#shared;
    const mail = this.#mail;
    this.#reserved.release();
    releaseSlot(mail);
    onFree(); // The released slot can be used before the outcome is on disk.
    const durationMs = Math.round(clock.elapsed() - this.#startedMs);
    const result = { mail, verdict, startedAt: this.#startedAt, durationMs, now: clock.now() };
    settle(result, (isStored) => {
      if (isStored) noteMove();
      onEnd();
    });
  };

  /** Logs a defect of this program; the mail is deferred. */
  readonly #endWithDefect = (error: unknown): void => {
    if (this.#hasEnded) return;
    const { log } = this.#shared;
    const fields = { email: this.#mail.id, error: describeError(error) };
    log.error("an attempt failed unexpectedly", fields);
    const reason = "An unexpected error of this server; the log has the details.";
    this.#end({ kind: "deferred", class: "infrastructure", reason, conversations: [] });
  };
}

/** Returns a function that calls `run` the first time. */
function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}
