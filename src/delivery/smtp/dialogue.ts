/** Commands and replies over a wire, each written down as a timed step (delivery rule R4). */

import { systemClock } from "../../lib/clock.ts";
import type { Conversation, Step, StepListener } from "../outcome.ts";
import type { Fault } from "./failure.ts";
import { replyText, type Reply } from "./reply.ts";
import type { Timeouts } from "./timeouts.ts";
import type { Wire } from "./wire.ts";

export type Question = {
  step: Step["step"];
  /** As sent, without line end. */
  command: string;
  timeoutMs: number;
  /** As recorded, where the command holds a secret. */
  shown?: string;
  /** Not to appear in what is recorded of the reply either: servers echo. */
  secrets?: readonly string[];
};

export class Dialogue {
  readonly wire: Wire;
  readonly timeouts: Readonly<Timeouts>;
  /** The record of the mail at hand. */
  conversation: Conversation;
  onStep: StepListener | undefined;
  #stepStartedAt = 0;

  constructor(wire: Wire, timeouts: Readonly<Timeouts>, conversation: Conversation) {
    this.wire = wire;
    this.timeouts = timeouts;
    this.conversation = conversation;
  }

  /** A step's time runs from here, or from the end of the step before if nothing is sent between. */
  startStep(): void {
    this.#stepStartedAt = systemClock.elapsed();
  }

  async ask(question: Question): Promise<Reply | Fault> {
    this.startStep();
    this.wire.write(`${question.command}\r\n`);
    return this.hear(question);
  }

  /** The reply to something sent before, alone or in a group (RFC 2920). */
  async hear(question: Omit<Question, "command"> & { command: string | null }) {
    const heard = redact(await this.wire.reply(question.timeoutMs), question.secrets);
    this.note(question.step, question.shown ?? question.command, heard);
    return heard;
  }

  note(step: Step["step"], command: string | null, result: Reply | Fault | string): void {
    const now = systemClock.elapsed();
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
}

function textOf(result: Reply | Fault): string {
  return result.kind === "reply" ? replyText(result) : result.message;
}

/** What is no reply is not quoted at all: a secret cut short would slip through. */
function redact(heard: Reply | Fault, secrets: readonly string[] | undefined): Reply | Fault {
  if (secrets === undefined) return heard;
  if (heard.kind === "protocol") return { kind: "protocol", message: "not an SMTP reply" };
  if (heard.kind !== "reply") return heard;
  const clean = (text: string) =>
    secrets.reduce((rest, secret) => (secret === "" ? rest : rest.replaceAll(secret, "***")), text);
  return { ...heard, lines: heard.lines.map(clean) };
}
