/**
 * Open sessions, kept per destination for the mails that follow (delivery rule S6).
 *
 * A mail takes an idle session, opens one while the destination has room, or waits for its turn. A
 * kept session that turns out dead before it took anything is replaced once by a fresh one: servers
 * close idle connections at will, and that is not the mail's misfortune.
 */

import { systemClock } from "../../lib/clock.ts";
import type { Conversation, Dispatch } from "../outcome.ts";
import type { Failure } from "./failure.ts";
import type { Session } from "./session.ts";
import { SERVICE_CLOSING, type Delivery } from "./transaction.ts";

export type Destination = {
  /** Sessions of equal key are interchangeable: same host, same TLS, same credentials. */
  key: string;
  connect: () => Session;
};

export type PoolOptions = {
  /** Per destination. */
  maxConnections: number;
  maxMessages?: number;
  idleMs?: number;
  /** Over all destinations: thousands of hosts in a minute must not use up the file descriptors. */
  maxIdle?: number;
  /** How long `close` lets mails under way finish. */
  graceMs?: number;
};

export type PoolDelivery = {
  delivery: Delivery | { kind: "unopened"; failure: Failure };
  /** Two where a stale session was replaced, none if the pool closed first. */
  conversations: Conversation[];
};

/** The sessions of one destination. Invariant: nobody waits while one is idle or could be made. */
type Lane = {
  destination: Destination;
  /** All there are: opening, busy, idle, saying goodbye. */
  sessions: Set<Session>;
  /** Longest idle first. */
  idle: { session: Session; since: number }[];
  /** Called with a session of their own, null if the pool closes. */
  waiting: ((session: Session | null) => void)[];
};

const POOL_CLOSED: Failure = {
  step: "connect",
  cause: { kind: "closed", message: "no new session: we are closing" },
};

const INTERRUPTED = "given up: it took too long while other mail needed the connection";

export class Pool {
  readonly #options: Required<PoolOptions>;
  readonly #lanes = new Map<string, Lane>();
  #sweeper: ReturnType<typeof setTimeout> | null = null;
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

  async deliver(destination: Destination, dispatch: Dispatch): Promise<PoolDelivery> {
    if (this.#closing !== null) return unopened(POOL_CLOSED, []);
    const lane = this.#laneOf(destination);
    const taken = await this.#take(lane);
    if (taken === null) return unopened(POOL_CLOSED, []);

    let session = taken;
    const interrupt = () => session.interrupt(INTERRUPTED);
    dispatch.signal?.addEventListener("abort", interrupt);
    if (dispatch.signal?.aborted === true) interrupt();
    try {
      const first = await deliverOver(session, dispatch);
      if (!isStale(first) || this.#closing !== null) return first;
      session = this.#replace(lane, session);
      const second = await deliverOver(session, dispatch);
      return { ...second, conversations: [...first.conversations, ...second.conversations] };
    } finally {
      dispatch.signal?.removeEventListener("abort", interrupt);
      // A mail that was withdrawn at its turn leaves the session to the next one.
      this.#giveBack(lane, session);
    }
  }

  /** There is one that takes mail, busy or not. */
  hasSession({ key }: Destination): boolean {
    return [...(this.#lanes.get(key)?.sessions ?? [])].some(({ isUsable }) => isUsable);
  }

  /** QUIT on idle sessions; mails under way have a short grace, then their sessions are dropped. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    if (this.#sweeper !== null) clearTimeout(this.#sweeper);
    const { promise: empty, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    for (const lane of this.#lanes.values()) {
      for (const stopWaiting of lane.waiting.splice(0)) stopWaiting(null);
      for (const { session } of lane.idle.splice(0)) this.#retire(lane, session);
    }
    const grace = setTimeout(() => {
      this.#dropAll();
      resolve();
    }, this.#options.graceMs);
    if (this.#lanes.size > 0) await empty;
    clearTimeout(grace);
  }

  #laneOf(destination: Destination): Lane {
    const known = this.#lanes.get(destination.key);
    if (known !== undefined) return known;
    const lane: Lane = { destination, sessions: new Set(), idle: [], waiting: [] };
    this.#lanes.set(destination.key, lane);
    return lane;
  }

  /** The session idle for the shortest time: the others may go. */
  #take(lane: Lane): Session | Promise<Session | null> {
    const idle = lane.idle.pop();
    if (idle !== undefined) return idle.session;
    if (lane.sessions.size < this.#options.maxConnections) return this.#make(lane);
    return new Promise((resolve) => lane.waiting.push(resolve));
  }

  #make(lane: Lane): Session {
    const session = lane.destination.connect();
    session.onLost = () => this.#forget(lane, session);
    lane.sessions.add(session);
    return session;
  }

  /** Keeps the place of the old session, so that nobody waiting takes it in between. */
  #replace(lane: Lane, stale: Session): Session {
    stale.close();
    lane.sessions.delete(stale);
    return this.#make(lane);
  }

  #giveBack(lane: Lane, session: Session): void {
    if (!session.isUsable) return this.#forget(lane, session);
    if (this.#closing !== null || session.messages >= this.#options.maxMessages) {
      return this.#retire(lane, session);
    }
    const next = lane.waiting.shift();
    if (next !== undefined) return next(session);
    if (this.#countIdle() >= this.#options.maxIdle) return this.#retire(lane, session);
    lane.idle.push({ session, since: systemClock.elapsed() });
    this.#sweeper ??= setTimeout(() => this.#sweep(), this.#options.idleMs);
  }

  #countIdle(): number {
    let count = 0;
    for (const { idle } of this.#lanes.values()) count += idle.length;
    return count;
  }

  /** The place is free only after the goodbye: servers count connections as well. */
  #retire(lane: Lane, session: Session): void {
    void session.quit().then(() => this.#forget(lane, session));
  }

  #forget(lane: Lane, session: Session): void {
    if (!lane.sessions.delete(session)) return;
    lane.idle = lane.idle.filter((entry) => entry.session !== session);
    lane.waiting.shift()?.(this.#make(lane));
    if (lane.sessions.size > 0) return;
    this.#lanes.delete(lane.destination.key);
    if (this.#lanes.size === 0) this.#onEmpty();
  }

  #sweep(): void {
    this.#sweeper = null;
    const now = systemClock.elapsed();
    let earliest = Infinity;
    for (const lane of this.#lanes.values()) {
      const kept = lane.idle.findIndex((entry) => now - entry.since < this.#options.idleMs);
      const expired = lane.idle.splice(0, kept === -1 ? lane.idle.length : kept);
      for (const { session } of expired) this.#retire(lane, session);
      earliest = Math.min(earliest, lane.idle[0]?.since ?? Infinity);
    }
    if (earliest === Infinity) return;
    const waitMs = Math.ceil(earliest + this.#options.idleMs - now);
    this.#sweeper = setTimeout(() => this.#sweep(), waitMs);
  }

  #dropAll(): void {
    for (const lane of this.#lanes.values()) {
      for (const session of lane.sessions) session.close();
    }
  }
}

async function deliverOver(session: Session, dispatch: Dispatch): Promise<PoolDelivery> {
  const failure = session.isOpen ? null : await session.open();
  if (failure !== null) return unopened(failure, [session.conversation]);
  const transact = () => session.send(dispatch);
  const { leave } = dispatch;
  const { delivery, conversation } = await (leave === undefined ? transact() : leave(transact));
  return { delivery, conversations: [conversation] };
}

/**
 * A kept session failed at its first command. Silence does not count: it has used up the time a
 * second try would need.
 */
function isStale({ delivery, conversations }: PoolDelivery): boolean {
  if (conversations[0]?.reused !== true) return false;
  if (delivery.kind === "refused") {
    return delivery.step === "mail" && delivery.reply.code === SERVICE_CLOSING;
  }
  if (delivery.kind !== "broken") return false;
  return delivery.failure.step === "mail" && delivery.failure.cause.kind !== "timeout";
}

function unopened(failure: Failure, conversations: Conversation[]): PoolDelivery {
  return { delivery: { kind: "unopened", failure }, conversations };
}
