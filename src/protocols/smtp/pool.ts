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
import type { Place } from "./place.ts";
import type { Session } from "./session.ts";
import { type Destination, SessionGroup } from "./session-group.ts";
import { SERVICE_CLOSING, transact, type Delivery } from "./transaction.ts";

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
  readonly #options: Required<PoolOptions>;
  readonly #destinations = new Map<string, SessionGroup>();
  #idleTimer: ReturnType<typeof setTimeout> | null = null;
  #closing: Promise<void> | null = null;
  #onEmpty: () => void = () => {};

  constructor(options: PoolOptions) {
    this.#options = {
      maxMessages: 100,
      pipelinesMails: false,
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

    const place = acquired;
    const interrupt = () => place.session.interrupt(INTERRUPTED);
    dispatch.signal?.addEventListener("abort", interrupt);
    if (dispatch.signal?.aborted === true) interrupt();
    place.onBegin = () => {
      if (this.#closing === null && mayLead(place, dispatch, this.#options)) {
        sessions.addFollower(place);
      }
    };
    try {
      const first = await deliverOver(place, dispatch);
      if (!isStale(first) || this.#closing !== null) return first;
      sessions.replace(place);
      const second = await deliverOver(place, dispatch);
      return { ...second, conversations: [...first.conversations, ...second.conversations] };
    } finally {
      dispatch.signal?.removeEventListener("abort", interrupt);
      // If the mail was withdrawn before its transaction, the next mail can use the session.
      if (place.leave()) this.#release(sessions, place.session);
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

  #sessionsOf(destination: Destination): SessionGroup {
    const { key } = destination;
    const known = this.#destinations.get(key);
    if (known !== undefined) return known;
    const sessions = new SessionGroup(destination, this.#options.maxConnections, () => {
      this.#destinations.delete(key);
      if (this.#destinations.size === 0) this.#onEmpty();
    });
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

/** True if the commands of the next mail may be sent together with the end of this one. */
function mayLead(
  { session }: Place,
  { message, signal }: Dispatch,
  options: Required<PoolOptions>,
) {
  if (!options.pipelinesMails || !session.extensions.pipelining) return false;
  // No mail waits behind a large one, and a session that is about to end takes no further mail.
  const isSmall = message.byteLength <= MAX_LEADER_BYTES && signal === undefined;
  return isSmall && session.messages + 1 < options.maxMessages;
}

async function deliverOver(place: Place, dispatch: Dispatch): Promise<HostResult> {
  const { session } = place;
  const failure = session.isOpen ? null : await session.open();
  if (failure !== null) return unopened(failure, [session.conversation]);
  const send = () => transact(place, dispatch);
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
