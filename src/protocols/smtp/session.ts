/**
 * One SMTP session: it is opened, sends one mail after another (`stream.ts`), and ends with QUIT. No
 * method throws.
 *
 * 1. `pool.ts` gives a mail an open session or creates one.
 * 2. `opening.ts` connects (`connect.ts`), reads the greeting, sends EHLO, encrypts and logs in
 *    (`auth.ts`).
 * 3. `envelope.ts` builds the commands of the mail, or finds that the server can never accept it.
 * 4. `stream.ts` sends the commands and the message (`body.ts`).
 * 5. `classify-reply.ts` classifies the reply that decides the outcome.
 *
 * `wire.ts` writes to the socket (`connection.ts`), encrypts it (`tls-handshake.ts`) and reads the
 * replies (`reply.ts`), `dialogue.ts` records each command and reply as a step, and `deadline.ts`
 * limits the time of each step.
 */

import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Conversation, StepListener } from "./conversation.ts";
import { Dialogue } from "./dialogue.ts";
import { type Extensions, NO_EXTENSIONS } from "./extensions.ts";
import type { Failure } from "./failure.ts";
import { openSession, type Route } from "./opening.ts";
import { Stream, type StreamMail, type StreamOwner } from "./stream.ts";
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

  /** The conversation of the opening, or of the latest mail. */
  get conversation(): Conversation {
    return this.#dialogue.conversation;
  }

  /** True until the connection has a fault. */
  get isUsable(): boolean {
    return this.#wire.fault === null;
  }

  async open(): Promise<Failure | null> {
    this.#wire.watch(this.#timeouts.totalMs);
    const opened = await openSession(this.#dialogue, this.#options);
    if ("cause" in opened) {
      this.#wire.close();
      return opened;
    }
    this.#extensions = opened;
    this.#options.onOpen?.();
    return null;
  }

  /** The stream that sends the mails of this session; to be called once, after `open`. */
  stream<M extends StreamMail>(owner: StreamOwner<M>): Stream<M> {
    if (this.#wire.hasInput) this.#wire.breakUnexpected();
    return new Stream(this.#dialogue, this.#extensions, owner);
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
    this.#wire.receiveBy(null);
    // QUIT must not be added to the conversation of the last mail, which is already stored.
    this.#dialogue.conversation = { ...this.#dialogue.conversation, reused: true, steps: [] };
    const timeoutMs = this.#timeouts.quitMs;
    await this.#dialogue.ask({ step: "quit", command: "QUIT", timeoutMs });
  }
}
