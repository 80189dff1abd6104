/**
 * Sends one mail over an open session (RFC 5321 §3.3): MAIL, RCPT, DATA, the message, the final dot.
 * If the next mail has a place on the session already, its commands are sent together with the end
 * of the message. `decision.ts` says what each reply decides.
 */

import { finalBlock, isLarge, leadingBlocks } from "./body.ts";
import type { Conversation, Step } from "./conversation.ts";
import {
  type DecisiveStep,
  type Delivery,
  findProblem,
  isExpected,
  problemOf,
} from "./decision.ts";
import type { Dialogue } from "./dialogue.ts";
import type { Dispatch } from "./dispatch.ts";
import { planEnvelope, type Plan, type Unsendable } from "./envelope.ts";
import { CLOSED, type Failure, type Fault } from "./failure.ts";
import type { Place } from "./place.ts";
import type { Reply } from "./reply.ts";
import type { Session } from "./session.ts";

/** Called at the end of a transaction, with its conversation. */
type End = (delivery: Delivery, conversation: Conversation) => void;

/**
 * Sends a mail over an open session, after the mail before it, if there is one. Afterwards, if
 * `session.isUsable`, the session can take the next mail.
 */
export function transact(place: Place, dispatch: Dispatch, end: End): void {
  const first = place.session;
  const plan = planEnvelope(dispatch, first.extensions);
  place.whenFirst(plan.kind === "plan" ? plan.group : null, () => {
    const { session } = place;
    // The mail before may have been moved to another session, and this one with it.
    const current = session === first ? plan : planEnvelope(dispatch, session.extensions);
    begin(place, { dispatch, plan: current, end });
  });
}

function begin(
  place: Place,
  { dispatch, plan, end }: { dispatch: Dispatch; plan: Plan | Unsendable; end: End },
): void {
  const { session } = place;
  if (!session.isUsable) {
    const { delivery, conversation } = endedBefore(session);
    return end(delivery, conversation);
  }
  place.onBegin();
  const dialogue = session.beginMail();
  const { conversation } = dialogue;
  if (plan.kind === "plan") new Transaction({ place, dialogue, plan, dispatch, end }).start();
  else {
    session.endMail();
    end(plan, conversation);
  }
}

/** The session ended with the mail before. The pool replaces it like one that went stale. */
function endedBefore({ conversation }: Session) {
  const { message } = CLOSED;
  const step: Step = {
    step: "mail",
    command: null,
    code: null,
    enhanced: null,
    text: message,
    ms: 0,
  };
  const failure: Failure = { step: "mail", cause: CLOSED };
  return {
    delivery: { kind: "broken", failure, isUnknown: false } satisfies Delivery,
    conversation: { ...conversation, reused: true, steps: [step] },
  };
}

/** The steps of a mail over a session. Each step continues when the server has replied. */
class Transaction {
  readonly #place: Place;
  readonly #dialogue: Dialogue;
  readonly #plan: Plan;
  readonly #message: Uint8Array;
  readonly #end: End;

  constructor(options: {
    place: Place;
    dialogue: Dialogue;
    plan: Plan;
    dispatch: Dispatch;
    end: End;
  }) {
    this.#place = options.place;
    this.#dialogue = options.dialogue;
    this.#plan = options.plan;
    this.#message = options.dispatch.message;
    this.#end = options.end;
  }

  start(): void {
    const place = this.#place;
    new Commands(this.#dialogue, {
      plan: this.#plan,
      isPipelined: place.session.extensions.pipelining,
      areSent: place.areCommandsSent,
      next: (problem) => (problem === null ? this.#sendMessage() : this.#finish(problem)),
    }).start();
  }

  #sendMessage(): void {
    this.#dialogue.startStep();
    if (isLarge(this.#message)) void this.#sendBlocks();
    else this.#sendFinalBlock();
  }

  /** Sends all blocks except the last one, each when the connection can take it. */
  async #sendBlocks(): Promise<void> {
    const { wire, timeouts } = this.#dialogue;
    for (const block of leadingBlocks(this.#message)) {
      if (this.#isInterrupted()) return this.#receiveEarlyEnd();
      if (!wire.write(block)) await wire.drained(timeouts.blockMs);
    }
    this.#sendFinalBlock();
  }

  /** From the end of this block on, the mail may have arrived (docs/delivery.md#S5). */
  #sendFinalBlock(): void {
    if (this.#isInterrupted()) return this.#receiveEarlyEnd();
    const dialogue = this.#dialogue;
    const timeoutMs = dialogue.timeouts.dotMs;
    dialogue.wire.write(finalBlock(this.#message, this.#place.takeNextCommands() ?? ""));
    dialogue.whenAnswered({ step: "dot", command: ".", timeoutMs }, (answer) => {
      const isAccepted = isExpected("dot", answer);
      this.#finish(
        isAccepted ? { kind: "accepted", reply: answer } : problemOf(dialogue, "dot", answer),
      );
    });
  }

  #isInterrupted(): boolean {
    const { wire } = this.#dialogue;
    return wire.fault !== null || wire.hasInput;
  }

  /**
   * Ends a transaction in which the server closed or replied before the final dot. The reply may be
   * a refusal, but never an acceptance.
   */
  #receiveEarlyEnd(): void {
    const timeoutMs = this.#dialogue.timeouts.commandMs;
    this.#dialogue.whenAnswered({ step: "dot", command: null, timeoutMs }, (answer) => {
      const isRefusal = answer.kind === "reply" && answer.code >= 400;
      const delivery: Delivery = isRefusal
        ? { kind: "refused", step: "dot", reply: answer }
        : { kind: "broken", failure: { step: "dot", cause: answer }, isUnknown: false };
      // No command can be sent in the middle of a message.
      this.#dialogue.wire.close();
      this.#finish(delivery);
    });
  }

  /** Ends the transaction of a refused mail with RSET, so that it does not affect the next one. */
  #finish(delivery: Delivery): void {
    const dialogue = this.#dialogue;
    // The commands of the next mail follow already.
    if (this.#place.isFollowed) return this.#end(delivery, dialogue.conversation);
    if (delivery.kind !== "refused" || dialogue.wire.fault !== null) return this.#leave(delivery);
    const timeoutMs = dialogue.timeouts.resetMs;
    dialogue.startStep();
    dialogue.wire.write("RSET\r\n");
    dialogue.whenAnswered({ step: "rset", command: "RSET", timeoutMs }, (answer) => {
      if (answer.kind !== "reply" || answer.code >= 300) dialogue.wire.close();
      this.#leave(delivery);
    });
  }

  #leave(delivery: Delivery): void {
    this.#place.session.endMail();
    this.#end(delivery, this.#dialogue.conversation);
  }
}

/** Called with the first problem; null if the message may follow. */
type Next = (problem: Delivery | null) => void;

type CommandOptions = {
  plan: Plan;
  isPipelined: boolean;
  /** True if the mail before has sent the commands together with the end of its message. */
  areSent: boolean;
  next: Next;
};

/**
 * The commands of a mail: MAIL, RCPT and DATA. If the server offers PIPELINING, they are sent together
 * (RFC 2920), or the mail before has sent them already; otherwise each follows the reply to the one
 * before.
 */
class Commands {
  readonly #dialogue: Dialogue;
  readonly #options: CommandOptions;
  /** Number of commands that were answered. */
  #answered = 0;
  #problem: Delivery | null = null;
  /** True if DATA, the last command, was answered with 354. */
  #isDataOpen = false;

  constructor(dialogue: Dialogue, options: CommandOptions) {
    this.#dialogue = dialogue;
    this.#options = options;
  }

  start(): void {
    const { plan, isPipelined, areSent } = this.#options;
    if (isPipelined) {
      this.#dialogue.startStep();
      if (!areSent) this.#dialogue.wire.write(plan.group);
    }
    this.#receiveNext();
  }

  #receiveNext(): void {
    const { plan, isPipelined } = this.#options;
    const following = plan.commands[this.#answered];
    if (following === undefined) return this.#end();
    const { step, command } = following;
    const { dataMs, commandMs } = this.#dialogue.timeouts;
    if (!isPipelined) {
      this.#dialogue.startStep();
      this.#dialogue.wire.write(`${command}\r\n`);
    }
    const timeoutMs = step === "data" ? dataMs : commandMs;
    this.#dialogue.whenAnswered({ step, command, timeoutMs }, (answer) => {
      this.#answered++;
      this.#noteAnswer(step, answer);
    });
  }

  /** All replies to a group are received, also after a refusal; the first problem is the result. */
  #noteAnswer(step: DecisiveStep, answer: Reply | Fault): void {
    const problem = findProblem(this.#dialogue, step, answer);
    this.#problem ??= problem;
    this.#isDataOpen = step === "data" && problem === null;
    const isOver = this.#options.isPipelined
      ? this.#dialogue.wire.fault !== null
      : problem !== null;
    if (isOver) this.#options.next(this.#problem);
    else this.#receiveNext();
  }

  /**
   * If DATA was answered with 354 although no recipient was accepted, an empty message ends the
   * transaction; the server must refuse it (RFC 2920 §3.1), and its reply is ignored.
   */
  #end(): void {
    const { next } = this.#options;
    const problem = this.#problem;
    if (problem === null || !this.#isDataOpen) return next(problem);
    const timeoutMs = this.#dialogue.timeouts.dotMs;
    this.#dialogue.wire.write(".\r\n");
    this.#dialogue.whenAnswered({ step: "dot", command: ".", timeoutMs }, () => next(problem));
  }
}
