/**
 * An open session that sends one mail after another (RFC 5321 §3.3): MAIL, RCPT, DATA, the message, the
 * final dot. It is a state machine that each reply of the server moves on; there is no promise, closure
 * or timer for a mail. `decision.ts` says what each reply decides.
 *
 * If the server offers PIPELINING, the commands of a mail are sent together (RFC 2920), those of the next
 * mail even with the end of the message of this one, which saves a round trip and a write for each mail.
 */

import { TAILROOM_BYTES } from "../mime/tailroom.ts";
import { finalBlock, isLarge, leadingBlocks } from "./body.ts";
import type { Conversation } from "./conversation.ts";
import {
  type DecisiveStep,
  type Delivery,
  endsSession,
  findProblem,
  isExpected,
  isRefusal,
  problemOf,
} from "./decision.ts";
import type { Dialogue } from "./dialogue.ts";
import { planEnvelope, type Plan } from "./envelope.ts";
import type { Extensions } from "./extensions.ts";
import type { Fault } from "./failure.ts";
import type { Reply } from "./reply.ts";

/** A mail object (RFC 5321 §2.3.1): its envelope and its content. */
export type MailObject = {
  readonly envelope: { readonly from: string; readonly to: string };
  /** The message with CRLF line ends, without dot-stuffing. */
  readonly message: Uint8Array;
  /**
   * True if no line of the message begins with a dot, its last line has its end, and its buffer has
   * `TAILROOM_BYTES` free octets after it, so that the message need not be copied.
   */
  readonly hasTailroom?: boolean | undefined;
  /** True for a message that has 8-bit octets, which the server must accept (RFC 6152). */
  readonly isEightBit?: boolean | undefined;
  /** True for transactional mail: it gets a session before all mails that are not urgent. */
  readonly isUrgent?: boolean | undefined;
  /**
   * Called directly before its commands are sent. Returns false if it must not be sent now. It is called
   * again if the session ended before the mail was attempted. It must not throw.
   */
  begin?(): boolean;
  /** The pool sets it: "server" while a session is opened for the mail, "turn" while it waits. */
  waitsFor?: "turn" | "server";
};

/** A mail of the pool. */
export type StreamMail = { readonly object: MailObject };

export type StreamOwner<M extends StreamMail> = {
  /**
   * Returns the mail that follows this one, and begins it; null if none may follow. Its commands are sent
   * with the end of this message.
   */
  takeFollower(mail: M): M | null;
  /** The transaction of a mail has ended. The stream is free if it is not `isBusy`. */
  ended(mail: M, delivery: Delivery, conversation: Conversation): void;
  /** The session ended before this mail was attempted, although its commands were sent. */
  returned(mail: M): void;
  /** The session ended while no mail was under way. */
  lost(): void;
};

type Planned<M> = { mail: M; plan: Plan };

/** The awaited reply: to a command, or to the empty message that ends a refused mail. */
const MAIL = 0;
const RCPT = 1;
const DATA = 2;
const DOT = 3;
const EMPTY_DOT = 4;
const RESET = 5;

const STEPS = ["mail", "rcpt", "data", "dot", "dot", "rset"] as const;

/** The final dot of a message whose last line has ended. */
const END = ".\r\n";

export class Stream<M extends StreamMail> {
  readonly #dialogue: Dialogue;
  readonly #extensions: Extensions;
  readonly #owner: StreamOwner<M>;
  #current: Planned<M> | null = null;
  /** The mail whose commands were sent with the end of the current message. */
  #next: Planned<M> | null = null;
  #step = MAIL;
  /** The first refusal of a command, while the replies to the other commands are received. */
  #problem: Delivery | null = null;
  /** True from the reply to DATA until the end of the message is sent: no reply is due. */
  #isInMessage = false;
  #messages = 0;

  constructor(dialogue: Dialogue, extensions: Extensions, owner: StreamOwner<M>) {
    this.#dialogue = dialogue;
    this.#extensions = extensions;
    this.#owner = owner;
    dialogue.wire.receiveBy(this);
  }

  /** Number of mails so far, including failed ones. */
  get messages(): number {
    return this.#messages;
  }

  get isBusy(): boolean {
    return this.#current !== null;
  }

  /** True if the commands of the next mail may be sent with the end of a message. */
  get isPipelined(): boolean {
    return this.#extensions.pipelining;
  }

  /** Sends a mail. The stream must not be busy, and its session must be usable. */
  send(mail: M): void {
    const plan = planEnvelope(mail.object, this.#extensions);
    if (plan.kind === "unsendable") {
      this.#beginConversation();
      return this.#owner.ended(mail, plan, this.#dialogue.conversation);
    }
    this.#start({ mail, plan });
    this.#dialogue.wire.write(this.isPipelined ? plan.group : `${plan.commands[0]}\r\n`);
  }

  #start(planned: Planned<M>): void {
    this.#beginConversation();
    this.#current = planned;
    this.#problem = null;
    this.#dialogue.startStep();
    this.#expect(MAIL);
  }

  /** The first conversation includes the opening; the others are marked as reused. */
  #beginConversation(): void {
    if (this.#messages++ === 0) return;
    const dialogue = this.#dialogue;
    dialogue.conversation = { ...dialogue.conversation, reused: true, steps: [] };
    dialogue.wire.watch(dialogue.timeouts.totalMs);
  }

  /** Called before a command is written, because the write may show that the connection is broken. */
  #expect(step: number): void {
    this.#step = step;
    const { wire, timeouts } = this.#dialogue;
    const { commandMs, dataMs, dotMs, resetMs } = timeouts;
    if (step === RESET) wire.arm(resetMs);
    else if (step >= DOT) wire.arm(dotMs);
    else wire.arm(step === DATA ? dataMs : commandMs);
  }

  onReply(reply: Reply): void {
    const { wire } = this.#dialogue;
    if (this.#current === null) return wire.breakUnexpected();
    if (this.#isInMessage) return this.#endEarly(reply);
    wire.disarm();
    this.#note(reply);
    const step = this.#step;
    if (step <= DATA) this.#onCommandReply(step, reply);
    else if (step === DOT) this.#onDotReply(reply);
    else if (step === EMPTY_DOT) this.#finish(this.#problem);
    else this.#leave(reply.code >= 300);
  }

  onBroken(fault: Fault): void {
    if (this.#current === null) return this.#owner.lost();
    if (this.#isInMessage) return this.#endEarly(fault);
    this.#note(fault);
    const step = this.#step;
    this.#problem ??= problemOf(nameOf(step), fault);
    this.#leave(true);
  }

  #note(answer: Reply | Fault): void {
    const step = this.#step;
    this.#dialogue.note(STEPS[step] ?? "dot", this.#commandOf(step), answer);
  }

  #commandOf(step: number): string | null {
    if (step === RESET) return "RSET";
    return step >= DOT ? "." : (this.#current?.plan.commands[step] ?? null);
  }

  /** All replies to a group are received, also after a refusal; the first problem is the result. */
  #onCommandReply(step: number, reply: Reply): void {
    const problem = findProblem(nameOf(step), reply);
    this.#problem ??= problem;
    if (problem !== null && endsSession(reply)) return this.#leave(true);
    if (step < DATA && (this.isPipelined || problem === null)) {
      this.#expect(step + 1);
      if (!this.isPipelined) this.#sendCommand(step + 1);
    } else if (this.#problem === null) this.#sendMessage();
    else if (step === DATA && problem === null) this.#sendEmptyMessage();
    else this.#finish(this.#problem);
  }

  #sendCommand(step: number): void {
    this.#dialogue.startStep();
    this.#dialogue.wire.write(`${this.#commandOf(step)}\r\n`);
  }

  /**
   * If DATA was answered with 354 although no recipient was accepted, an empty message ends the
   * transaction; the server must refuse it (RFC 2920 §3.1), and its reply is ignored.
   */
  #sendEmptyMessage(): void {
    this.#expect(EMPTY_DOT);
    this.#dialogue.wire.write(".\r\n");
  }

  #sendMessage(): void {
    const object = this.#current?.mail.object;
    if (object === undefined) return;
    this.#dialogue.startStep();
    this.#isInMessage = true;
    if (isLarge(object.message)) void this.#sendBlocks(object);
    else this.#sendEnd(object);
  }

  /** Sends all blocks except the last one, each when the connection can take it. */
  async #sendBlocks(object: MailObject): Promise<void> {
    const { wire, timeouts } = this.#dialogue;
    for (const block of leadingBlocks(object.message)) {
      if (wire.hasInput) break;
      if (!wire.write(block)) await wire.drained(timeouts.blockMs);
      if (!this.#isInMessage) return;
    }
    this.#sendEnd(object);
  }

  /** From here on, the mail may have arrived (docs/delivery.md#S5). */
  #sendEnd({ message, hasTailroom }: MailObject): void {
    const { wire, timeouts } = this.#dialogue;
    // A reply has begun too early. The mail ends with it, and not with a reply to the final dot.
    if (wire.hasInput) return wire.arm(timeouts.commandMs);
    const commands = this.#takeFollower();
    this.#isInMessage = false;
    this.#expect(DOT);
    const isInPlace = hasTailroom === true && !isLarge(message) && fitsTail(commands);
    wire.write(isInPlace ? withTail(message, commands) : finalBlock(message, commands));
  }

  /** The commands of the next mail; empty if none follows. */
  #takeFollower(): string {
    const current = this.#current;
    if (current === null || !this.isPipelined) return "";
    for (;;) {
      const mail = this.#owner.takeFollower(current.mail);
      if (mail === null) return "";
      const plan = planEnvelope(mail.object, this.#extensions);
      if (plan.kind === "plan") {
        this.#next = { mail, plan };
        return plan.group;
      }
      const { conversation } = this.#dialogue;
      this.#owner.ended(mail, plan, { ...conversation, reused: true, steps: [] });
    }
  }

  #onDotReply(reply: Reply): void {
    if (isExpected("dot", reply)) return this.#finish({ kind: "accepted", reply });
    this.#problem = problemOf("dot", reply);
    if (endsSession(reply)) this.#leave(true);
    else this.#finish(this.#problem);
  }

  /**
   * The server closed or replied before the final dot. The reply may be a refusal, but never an
   * acceptance. No command can be sent in the middle of a message.
   */
  #endEarly(answer: Reply | Fault): void {
    this.#isInMessage = false;
    this.#dialogue.note("dot", null, answer);
    this.#problem = isRefusal(answer)
      ? problemOf("dot", answer)
      : { kind: "broken", failure: { step: "dot", cause: answer }, isUnknown: false };
    this.#leave(true);
  }

  /** Ends the transaction of a refused mail with RSET, so that it does not affect the next one. */
  #finish(delivery: Delivery | null): void {
    this.#problem = delivery;
    if (delivery?.kind !== "refused" || this.#next !== null) return this.#leave(false);
    this.#expect(RESET);
    this.#sendCommand(RESET);
  }

  /** Ends the current mail with `#problem`, which is its result, and goes on with the next one. */
  #leave(isOver: boolean): void {
    const { wire, conversation } = this.#dialogue;
    const [current, next, delivery] = [this.#current, this.#next, this.#problem];
    this.#current = null;
    this.#next = null;
    wire.disarm();
    if (isOver) wire.close();
    // Nothing may arrive between two mails, except the replies to commands that were sent already.
    else if (next === null && wire.hasInput) wire.breakUnexpected();
    if (next !== null) {
      if (wire.fault === null) this.#start(next);
      else this.#owner.returned(next.mail);
    }
    if (current !== null && delivery !== null)
      this.#owner.ended(current.mail, delivery, conversation);
  }
}

function nameOf(step: number): DecisiveStep {
  return step === MAIL ? "mail" : step === RCPT ? "rcpt" : step === DATA ? "data" : "dot";
}

/** A UTF-16 unit takes at most three octets. */
function fitsTail(commands: string): boolean {
  return 3 * commands.length + END.length <= TAILROOM_BYTES;
}

/** The octets of a message with room after it, with the final dot and the commands in that room. */
function withTail({ buffer, byteOffset, byteLength }: Uint8Array, commands: string): Buffer {
  const octets = Buffer.from(buffer, byteOffset, byteLength + TAILROOM_BYTES);
  const length = octets.write(END + commands, byteLength);
  return octets.subarray(0, byteLength + length);
}
