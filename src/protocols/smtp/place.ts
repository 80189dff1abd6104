/**
 * The place of a mail on a session. Usually the mail is alone on it. With PIPELINING a second mail
 * may get the place after the one under way: its commands are then sent together with the end of
 * that message (RFC 2920 §3.1), which saves a round trip and a write for each mail.
 */

import type { Session } from "./session.ts";

export class Place {
  #session: Session;
  #before: Place | null;
  #next: Place | null = null;
  #hasEnded = false;
  /** Begins the next mail when this one has ended; null if it does not wait yet. */
  #beginNext: (() => void) | null = null;
  #commands: string | null = null;
  /** True if the mail before has sent them. */
  areCommandsSent = false;
  /** Called when the mail begins: no other mail is under way on the session. */
  onBegin: () => void = () => {};

  constructor(session: Session, before: Place | null = null) {
    this.#session = session;
    this.#before = before;
  }

  get session(): Session {
    return this.#session;
  }

  /**
   * Calls `begin` when the mail before has ended, at once if there is none. Meanwhile that mail may
   * send `commands`, those of this mail, with the end of its message.
   */
  whenFirst(commands: string | null, begin: () => void): void {
    if (this.#isFirst || this.#before === null) return begin();
    this.#commands = commands;
    this.#before.#beginNext = begin;
  }

  /** True if no other mail is under way on the session. */
  get #isFirst(): boolean {
    return this.#before === null || this.#before.#hasEnded;
  }

  /** True if another mail has the place after this one. */
  get hasNext(): boolean {
    return this.#next !== null;
  }

  /** Creates the place after this one, which must not have one yet. */
  addNext(): Place {
    this.#next = new Place(this.#session, this);
    return this.#next;
  }

  /** Moves this mail and the next one to another session. */
  move(session: Session): void {
    this.#session = session;
    this.areCommandsSent = false;
    if (this.#next !== null) this.#next.#session = session;
  }

  /**
   * The commands of the next mail, which the caller sends at once; null if there are none. From then
   * on, the server may answer them as soon as it has answered the end of this message.
   */
  takeNextCommands(): string | null {
    const next = this.#next;
    if (next === null || next.#commands === null) return null;
    next.areCommandsSent = true;
    return next.#commands;
  }

  /** True if the commands of the next mail were sent. */
  get isFollowed(): boolean {
    return this.#next?.areCommandsSent === true;
  }

  /**
   * Ends this place, and begins the next mail. True if no other mail has a place on the session, so
   * that it is free.
   */
  leave(): boolean {
    const isFirst = this.#isFirst;
    // The mail was withdrawn while the one before is still under way.
    if (!isFirst && this.#before !== null) {
      this.#before.#next = null;
      this.#before.#beginNext = null;
    }
    this.#before = null;
    this.#hasEnded = true;
    const isFree = isFirst && this.#next === null;
    this.#beginNext?.();
    return isFree;
  }
}
