/**
 * Reads all mailboxes every few minutes. One timer waits for the next mailbox that is due, by the
 * monotonic clock. After an error a mailbox waits longer, and its row says why. Several mailboxes are
 * read at once, of which each project has its share.
 */

import { statement } from "../../db/statement.ts";
import type { App } from "../../core/app.ts";
import { reportMailboxes } from "../../db/schema/report-mailboxes.ts";
import { createFairSlots } from "../../lib/fair-slots.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { createWorker } from "../../lib/worker.ts";
import { MailboxFault } from "../../protocols/mailboxes/mailbox-fault.ts";
import { fetchReports, type Refusals } from "./fetch-reports.ts";
import type { MailboxRow } from "./mailbox-session.ts";

const MINUTE_MS = 60_000;
const INTERVAL_MS = 5 * MINUTE_MS;
/** Delays after the first error, the second, and so on; the last one repeats. */
const BACKOFF_MS = [5, 10, 20, 40, 60].map((minutes) => minutes * MINUTE_MS);
/** Delay of a mailbox that has more messages. */
const MORE_MS = 1_000;
const SLOTS = { total: 8, maxPerOwner: 2 };
const PAUSE_AFTER_ERROR_MS = 10_000;
/** Mailboxes of all projects. */
const MAX_MAILBOXES = 10_000;

type State = {
  /** A time of the monotonic clock. */
  dueAt: number;
  /** Rounds that failed without one between them that did not. */
  failures: number;
  refusals: Refusals;
  /** The fetch or test that uses the mailbox now; null if there is none. */
  work: Promise<unknown> | null;
  /** Whether it was changed while it was read. */
  isWoken: boolean;
};

export const mailboxPoller = perApp((app: App) => createPoller(app));

function createPoller(app: App) {
  const { clock, log } = app;
  const slots = createFairSlots(SLOTS);
  const states = new Map<number, State>();
  const underWay = new Set<Promise<unknown>>();
  let stopper = new AbortController();
  const worker = createWorker({
    clock,
    step,
    onError: (error) => log.error("mailboxes could not be read", { error: describeError(error) }),
    pauseMs: PAUSE_AFTER_ERROR_MS,
  });

  /** Begins to read the mailboxes that are due, the longest due first. */
  function step(): number | null {
    const mailboxes = app.db.select().from(reportMailboxes).limit(MAX_MAILBOXES).all();
    const seqs = new Set(mailboxes.map(({ seq }) => seq));
    for (const seq of states.keys()) if (!seqs.has(seq)) states.delete(seq);
    const waiting = mailboxes
      .map((mailbox) => ({ mailbox, state: stateOf(mailbox) }))
      .filter(({ state }) => state.work === null)
      .toSorted((a, b) => a.state.dueAt - b.state.dueAt);
    const now = clock.elapsed();
    for (const { mailbox, state } of waiting) {
      if (state.dueAt > now) return state.dueAt - now;
      void occupy(mailbox, (signal) => readOnce(mailbox, state, signal));
    }
    return null;
  }

  function stateOf({ seq }: MailboxRow): State {
    const known = states.get(seq);
    if (known !== undefined) return known;
    const state = {
      dueAt: clock.elapsed(),
      failures: 0,
      refusals: new Map(),
      work: null,
      isWoken: false,
    };
    states.set(seq, state);
    return state;
  }

  /** Runs work with a mailbox that no other work uses; null if it or the slots are in use. */
  function occupy<T>(
    mailbox: MailboxRow,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> | null {
    const state = stateOf(mailbox);
    if (state.work !== null || slots.available(mailbox.projectSeq) === 0) return null;
    slots.acquire(mailbox.projectSeq);
    const running = work(stopper.signal).finally(() => {
      slots.release(mailbox.projectSeq);
      state.work = null;
      underWay.delete(running);
      worker.wake();
    });
    state.work = running;
    underWay.add(running);
    return running;
  }

  async function readOnce(mailbox: MailboxRow, state: State, signal: AbortSignal): Promise<void> {
    state.isWoken = false;
    try {
      const hasMore = await fetchReports(app, mailbox, { signal, refusals: state.refusals });
      state.failures = 0;
      state.dueAt = clock.elapsed() + (hasMore ? MORE_MS : INTERVAL_MS);
    } catch (error) {
      if (signal.aborted) return;
      const delayMs = BACKOFF_MS[Math.min(state.failures, BACKOFF_MS.length - 1)] ?? INTERVAL_MS;
      state.failures++;
      state.dueAt = clock.elapsed() + delayMs;
      await recordFailure(mailbox, error);
    }
    if (state.isWoken) beDue(state);
  }

  function beDue(state: State): void {
    state.dueAt = clock.elapsed();
    state.failures = 0;
  }

  async function recordFailure({ seq, id }: MailboxRow, error: unknown): Promise<void> {
    const isOfServer = error instanceof MailboxFault;
    if (!isOfServer) {
      log.error("a mailbox could not be read", { mailbox: id, error: describeError(error) });
    }
    const reason = isOfServer ? error.message : "this server could not store what it read";
    try {
      await app.writer.write(() => void storeFailure(app).run(clock.now(), reason, seq));
    } catch (cause) {
      log.error("the failure of a mailbox is not stored", { error: describeError(cause) });
    }
  }

  return {
    occupy,
    /** Waits until nothing uses the mailbox, at most `limitMs`. */
    async waitUntilFree({ seq }: MailboxRow, limitMs: number): Promise<void> {
      const { promise: isLate, resolve } = Promise.withResolvers<void>();
      const cancel = clock.after(limitMs, resolve);
      const work = states.get(seq)?.work ?? null;
      await Promise.race([work === null ? null : Promise.allSettled([work]), isLate]);
      cancel();
    },
    /** Reads a mailbox soon, without the delay after errors. */
    wake(seq: number): void {
      const state = states.get(seq);
      if (state !== undefined) {
        beDue(state);
        state.isWoken = true;
      }
      worker.wake();
    },
    /** Resolves when no mailbox is being read. */
    async idle(): Promise<void> {
      await worker.idle();
      await Promise.allSettled(underWay);
    },
    start: worker.start,
    async stop(): Promise<void> {
      const stopped = worker.stop();
      stopper.abort();
      await stopped;
      await Promise.allSettled(underWay);
      stopper = new AbortController();
    },
  };
}

const storeFailure = statement<unknown, [number, string, number]>(
  "UPDATE report_mailboxes SET failed_at = ?, failure = ? WHERE seq = +?",
);
