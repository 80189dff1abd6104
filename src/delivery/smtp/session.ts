/** One SMTP session: opened once, then one mail at a time, then QUIT. It never throws. */

import type { Conversation, Dispatch, StepListener } from "../outcome.ts";
import { Dialogue } from "./dialogue.ts";
import { NO_EXTENSIONS, type Extensions } from "./extensions.ts";
import type { Failure } from "./failure.ts";
import { openSession, type Route } from "./opening.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "./timeouts.ts";
import { transact, type Delivery } from "./transaction.ts";
import { Wire } from "./wire.ts";

export type SessionOptions = Route & {
  timeouts?: Partial<Timeouts> | undefined;
  onStep?: StepListener | undefined;
  /** Called once it takes mail. */
  onOpen?: (() => void) | undefined;
};

export type Sent = { delivery: Delivery; conversation: Conversation };

export class Session {
  readonly #options: SessionOptions;
  readonly #wire = new Wire();
  readonly #dialogue: Dialogue;
  readonly #timeouts: Timeouts;
  #extensions: Extensions = NO_EXTENSIONS;
  #isOpen = false;
  #messages = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
    this.#dialogue = new Dialogue(this.#wire, this.#timeouts, {
      host: options.host,
      address: null,
      port: options.port,
      tls: null,
      reused: false,
      steps: [],
    });
    this.#dialogue.onStep = options.onStep;
  }

  /** What the server offers; without meaning before `open`. */
  get extensions(): Extensions {
    return this.#extensions;
  }

  /** The record of the opening, or of the latest mail. */
  get conversation(): Conversation {
    return this.#dialogue.conversation;
  }

  /** How many mails went through it, whatever became of them. */
  get messages(): number {
    return this.#messages;
  }

  /** False before `open`, and once the connection is gone or about to go. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isUsable(): boolean {
    return this.#isOpen && this.#wire.fault === null;
  }

  /** Called once if the server ends the connection between two mails. */
  set onLost(listener: () => void) {
    this.#wire.onRestBroken = listener;
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
    this.#wire.rest();
    this.#options.onOpen?.();
    return null;
  }

  /** The first mail's conversation begins with the opening; further ones are marked reused. */
  async send(dispatch: Dispatch): Promise<Sent> {
    const dialogue = this.#dialogue;
    if (this.#messages++ > 0) {
      dialogue.conversation = { ...dialogue.conversation, reused: true, steps: [] };
      this.#wire.watch(this.#timeouts.totalMs);
    }
    this.#wire.endRest();
    const delivery = await transact(dialogue, this.#extensions, dispatch);
    if (delivery.kind === "refused" && this.#wire.fault === null) await this.#reset();
    this.#wire.rest();
    return { delivery, conversation: dialogue.conversation };
  }

  /** Says goodbye and closes, whatever the answer (RFC 5321 §4.1.1.10). */
  async quit(): Promise<void> {
    if (this.isUsable) await this.#sayQuit();
    this.close();
  }

  /** Drops the connection because it took too long; a mail on its way ends as broken. */
  interrupt(reason: string): void {
    this.#wire.interrupt(reason);
  }

  /** Drops the connection; a mail on its way ends as broken. */
  close(): void {
    this.#wire.close();
  }

  /** A refused mail leaves no trace for the next one. */
  async #reset(): Promise<void> {
    const timeoutMs = this.#timeouts.resetMs;
    const heard = await this.#dialogue.ask({ step: "rset", command: "RSET", timeoutMs });
    if (heard.kind !== "reply" || heard.code >= 300) this.#wire.close();
  }

  async #sayQuit(): Promise<void> {
    this.#wire.endRest();
    // The last mail's record is out of our hands by now.
    this.#dialogue.conversation = { ...this.#dialogue.conversation, reused: true, steps: [] };
    const timeoutMs = this.#timeouts.quitMs;
    await this.#dialogue.ask({ step: "quit", command: "QUIT", timeoutMs });
  }
}
