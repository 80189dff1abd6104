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
import { SERVICE_CLOSING, type Delivery } from "./transaction.ts";

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

/** The sessions of one destination. Invariant: no mail waits while one is idle or can be opened. */
type Sessions = {
  destination: Destination;
  /** All sessions: opening, busy, idle, and closing. */
  all: Set<Session>;
  /** Sorted by idle time, the longest first. */
  idle: { session: Session; since: number }[];
  /** Mails that wait: called with a session, or with null if the pool closes. */
  waiting: ((session: Session | null) => void)[];
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
    const acquired = await this.#acquire(sessions);
    if (acquired === null) return unopened(POOL_CLOSED, []);

    let session = acquired;
    const interrupt = () => session.interrupt(INTERRUPTED);
    dispatch.signal?.addEventListener("abort", interrupt);
    if (dispatch.signal?.aborted === true) interrupt();
    try {
      const first = await deliverOver(session, dispatch);
      if (!isStale(first) || this.#closing !== null) return first;
      session = this.#replace(sessions, session);
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
    return [...(this.#destinations.get(key)?.all ?? [])].some(({ isUsable }) => isUsable);
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
      for (const stopWaiting of sessions.waiting.splice(0)) stopWaiting(null);
      for (const { session } of sessions.idle.splice(0)) this.#quit(sessions, session);
    }
    const grace = setTimeout(() => {
      this.#closeAll();
      resolve();
    }, this.#options.graceMs);
    if (this.#destinations.size > 0) await empty;
    clearTimeout(grace);
  }

  #sessionsOf(destination: Destination): Sessions {
    const known = this.#destinations.get(destination.key);
    if (known !== undefined) return known;
    const sessions: Sessions = { destination, all: new Set(), idle: [], waiting: [] };
    this.#destinations.set(destination.key, sessions);
    return sessions;
  }

  /** Uses the session with the shortest idle time, so that the others can expire. */
  #acquire(sessions: Sessions): Session | Promise<Session | null> {
    const idle = sessions.idle.pop();
    if (idle !== undefined) return idle.session;
    if (sessions.all.size < this.#options.maxConnections) return this.#create(sessions);
    return new Promise((resolve) => sessions.waiting.push(resolve));
  }

  #create(sessions: Sessions): Session {
    const session = sessions.destination.connect();
    session.onLost = () => this.#forget(sessions, session);
    sessions.all.add(session);
    return session;
  }

  /** Replaces a session in one step, so that no waiting mail can use its slot in between. */
  #replace(sessions: Sessions, stale: Session): Session {
    stale.close();
    sessions.all.delete(stale);
    return this.#create(sessions);
  }

  #release(sessions: Sessions, session: Session): void {
    if (!session.isUsable) return this.#forget(sessions, session);
    if (this.#closing !== null || session.messages >= this.#options.maxMessages) {
      return this.#quit(sessions, session);
    }
    const next = sessions.waiting.shift();
    if (next !== undefined) return next(session);
    if (this.#countIdle() >= this.#options.maxIdle) return this.#quit(sessions, session);
    sessions.idle.push({ session, since: systemClock.elapsed() });
    this.#idleTimer ??= setTimeout(() => this.#closeExpired(), this.#options.idleMs);
  }

  #countIdle(): number {
    let count = 0;
    for (const { idle } of this.#destinations.values()) count += idle.length;
    return count;
  }

  /** The slot is free only after QUIT, because servers count open connections as well. */
  #quit(sessions: Sessions, session: Session): void {
    void session.quit().then(() => this.#forget(sessions, session));
  }

  #forget(sessions: Sessions, session: Session): void {
    if (!sessions.all.delete(session)) return;
    sessions.idle = sessions.idle.filter((entry) => entry.session !== session);
    sessions.waiting.shift()?.(this.#create(sessions));
    if (sessions.all.size > 0) return;
    this.#destinations.delete(sessions.destination.key);
    if (this.#destinations.size === 0) this.#onEmpty();
  }

  #closeExpired(): void {
    this.#idleTimer = null;
    const now = systemClock.elapsed();
    let earliest = Infinity;
    for (const sessions of this.#destinations.values()) {
      const firstValid = sessions.idle.findIndex(
        (entry) => now - entry.since < this.#options.idleMs,
      );
      const expired = sessions.idle.splice(
        0,
        firstValid === -1 ? sessions.idle.length : firstValid,
      );
      for (const { session } of expired) this.#quit(sessions, session);
      earliest = Math.min(earliest, sessions.idle[0]?.since ?? Infinity);
    }
    if (earliest === Infinity) return;
    const waitMs = Math.ceil(earliest + this.#options.idleMs - now);
    this.#idleTimer = setTimeout(() => this.#closeExpired(), waitMs);
  }

  #closeAll(): void {
    for (const sessions of this.#destinations.values()) {
      for (const session of sessions.all) session.close();
    }
  }
}

async function deliverOver(session: Session, dispatch: Dispatch): Promise<HostResult> {
  const failure = session.isOpen ? null : await session.open();
  if (failure !== null) return unopened(failure, [session.conversation]);
  const transact = () => session.send(dispatch);
  const { whenAllowed: leave } = dispatch;
  const { delivery, conversation } = await (leave === undefined ? transact() : leave(transact));
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
