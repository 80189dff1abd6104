/** Sends commands, receives replies, and records each as a timed step (docs/delivery.md#R4). */

import type { Clock } from "../../lib/clock.ts";
import type { Conversation, Step, StepListener } from "./conversation.ts";
import type { Failure, Fault } from "./failure.ts";
import { replyText, type Reply } from "./reply.ts";
import type { Timeouts } from "./timeouts.ts";
import type { Wire } from "./wire.ts";

type Command = {
  step: Step["step"];
  /** The command as sent, without line end. */
  command: string;
  timeoutMs: number;
  /** Recorded instead of a command that contains a secret. */
  recorded?: string;
  /** Removed from the recorded reply as well, because servers may repeat them. */
  secrets?: readonly string[];
};

/** A step whose reply is expected. `command` is null if the server sends it without a command. */
type Question = Omit<Command, "command"> & { command: string | null };

export class Dialogue {
  readonly wire: Wire;
  readonly timeouts: Readonly<Timeouts>;
  readonly clock: Clock;
  /** The conversation of the current mail. */
  conversation: Conversation;
  onStep: StepListener | undefined;
  #stepStartedAt = 0;

  constructor(
    parts: { wire: Wire; timeouts: Readonly<Timeouts>; clock: Clock },
    conversation: Conversation,
  ) {
    this.wire = parts.wire;
    this.timeouts = parts.timeouts;
    this.clock = parts.clock;
    this.conversation = conversation;
  }

  /** Starts the time of a step. Without a call, it starts at the end of the previous step. */
  startStep(): void {
    this.#stepStartedAt = this.clock.elapsed();
  }

  async ask(question: Command): Promise<Reply | Fault> {
    this.startStep();
    this.wire.write(`${question.command}\r\n`);
    return this.receive(question);
  }

  /** Receives the reply to a command that was sent before, alone or in a group (RFC 2920). */
  receive(question: Question): Promise<Reply | Fault> {
    return new Promise((resolve) => this.whenAnswered(question, resolve));
  }

  /** Like `receive`, with a function instead of a promise. */
  whenAnswered(question: Question, receive: (answer: Reply | Fault) => void): void {
    this.wire.whenReplied(question.timeoutMs, (reply) => receive(this.#answered(question, reply)));
  }

  #answered(question: Question, reply: Reply | Fault): Reply | Fault {
    const answer = redact(reply, question.secrets);
    this.note(question.step, question.recorded ?? question.command, answer);
    return answer;
  }

  note(step: Step["step"], command: string | null, result: Reply | Fault | string): void {
    const now = this.clock.elapsed();
    const ms = Math.round((now - this.#stepStartedAt) * 10) / 10;
    this.#stepStartedAt = now;
    const isReply = typeof result !== "string" && result.kind === "reply";
    const noted: Step = {
      step,
      command,
      code: isReply ? result.code : null,
      enhanced: isReply ? result.enhanced : null,
      text: typeof result === "string" ? result : textOf(result),
      ms,
    };
    this.conversation.steps.push(noted);
    this.onStep?.(noted, this.conversation);
  }

  /** Records a step that failed without a reply, and returns the failure. */
  fail(step: Step["step"], cause: Fault): Failure {
    this.note(step, null, cause);
    return { step, cause };
  }
}

function textOf(result: Reply | Fault): string {
  return result.kind === "reply" ? replyText(result) : result.message;
}

/** Invalid data is not quoted at all, because it could contain a part of a secret. */
function redact(answer: Reply | Fault, secrets: readonly string[] | undefined): Reply | Fault {
  if (secrets === undefined) return answer;
  if (answer.kind === "protocol") return { kind: "protocol", message: "not an SMTP reply" };
  if (answer.kind !== "reply") return answer;
  const clean = (text: string) =>
    secrets.reduce((rest, secret) => (secret === "" ? rest : rest.replaceAll(secret, "***")), text);
  return { ...answer, lines: answer.lines.map(clean) };
}
