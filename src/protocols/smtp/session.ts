/**
 * One SMTP session: it is opened, is used for one mail after another (`transact`), and ends with
 * QUIT. No method throws.
 *
 * 1. `pool.ts` gives a mail an open session or creates one.
 * 2. `opening.ts` connects (`connect.ts`), reads the greeting, sends EHLO, encrypts and logs in
 *    (`auth.ts`).
 * 3. `envelope.ts` builds the commands of the mail, or finds that the server can never accept it.
 * 4. `transaction.ts` sends the commands and the message (`body.ts`).
 * 5. `classify-reply.ts` classifies the reply that decides the outcome.
 *
 * `wire.ts` writes to the socket (`connection.ts`), encrypts it (`tls-handshake.ts`) and reads the
 * replies (`reply.ts`), `dialogue.ts` records each command and reply as a step, and `deadline.ts`
 * limits the time of each step.
 */

import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Conversation, StepListener } from "./conversation.ts";
import { Dialogue } from "./dialogue.ts";
import { NO_EXTENSIONS, type Extensions } from "./extensions.ts";
import type { Failure } from "./failure.ts";
import { openSession, type Route } from "./opening.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "./timeouts.ts";
import { Wire } from "./wire.ts";

export type SessionOptions = Route & {
  timeouts?: Partial<Timeouts> | undefined;
  /** Measures the steps and their timeouts; by default the clock of the system. */
  clock?: Clock | undefined;
  onStep?: StepListener | undefined;
  /** Called once the session is ready for mail. */
  onOpen?: (() => void) | undefined;
};

export class Session {
  readonly #options: SessionOptions;
  readonly #wire: Wire;
  readonly #dialogue: Dialogue;
  readonly #timeouts: Timeouts;
  #extensions: Extensions = NO_EXTENSIONS;
  #isOpen = false;
  #messages = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
    const { host, port, clock = systemClock } = options;
    this.#wire = new Wire(clock);
    this.#dialogue = new Dialogue(
      { wire: this.#wire, timeouts: this.#timeouts, clock },
      { host, address: null, port, tls: null, reused: false, steps: [] },
    );
    this.#dialogue.onStep = options.onStep;
  }

  /** The extensions that the server offers; not meaningful before `open`. */
  get extensions(): Extensions {
    return this.#extensions;
  }

  /** The conversation of the opening, or of the latest mail. */
  get conversation(): Conversation {
    return this.#dialogue.conversation;
  }

  /** Number of mails sent over this session, including failed ones. */
  get messages(): number {
    return this.#messages;
  }

  /** True after a successful `open`. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** True if the session is open and the connection has no fault. */
  get isUsable(): boolean {
    return this.#isOpen && this.#wire.fault === null;
  }

  /** Sets a listener that is called once if the server closes the connection between two mails. */
  set onLost(listener: () => void) {
    this.#wire.onIdleBroken = listener;
  }

  async open(): Promise<Failure | null> {
    this.#wire.watch(this.#timeouts.totalMs);
    const opened = await openSession(this.#dialogue, this.#options);
    if ("cause" in opened) {
      this.#wire.close();
      return opened;
    }
    this.#extensions = opened;
    this.#isOpen = true;
    this.#wire.beginIdle();
    this.#options.onOpen?.();
    return null;
  }

  /**
   * Starts the conversation of the next mail. The first one includes the opening; the others are
   * marked as reused.
   */
  beginMail(): Dialogue {
    if (this.#messages++ > 0) {
      this.#dialogue.conversation = { ...this.#dialogue.conversation, reused: true, steps: [] };
      this.#wire.watch(this.#timeouts.totalMs);
    }
    this.#wire.endIdle();
    return this.#dialogue;
  }

  /** Ends the conversation of a mail: the session waits for the next one. */
  endMail(): void {
    this.#wire.beginIdle();
  }

  /** Sends QUIT and closes the connection after any answer (RFC 5321 §4.1.1.10). */
  async quit(): Promise<void> {
    if (this.isUsable) await this.#sendQuit();
    this.close();
  }

  /** Closes the connection because it took too long; a mail under way ends as broken. */
  interrupt(reason: string): void {
    this.#wire.close({ kind: "timeout", message: reason });
  }

  /** Closes the connection; a mail under way ends as broken. */
  close(): void {
    this.#wire.close();
  }

  async #sendQuit(): Promise<void> {
    this.#wire.endIdle();
    // QUIT must not be added to the conversation of the last mail, which is already stored.
    this.#dialogue.conversation = { ...this.#dialogue.conversation, reused: true, steps: [] };
    const timeoutMs = this.#timeouts.quitMs;
    await this.#dialogue.ask({ step: "quit", command: "QUIT", timeoutMs });
  }
}
