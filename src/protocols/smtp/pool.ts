/**
 * The connection pool: keeps sessions open per destination for further mails (docs/delivery.md#S6).
 *
 * A mail uses an idle session, opens one if the destination has fewer than its limit, or waits for
 * one. An idle session that turns out to be closed is replaced once by a new one, because servers
 * close idle connections at any time and the mail must not fail for that reason.
 */

import { systemClock } from "../../lib/clock.ts";
import type { Dispatch } from "./dispatch.ts";
import type { Conversation } from "./conversation.ts";
import type { Failure } from "./failure.ts";
import type { Session } from "./session.ts";
import { SERVICE_CLOSING, transact, type Delivery } from "./transaction.ts";

export type Destination = {
  /** Sessions of equal key are interchangeable: same host, same TLS, same credentials. */
  key: string;
  connect: () => Session;
};

export type PoolOptions = {
  /** Limit per destination. */
  maxConnections: number;
  maxMessages?: number;
  idleMs?: number;
  /** Limit over all destinations, so that many hosts do not use up the file descriptors. */
  maxIdle?: number;
  /** How long `close` waits for mails under way. */
  graceMs?: number;
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

const INTERRUPTED = "interrupted: it took too long while other mail needed the connection";

export class Pool {
  readonly #options: Required<PoolOptions>;
  readonly #destinations = new Map<string, Sessions>();
  #idleTimer: ReturnType<typeof setTimeout> | null = null;
  #closing: Promise<void> | null = null;
  #onEmpty: () => void = () => {};

  constructor(options: PoolOptions) {
    this.#options = {
      maxMessages: 100,
      idleMs: 5_000,
      maxIdle: 200,
      graceMs: 2_000,
      ...options,
    };
  }

  async deliver(destination: Destination, dispatch: Dispatch): Promise<HostResult> {
    if (this.#closing !== null) return unopened(POOL_CLOSED, []);
    const sessions = this.#sessionsOf(destination);
    const acquired = await sessions.acquire(dispatch.isUrgent === true);
    if (acquired === null) return unopened(POOL_CLOSED, []);

    let session = acquired;
    const interrupt = () => session.interrupt(INTERRUPTED);
    dispatch.signal?.addEventListener("abort", interrupt);
    if (dispatch.signal?.aborted === true) interrupt();
    try {
      const first = await deliverOver(session, dispatch);
      if (!isStale(first) || this.#closing !== null) return first;
      session = sessions.replace(session);
      const second = await deliverOver(session, dispatch);
      return { ...second, conversations: [...first.conversations, ...second.conversations] };
    } finally {
      dispatch.signal?.removeEventListener("abort", interrupt);
      // If the mail was withdrawn before its transaction, the next mail can use the session.
      this.#release(sessions, session);
    }
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
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    const { promise: empty, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    for (const sessions of this.#destinations.values()) {
      sessions.stopWaiting();
      sessions.quitIdle(0, systemClock.elapsed());
    }
    const grace = setTimeout(() => {
      for (const sessions of this.#destinations.values()) sessions.closeAll();
      resolve();
    }, this.#options.graceMs);
    if (this.#destinations.size > 0) await empty;
    clearTimeout(grace);
  }

  #sessionsOf(destination: Destination): Sessions {
    const { key } = destination;
    const known = this.#destinations.get(key);
    if (known !== undefined) return known;
    const sessions = new Sessions(destination, this.#options.maxConnections, () => {
      this.#destinations.delete(key);
      if (this.#destinations.size === 0) this.#onEmpty();
    });
    this.#destinations.set(key, sessions);
    return sessions;
  }

  #release(sessions: Sessions, session: Session): void {
    if (!session.isUsable) return sessions.forget(session);
    if (this.#closing !== null || session.messages >= this.#options.maxMessages) {
      return sessions.quit(session);
    }
    if (sessions.passOn(session)) return;
    if (this.#countIdle() >= this.#options.maxIdle) return sessions.quit(session);
    sessions.keepIdle(session);
    this.#idleTimer ??= setTimeout(() => this.#closeExpired(), this.#options.idleMs);
  }

  #countIdle(): number {
    let count = 0;
    for (const { idleCount } of this.#destinations.values()) count += idleCount;
    return count;
  }

  #closeExpired(): void {
    this.#idleTimer = null;
    const now = systemClock.elapsed();
    let earliest = Infinity;
    for (const sessions of this.#destinations.values()) {
      earliest = Math.min(earliest, sessions.quitIdle(this.#options.idleMs, now));
    }
    if (earliest === Infinity) return;
    const waitMs = Math.ceil(earliest + this.#options.idleMs - now);
    this.#idleTimer = setTimeout(() => this.#closeExpired(), waitMs);
  }
}

/** Called with the session that a waiting mail gets, or with null if the pool closes. */
type Waiting = (session: Session | null) => void;

/** The sessions of one destination. Invariant: no mail waits while one is idle or can be opened. */
class Sessions {
  readonly #destination: Destination;
  readonly #maxConnections: number;
  /** Called when the last session is gone. */
  readonly #onEmpty: () => void;
  /** All sessions: opening, busy, idle, and closing. */
  readonly #all = new Set<Session>();
  /** Sorted by idle time, the longest first. */
  #idle: { session: Session; since: number }[] = [];
  /** Urgent mails that wait, in the order of their arrival. */
  readonly #urgent: Waiting[] = [];
  /** The other mails that wait. */
  readonly #waiting: Waiting[] = [];

  constructor(destination: Destination, maxConnections: number, onEmpty: () => void) {
    this.#destination = destination;
    this.#maxConnections = maxConnections;
    this.#onEmpty = onEmpty;
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  /** True if a session is open, busy or idle. */
  get hasUsable(): boolean {
    return [...this.#all].some(({ isUsable }) => isUsable);
  }

  /** Uses the session with the shortest idle time, so that the others can expire. */
  acquire(isUrgent: boolean): Session | Promise<Session | null> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle.session;
    if (this.#all.size < this.#maxConnections) return this.#create();
    return new Promise((resolve) => (isUrgent ? this.#urgent : this.#waiting).push(resolve));
  }

  /** Replaces a session in one step, so that no waiting mail can use its slot in between. */
  replace(stale: Session): Session {
    stale.close();
    this.#all.delete(stale);
    return this.#create();
  }

  /** Gives a session to the mail that comes next. Returns false if no mail waits. */
  passOn(session: Session): boolean {
    const next = this.#nextWaiting();
    next?.(session);
    return next !== undefined;
  }

  keepIdle(session: Session): void {
    this.#idle.push({ session, since: systemClock.elapsed() });
  }

  /** The slot is free only after QUIT, because servers count open connections as well. */
  quit(session: Session): void {
    void session.quit().then(() => this.forget(session));
  }

  /** Removes a session; a waiting mail gets a new one instead. */
  forget(session: Session): void {
    if (!this.#all.delete(session)) return;
    this.#idle = this.#idle.filter((entry) => entry.session !== session);
    this.#nextWaiting()?.(this.#create());
    if (this.#all.size === 0) this.#onEmpty();
  }

  /**
   * Sends QUIT on the sessions that are idle for at least `idleMs`. Returns the time at which the
   * next one became idle, or Infinity if there is none.
   */
  quitIdle(idleMs: number, now: number): number {
    const firstValid = this.#idle.findIndex(({ since }) => now - since < idleMs);
    const expired = this.#idle.splice(0, firstValid === -1 ? this.#idle.length : firstValid);
    for (const { session } of expired) this.quit(session);
    return this.#idle[0]?.since ?? Infinity;
  }

  /** Ends the wait of all mails without a session. */
  stopWaiting(): void {
    for (const stop of [...this.#urgent.splice(0), ...this.#waiting.splice(0)]) stop(null);
  }

  closeAll(): void {
    for (const session of this.#all) session.close();
  }

  /** The urgent mail that has waited longest, or else the other mail that has. */
  #nextWaiting(): Waiting | undefined {
    return this.#urgent.shift() ?? this.#waiting.shift();
  }

  #create(): Session {
    const session = this.#destination.connect();
    // A session that a mail holds, even while it waits for the pace, is released by that mail.
    session.onLost = () => {
      if (this.#idle.some((entry) => entry.session === session)) this.forget(session);
    };
    this.#all.add(session);
    return session;
  }
}

async function deliverOver(session: Session, dispatch: Dispatch): Promise<HostResult> {
  const failure = session.isOpen ? null : await session.open();
  if (failure !== null) return unopened(failure, [session.conversation]);
  const send = () => transact(session, dispatch);
  const { whenAllowed: leave } = dispatch;
  const { delivery, conversation } = await (leave === undefined ? send() : leave(send));
  return { delivery, conversations: [conversation] };
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
