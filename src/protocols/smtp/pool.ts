/**
 * The connection pool: keeps sessions open per destination for further mails (docs/delivery.md#S6).
 *
 * A mail uses an idle session, opens one if the destination has fewer than its limit, or waits for
 * one (`session-group.ts`). An idle session that turns out to be closed is replaced once by a new one,
 * because servers close idle connections at any time and the mail must not fail for that reason.
 */

import type { Callbacks } from "../../lib/callbacks.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Conversation } from "./conversation.ts";
import { type Delivery, SERVICE_CLOSING } from "./decision.ts";
import type { Begin, Dispatch } from "./dispatch.ts";
import type { Failure } from "./failure.ts";
import type { Place } from "./place.ts";
import type { Session } from "./session.ts";
import { type Destination, SessionGroup } from "./session-group.ts";
import { transact } from "./transaction.ts";

export type PoolOptions = {
  /** Limit per destination. */
  maxConnections: number;
  maxMessages?: number;
  /**
   * True if the commands of the next mail may be sent together with the end of a message. Then a
   * mail begins up to one round trip before its commands leave, so it must not wait for a rate.
   */
  pipelinesMails?: boolean;
  idleMs?: number;
  /** Limit over all destinations, so that many hosts do not use up the file descriptors. */
  maxIdle?: number;
  /** How long `close` waits for mails under way. */
  graceMs?: number;
  /** Measures the idle times; by default the clock of the system. */
  clock?: Clock | undefined;
};

/** How the delivery of a mail to one host ended, and what was said. */
export type HostResult = {
  delivery: Delivery;
  /** Two if a stale session was replaced, none if the pool was closed first. */
  conversations: Conversation[];
};

const POOL_CLOSED: Failure = {
  step: "connect",
  cause: { kind: "closed", message: "no new session: this server is shutting down" },
};

/** A mail may wait behind a message of at most this size on its session. */
const MAX_LEADER_BYTES = 128 * 1024;

const INTERRUPTED = "interrupted: it took too long while other mail needed the connection";

export class Pool {
  readonly #options: Required<Omit<PoolOptions, "clock">>;
  readonly #clock: Clock;
  readonly #destinations = new Map<string, SessionGroup>();
  /** Null while no session is idle. */
  #cancelIdleTimer: (() => void) | null = null;
  #closing: Promise<void> | null = null;
  #onEmpty: () => void = () => {};
  readonly #isClosing = (): boolean => this.#closing !== null;

  constructor({ clock = systemClock, ...options }: PoolOptions) {
    this.#clock = clock;
    this.#options = {
      maxMessages: 100,
      pipelinesMails: false,
      idleMs: 5_000,
      maxIdle: 200,
      graceMs: 2_000,
      ...options,
    };
  }

  /** Rejects only with the error of `dispatch.whenAllowed`. */
  deliver(destination: Destination, dispatch: Dispatch): Promise<HostResult> {
    return new Promise((resolve, reject) => this.send(destination, dispatch, { resolve, reject }));
  }

  /** Like `deliver`, without a promise. */
  send(destination: Destination, dispatch: Dispatch, answer: Callbacks<HostResult>): void {
    if (this.#closing !== null) return answer.resolve(unopened(POOL_CLOSED, []));
    const sessions = this.#sessionsOf(destination);
    sessions.acquire(dispatch.isUrgent === true, (place) => {
      if (place === null) return answer.resolve(unopened(POOL_CLOSED, []));
      const release = () => this.#release(sessions, place.session);
      const { maxMessages, pipelinesMails } = this.#options;
      const isClosing = this.#isClosing;
      new SessionDelivery(place, {
        dispatch,
        sessions,
        maxMessages,
        pipelinesMails,
        isClosing,
        release,
        answer,
      }).start();
    });
  }

  /** True if the destination has an open session, busy or idle. */
  hasSession({ key }: Destination): boolean {
    return this.#destinations.get(key)?.hasUsable ?? false;
  }

  /** Sends QUIT on idle sessions, waits `graceMs` for mails under way, then closes all sessions. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    this.#cancelIdleTimer?.();
    const { promise: empty, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    for (const sessions of this.#destinations.values()) {
      sessions.stopWaiting();
      sessions.quitIdle(0, this.#clock.elapsed());
    }
    const cancelGrace = this.#clock.after(this.#options.graceMs, () => {
      for (const sessions of this.#destinations.values()) sessions.closeAll();
      resolve();
    });
    if (this.#destinations.size > 0) await empty;
    cancelGrace();
  }

  #sessionsOf(destination: Destination): SessionGroup {
    const { key } = destination;
    const known = this.#destinations.get(key);
    if (known !== undefined) return known;
    const sessions = new SessionGroup(
      destination,
      { maxConnections: this.#options.maxConnections, clock: this.#clock },
      () => {
        this.#destinations.delete(key);
        if (this.#destinations.size === 0) this.#onEmpty();
      },
    );
    this.#destinations.set(key, sessions);
    return sessions;
  }

  #release(sessions: SessionGroup, session: Session): void {
    if (!session.isUsable) return sessions.forget(session);
    if (this.#closing !== null || session.messages >= this.#options.maxMessages) {
      return sessions.quit(session);
    }
    if (sessions.passOn(session)) return;
    if (this.#countIdle() >= this.#options.maxIdle) return sessions.quit(session);
    sessions.keepIdle(session);
    this.#cancelIdleTimer ??= this.#clock.after(this.#options.idleMs, () => this.#closeExpired());
  }

  #countIdle(): number {
    let count = 0;
    for (const { idleCount } of this.#destinations.values()) count += idleCount;
    return count;
  }

  #closeExpired(): void {
    this.#cancelIdleTimer = null;
    const now = this.#clock.elapsed();
    let earliest = Infinity;
    for (const sessions of this.#destinations.values()) {
      earliest = Math.min(earliest, sessions.quitIdle(this.#options.idleMs, now));
    }
    if (earliest === Infinity) return;
    const waitMs = Math.ceil(earliest + this.#options.idleMs - now);
    this.#cancelIdleTimer = this.#clock.after(waitMs, () => this.#closeExpired());
  }
}

type SessionDeliveryOptions = {
  dispatch: Dispatch;
  sessions: Pick<SessionGroup, "addFollower" | "replace">;
  /** Largest number of mails of one session. */
  maxMessages: number;
  /** True if the commands of the next mail may be sent together with the end of a message. */
  pipelinesMails: boolean;
  /** True if the pool closes: then no session is replaced, and no mail follows this one. */
  isClosing: () => boolean;
  /** Called when no other mail has a place on the session. */
  release: () => void;
  answer: Callbacks<HostResult>;
};

/**
 * Delivers a mail that has a place on a session: opens the session if it is new, waits until the mail
 * may leave, runs the transaction, and gives the place to the next mail. If a session that was idle
 * turns out to be closed, the mail is sent over a new one instead, once.
 */
class SessionDelivery {
  readonly #place: Place;
  readonly #options: SessionDeliveryOptions;
  /** The result of a session that turned out to be closed; null if there was none. */
  #stale: HostResult | null = null;

  constructor(place: Place, options: SessionDeliveryOptions) {
    this.#place = place;
    this.#options = options;
  }

  start(): void {
    const { signal } = this.#options.dispatch;
    signal?.addEventListener("abort", this.#interrupt);
    if (signal?.aborted === true) this.#interrupt();
    this.#place.onBegin = this.#addFollower;
    this.#open();
  }

  #open(): void {
    const { session } = this.#place;
    if (session.isOpen) return this.#leave();
    void this.#openSession(session);
  }

  async #openSession(session: Session): Promise<void> {
    const failure = await session.open();
    if (failure === null) this.#leave();
    else this.#end(unopened(failure, [session.conversation]));
  }

  #leave(): void {
    const { whenAllowed } = this.#options.dispatch;
    if (whenAllowed === undefined) this.#begin(() => {});
    else whenAllowed(this.#begin, this.#refuse);
  }

  readonly #begin: Begin = (ended) => {
    transact(this.#place, this.#options.dispatch, (delivery, conversation) => {
      try {
        ended();
      } finally {
        this.#end({ delivery, conversations: [conversation] });
      }
    });
  };

  /** The mail was withdrawn before its transaction, so the next mail can use the session. */
  readonly #refuse = (error: unknown): void => {
    try {
      this.#finish();
    } finally {
      this.#options.answer.reject(error);
    }
  };

  #end(result: HostResult): void {
    const { sessions, isClosing, answer } = this.#options;
    const earlier = this.#stale;
    if (earlier === null && isStale(result) && !isClosing()) {
      this.#stale = result;
      sessions.replace(this.#place);
      return this.#open();
    }
    // The next mail begins in between; an error of it must not take this result away.
    try {
      this.#finish();
    } finally {
      answer.resolve(earlier === null ? result : joined(earlier, result));
    }
  }

  #finish(): void {
    this.#options.dispatch.signal?.removeEventListener("abort", this.#interrupt);
    if (this.#place.leave()) this.#options.release();
  }

  readonly #interrupt = (): void => this.#place.session.interrupt(INTERRUPTED);

  readonly #addFollower = (): void => {
    if (this.#mayLead()) this.#options.sessions.addFollower(this.#place);
  };

  /** True if the commands of the next mail may be sent together with the end of this one. */
  #mayLead(): boolean {
    const { dispatch, maxMessages, pipelinesMails, isClosing } = this.#options;
    const { session } = this.#place;
    if (!pipelinesMails || !session.extensions.pipelining || isClosing()) return false;
    // No mail waits behind a large one, and a session that is about to end takes no further mail.
    const isSmall =
      dispatch.message.byteLength <= MAX_LEADER_BYTES && dispatch.signal === undefined;
    return isSmall && session.messages + 1 < maxMessages;
  }
}

function joined(first: HostResult, second: HostResult): HostResult {
  return { ...second, conversations: [...first.conversations, ...second.conversations] };
}

/**
 * True if a reused session failed at its first command. A timeout does not count, because it has
 * used up the time of a second try.
 */
function isStale({ delivery, conversations }: HostResult): boolean {
  if (conversations[0]?.reused !== true) return false;
  if (delivery.kind === "refused") {
    return delivery.step === "mail" && delivery.reply.code === SERVICE_CLOSING;
  }
  if (delivery.kind !== "broken") return false;
  return delivery.failure.step === "mail" && delivery.failure.cause.kind !== "timeout";
}

function unopened(failure: Failure, conversations: Conversation[]): HostResult {
  return { delivery: { kind: "unopened", failure }, conversations };
}
