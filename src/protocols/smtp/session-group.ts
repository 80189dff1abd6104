/** The sessions of one destination, and the mails that wait for one of them. */

import type { Clock } from "../../lib/clock.ts";
import { Place } from "./place.ts";
import type { Session } from "./session.ts";

export type Destination = {
  /** Sessions of equal key are interchangeable: same host, same TLS, same credentials. */
  key: string;
  connect: () => Session;
};

/** Called with the place that a waiting mail gets, or with null if the pool closes. */
type UsePlace = (place: Place | null) => void;

/** The sessions of one destination. Invariant: no mail waits while one is idle or can be opened. */
export class SessionGroup {
  readonly #destination: Destination;
  readonly #maxConnections: number;
  readonly #clock: Clock;
  /** Called when the last session is gone. */
  readonly #onEmpty: () => void;
  /** All sessions: opening, busy, idle, and closing. */
  readonly #all = new Set<Session>();
  /** Sorted by idle time, the longest first. */
  #idle: { session: Session; since: number }[] = [];
  /** Urgent mails that wait, in the order of their arrival. */
  readonly #urgent: UsePlace[] = [];
  /** The other mails that wait. */
  readonly #waiting: UsePlace[] = [];

  constructor(
    destination: Destination,
    { maxConnections, clock }: { maxConnections: number; clock: Clock },
    onEmpty: () => void,
  ) {
    this.#destination = destination;
    this.#maxConnections = maxConnections;
    this.#clock = clock;
    this.#onEmpty = onEmpty;
  }

  get idleCount(): number {
    return this.#idle.length;
  }

  /** True if a session is open, busy or idle. */
  get hasUsable(): boolean {
    return [...this.#all].some(({ isUsable }) => isUsable);
  }

  /**
   * Calls `use` with a place on a session, at once or when one is free. It takes the session with the
   * shortest idle time, so that the others can expire.
   */
  acquire(isUrgent: boolean, use: UsePlace): void {
    const idle = this.#idle.pop();
    if (idle !== undefined) use(new Place(idle.session));
    else if (this.#all.size < this.#maxConnections) use(new Place(this.#create()));
    else (isUrgent ? this.#urgent : this.#waiting).push(use);
  }

  /**
   * Replaces the session of a mail in one step, so that no waiting mail can use its slot in between.
   */
  replace(place: Place): void {
    place.session.close();
    this.#all.delete(place.session);
    place.move(this.#create());
  }

  /**
   * Gives the place after `place` to the mail that has waited longest. While an urgent mail waits, the
   * session is left free for it instead.
   */
  addFollower(place: Place): void {
    if (this.#urgent.length === 0 && !place.hasNext) this.#waiting.shift()?.(place.addNext());
  }

  /** Gives a session to the mail that comes next. Returns false if no mail waits. */
  passOn(session: Session): boolean {
    const next = this.#nextWaiting();
    next?.(new Place(session));
    return next !== undefined;
  }

  keepIdle(session: Session): void {
    this.#idle.push({ session, since: this.#clock.elapsed() });
  }

  /** The slot is free only after QUIT, because servers count open connections as well. */
  quit(session: Session): void {
    void session.quit().then(() => this.forget(session));
  }

  /** Removes a session; a waiting mail gets a new one instead. */
  forget(session: Session): void {
    if (!this.#all.delete(session)) return;
    this.#idle = this.#idle.filter((entry) => entry.session !== session);
    const next = this.#nextWaiting();
    next?.(new Place(this.#create()));
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
  #nextWaiting(): UsePlace | undefined {
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
