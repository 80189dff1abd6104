/**
 * The connection pool: keeps sessions open per destination for further mails (docs/delivery.md#S6).
 *
 * A mail uses an idle session, opens one if the destination has fewer than its limit, or waits for
 * one. An idle session that turns out to be closed is replaced once by a new one, because servers close
 * idle connections at any time and the mail must not fail for that reason.
 */

import { type Clock, systemClock } from "../../lib/clock.ts";
import { endedBefore, type HostResult, isStale, joined, unopened } from "./decision.ts";
import { CLOSED, type Failure, type Fault } from "./failure.ts";
import type { Session } from "./session.ts";
import type { MailObject, Stream, StreamOwner } from "./stream.ts";

export type Destination = {
  /** Sessions of equal key are interchangeable: same host, same TLS, same credentials. */
  key: string;
  connect: () => Session;
};

export type PoolOptions = {
  /** Limit per destination. */
  maxConnections: number;
  maxMessages?: number;
  /** Starts a mail that has an open session when the rate allows it; absent without a rate. */
  pace?: ((task: (ended: () => void) => void, urgency: number) => void) | undefined;
  /**
   * True if the commands of the next mail may be sent together with the end of a message. Never with a
   * rate: then a mail begins up to one round trip before its commands leave.
   */
  pipelinesMails?: boolean;
  idleMs?: number;
  /** Limit over all destinations, so that many hosts do not use up the file descriptors. */
  maxIdle?: number;
  /** The time for which `close` waits for mails under way. */
  graceMs?: number;
  /** Measures the idle times; by default the clock of the system. */
  clock?: Clock | undefined;
};

/** Exactly one of the functions is called, once for each mail; `withdrawn` as `Withdrawn` says. */
export type PoolHandler<O extends MailObject> = {
  ended(object: O, result: HostResult): void;
  withdrawn(object: O): void;
};

const POOL_CLOSED: Failure = {
  step: "connect",
  cause: { kind: "closed", message: "no new session: this server is shutting down" },
};

/** The mail did not begin: `begin` returned false, or it was withdrawn. */
export class Withdrawn extends Error {
  constructor() {
    super("the mail was withdrawn before its transaction");
  }
}

/** A mail may follow a message of at most this size on its session. */
const MAX_LEADER_BYTES = 128 * 1024;
const URGENT = 1;

const INTERRUPTED: Fault = {
  kind: "timeout",
  message: "interrupted: it took too long while other mail needed the connection",
};

/** A mail in the pool, from `send` to its end. */
export class PoolMail {
  readonly object: MailObject;
  readonly handler: PoolHandler<MailObject>;
  /** Its session; null while it waits for one, and after its end. */
  session: OpenSession | null = null;
  /** The result of a session that turned out to be closed; null if there was none. */
  stale: HostResult | null = null;
  isInterrupted = false;
  /** Ends its task of the pace. */
  endTask: () => void = () => {};

  constructor(object: MailObject, handler: PoolHandler<MailObject>) {
    this.object = object;
    this.handler = handler;
  }

  /** Ends its session because other mail needs the connection; the mail ends as broken. */
  interrupt(): void {
    this.isInterrupted = true;
    this.session?.session.interrupt(INTERRUPTED.message);
  }
}

export class Pool {
  readonly #options: Required<Omit<PoolOptions, "clock" | "pace">> & Pick<PoolOptions, "pace">;
  readonly #clock: Clock;
  readonly #destinations = new Map<string, SessionGroup>();
  /** Null while no session is idle. */
  #cancelIdleTimer: (() => void) | null = null;
  #closing: Promise<void> | null = null;
  #onEmpty: () => void = () => {};

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

  send<O extends MailObject>(
    destination: Destination,
    object: O,
    handler: PoolHandler<O>,
  ): PoolMail {
    // The handler gets the object of its own mail back.
    const mail = new PoolMail(object, handler);
    if (this.#closing === null) this.#groupOf(destination).add(mail);
    else handler.ended(object, unopened(POOL_CLOSED, []));
    return mail;
  }

  /** Like `send`, as a promise, which rejects only with `Withdrawn`. `onSend` is called at once. */
  deliver(
    destination: Destination,
    object: MailObject,
    onSend: (mail: PoolMail) => void = () => {},
  ): Promise<HostResult> {
    return new Promise((resolve, reject) => {
      const handler: PoolHandler<MailObject> = {
        ended: (_, result) => resolve(result),
        withdrawn: () => reject(new Withdrawn()),
      };
      onSend(this.send(destination, object, handler));
    });
  }

  /** True if the destination has an open session, busy or idle. */
  hasSession({ key }: Destination): boolean {
    return this.#destinations.get(key)?.hasUsable ?? false;
  }

  /**
   * Withdraws a mail that waits for the pace. Returns false, and does nothing, if it does not wait for
   * it. Its session is free a moment later.
   */
  withdraw(mail: PoolMail): boolean {
    return mail.session?.group.withdraw(mail) ?? false;
  }

  /** Withdraws all mails that have not begun. */
  withdrawWaiting(): void {
    for (const group of this.#destinations.values()) group.withdrawWaiting();
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
    for (const group of this.#destinations.values()) {
      group.endWaiting(unopened(POOL_CLOSED, []));
      group.quitIdle(0, this.#clock.elapsed());
    }
    const cancelGrace = this.#clock.after(this.#options.graceMs, () => {
      for (const group of this.#destinations.values()) group.closeAll();
      resolve();
    });
    if (this.#destinations.size > 0) await empty;
    cancelGrace();
  }

  #groupOf(destination: Destination): SessionGroup {
    const { key } = destination;
    const known = this.#destinations.get(key);
    if (known !== undefined) return known;
    const group = new SessionGroup(destination, this.#options, {
      elapsed: this.#clock.elapsed,
      isClosing: () => this.#closing !== null,
      mayKeepIdle: () => this.#mayKeepIdle(),
      onEmpty: () => {
        this.#destinations.delete(key);
        if (this.#destinations.size === 0) this.#onEmpty();
      },
    });
    this.#destinations.set(key, group);
    return group;
  }

  /** True, and a timer is set, if another session may be idle. */
  #mayKeepIdle(): boolean {
    let count = 0;
    for (const { idleCount } of this.#destinations.values()) count += idleCount;
    if (count >= this.#options.maxIdle) return false;
    this.#cancelIdleTimer ??= this.#clock.after(this.#options.idleMs, () => this.#closeExpired());
    return true;
  }

  #closeExpired(): void {
    this.#cancelIdleTimer = null;
    const now = this.#clock.elapsed();
    let earliest = Infinity;
    for (const group of this.#destinations.values()) {
      earliest = Math.min(earliest, group.quitIdle(this.#options.idleMs, now));
    }
    if (earliest === Infinity) return;
    const waitMs = Math.ceil(earliest + this.#options.idleMs - now);
    this.#cancelIdleTimer = this.#clock.after(waitMs, () => this.#closeExpired());
  }
}

type GroupOptions = Pick<PoolOptions, "pace"> & {
  maxConnections: number;
  maxMessages: number;
  pipelinesMails: boolean;
};

type GroupEvents = {
  elapsed: () => number;
  /** True if the pool closes: then no session is replaced, and no mail follows another. */
  isClosing: () => boolean;
  mayKeepIdle: () => boolean;
  /** Called when the last session is gone. */
  onEmpty: () => void;
};

/** A session of the pool. `stream` is null until it is open. */
type OpenSession = { session: Session; group: SessionGroup; stream: Stream<PoolMail> | null };

/** The sessions of one destination. Invariant: no mail waits while one is idle or can be opened. */
class SessionGroup {
  readonly #destination: Destination;
  readonly #options: GroupOptions;
  readonly #events: GroupEvents;
  /** All sessions: opening, busy, idle, and closing. */
  readonly #all = new Set<OpenSession>();
  /** Sorted by idle time, the longest first. */
  #idle: { open: OpenSession; since: number }[] = [];
  /** The mails that wait for a session, in the order of their arrival. */
  #urgent: PoolMail[] = [];
  #waiting: PoolMail[] = [];
  /** The mails that have a session and wait for the pace. */
  readonly #paced = new Set<PoolMail>();

  constructor(destination: Destination, options: GroupOptions, events: GroupEvents) {
    this.#destination = destination;
    this.#options = options;
    this.#events = events;
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  /** True if a session is open, busy or idle. */
  get hasUsable(): boolean {
    return [...this.#all].some(({ session, stream }) => stream !== null && session.isUsable);
  }

  /** Uses the session with the shortest idle time, so that the others can expire. */
  add(mail: PoolMail): void {
    const idle = this.#idle.pop();
    if (idle !== undefined) this.#use(idle.open, mail);
    else if (this.#all.size < this.#options.maxConnections) this.#open(mail);
    else {
      mail.object.waitsFor = "turn";
      (mail.object.isUrgent === true ? this.#urgent : this.#waiting).push(mail);
    }
  }

  withdraw(mail: PoolMail): boolean {
    if (!this.#paced.delete(mail)) return false;
    // A mail may be withdrawn inside a database transaction, which must not wait for the next mail.
    queueMicrotask(() => this.#giveUp(mail));
    return true;
  }

  withdrawWaiting(): void {
    for (const mail of this.#takeWaiting()) this.#giveUp(mail);
    for (const mail of this.#paced) this.withdraw(mail);
  }

  /** Ends the mails that wait for a session. */
  endWaiting(result: HostResult): void {
    for (const mail of this.#takeWaiting()) this.#answer(mail, result);
  }

  closeAll(): void {
    for (const { session } of this.#all) session.close();
  }

  /**
   * Sends QUIT on the sessions that are idle for at least `idleMs`. Returns the time at which the
   * next one became idle, or Infinity if there is none.
   */
  quitIdle(idleMs: number, now: number): number {
    const firstValid = this.#idle.findIndex(({ since }) => now - since < idleMs);
    const expired = this.#idle.splice(0, firstValid === -1 ? this.#idle.length : firstValid);
    for (const { open } of expired) this.#quit(open);
    return this.#idle[0]?.since ?? Infinity;
  }

  /** Opens a session for a mail. */
  #open(mail: PoolMail): void {
    const session = this.#destination.connect();
    const open: OpenSession = { session, group: this, stream: null };
    this.#all.add(open);
    mail.session = open;
    mail.object.waitsFor = "server";
    if (mail.isInterrupted) session.interrupt(INTERRUPTED.message);
    void this.#useOpened(open, mail);
  }

  async #useOpened(open: OpenSession, mail: PoolMail): Promise<void> {
    const { session } = open;
    const failure = await session.open();
    if (failure !== null) return this.#end(open, mail, unopened(failure, [session.conversation]));
    open.stream = session.stream(this.#ownerOf(open));
    this.#use(open, mail);
  }

  #ownerOf(open: OpenSession): StreamOwner<PoolMail> {
    return {
      takeFollower: (leader) => this.#takeFollower(open, leader),
      ended: (mail, delivery, conversation) =>
        this.#noteEnd(open, mail, { delivery, conversations: [conversation] }),
      returned: (mail) => this.#putBack(open, mail),
      lost: () => {
        if (this.#idle.some((entry) => entry.open === open)) this.#forget(open);
      },
    };
  }

  /** The mail leaves over this session, which is open and free: at once, or when the pace allows it. */
  #use(open: OpenSession, mail: PoolMail): void {
    const { pace } = this.#options;
    mail.session = open;
    if (pace === undefined) return this.#begin(open, mail);
    mail.object.waitsFor = "turn";
    this.#paced.add(mail);
    pace(
      (ended) => {
        // It was withdrawn meanwhile.
        if (!this.#paced.delete(mail)) return ended();
        mail.endTask = ended;
        this.#begin(open, mail);
      },
      mail.object.isUrgent === true ? URGENT : 0,
    );
  }

  #begin(open: OpenSession, mail: PoolMail): void {
    const { session, stream } = open;
    if (mail.object.begin?.() === false) {
      mail.endTask();
      this.#giveUp(mail);
    } else if (mail.isInterrupted)
      this.#noteEnd(open, mail, endedBefore(session.conversation, INTERRUPTED));
    else if (stream !== null && session.isUsable) stream.send(mail);
    // The server closed the session while the mail waited for the pace.
    else this.#noteEnd(open, mail, endedBefore(session.conversation, CLOSED));
  }

  /**
   * The mail whose commands are sent with the end of the leader's message. No mail waits behind a large
   * one; a session that is about to end takes no further mail; and while an urgent mail waits, the
   * session is left free for it.
   */
  #takeFollower(open: OpenSession, { object }: PoolMail): PoolMail | null {
    const { pipelinesMails, maxMessages } = this.#options;
    const messages = open.stream?.messages ?? 0;
    if (!pipelinesMails || messages >= maxMessages || this.#events.isClosing()) return null;
    if (object.message.byteLength > MAX_LEADER_BYTES || this.#urgent.length > 0) return null;
    for (let mail = this.#waiting.shift(); mail !== undefined; mail = this.#waiting.shift()) {
      mail.session = open;
      if (mail.object.begin?.() !== false) return mail;
      this.#answerWithdrawn(mail);
    }
    return null;
  }

  /** The commands of the mail were sent, but nothing was attempted: it is the first of those that wait. */
  #putBack({ session }: OpenSession, mail: PoolMail): void {
    if (this.#events.isClosing())
      return this.#answer(mail, endedBefore(session.conversation, CLOSED));
    mail.session = null;
    (mail.object.isUrgent === true ? this.#urgent : this.#waiting).unshift(mail);
  }

  #noteEnd(open: OpenSession, mail: PoolMail, result: HostResult): void {
    mail.endTask();
    if (mail.stale !== null || !isStale(result) || this.#events.isClosing()) {
      return this.#end(open, mail, result);
    }
    mail.stale = result;
    // In one step, so that no mail that waits can use the place of the session in between.
    open.session.close();
    this.#all.delete(open);
    this.#open(mail);
  }

  /** The next mail begins first; an error of it must not take this result away. */
  #end(open: OpenSession, mail: PoolMail, result: HostResult): void {
    try {
      this.#release(open);
    } finally {
      this.#answer(mail, mail.stale === null ? result : joined(mail.stale, result));
    }
  }

  #answer(mail: PoolMail, result: HostResult): void {
    mail.session = null;
    mail.handler.ended(mail.object, result);
  }

  /** Ends a mail that has not begun, and gives its session to the next one. */
  #giveUp(mail: PoolMail): void {
    const { session } = mail;
    try {
      if (session !== null) this.#release(session);
    } finally {
      this.#answerWithdrawn(mail);
    }
  }

  #answerWithdrawn(mail: PoolMail): void {
    mail.session = null;
    mail.handler.withdrawn(mail.object);
  }

  /** A mail has left its session: the next one gets it. */
  #release(open: OpenSession): void {
    const { session, stream } = open;
    if (stream === null || !session.isUsable) return this.#forget(open);
    if (stream.isBusy) return;
    if (this.#events.isClosing() || stream.messages >= this.#options.maxMessages) {
      return this.#quit(open);
    }
    const next = this.#nextWaiting();
    if (next !== undefined) return this.#use(open, next);
    if (!this.#events.mayKeepIdle()) return this.#quit(open);
    this.#idle.push({ open, since: this.#events.elapsed() });
  }

  /** The place of the session is free only after QUIT, because servers count open connections as well. */
  #quit(open: OpenSession): void {
    void open.session.quit().then(() => this.#forget(open));
  }

  /** Removes a session; a waiting mail gets a new one instead. */
  #forget(open: OpenSession): void {
    if (!this.#all.delete(open)) return;
    this.#idle = this.#idle.filter((entry) => entry.open !== open);
    const next = this.#nextWaiting();
    if (next !== undefined) this.#open(next);
    if (this.#all.size === 0) this.#events.onEmpty();
  }

  /** The urgent mail that has waited longest, or else the other mail that has. */
  #nextWaiting(): PoolMail | undefined {
    return this.#urgent.shift() ?? this.#waiting.shift();
  }

  #takeWaiting(): PoolMail[] {
    const mails = [...this.#urgent, ...this.#waiting];
    this.#urgent = [];
    this.#waiting = [];
    return mails;
  }
}
