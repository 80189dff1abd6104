/**
 * One mail over an open session (RFC 5321 §3.3): MAIL, RCPT, DATA, the message, the final dot.
 * Where PIPELINING is offered the three commands go out together (RFC 2920).
 */

import type { Dispatch, Step } from "../outcome.ts";
import { finalBlock, leadingBlocks } from "./body.ts";
import type { Dialogue } from "./dialogue.ts";
import { planEnvelope, type Plan, type Unsendable } from "./envelope.ts";
import type { Extensions } from "./extensions.ts";
import type { Failure, Fault } from "./failure.ts";
import type { Reply } from "./reply.ts";

/** The steps whose reply decides about a mail. */
export type DecisiveStep = "mail" | "rcpt" | "data" | "dot";

/**
 * - accepted: 2xx to the final dot.
 * - refused: 4xx or 5xx; the session lives on unless the code is 421.
 * - unsendable: nothing was sent, this server can never take this mail.
 * - broken: no reply told the end. `isUnknown`: the final dot was sent, so the mail may have arrived
 *   (delivery rule S5); else it certainly has not.
 */
export type Delivery =
  | { kind: "accepted"; reply: Reply }
  | { kind: "refused"; step: DecisiveStep; reply: Reply }
  | Unsendable
  | { kind: "broken"; failure: Failure; isUnknown: boolean };

/** Server is going away: no command will be answered any more (RFC 5321 §3.8). */
export const SERVICE_CLOSING = 421;

export async function transact(
  dialogue: Dialogue,
  extensions: Extensions,
  dispatch: Dispatch,
): Promise<Delivery> {
  const plan = planEnvelope(dispatch, extensions);
  if (plan.kind === "unsendable") return plan;
  const setback = extensions.pipelining
    ? await announceTogether(dialogue, plan)
    : await announceInTurn(dialogue, plan);
  return setback ?? sendMessage(dialogue, dispatch.message);
}

async function announceInTurn(dialogue: Dialogue, plan: Plan): Promise<Delivery | null> {
  for (const { step, command } of plan.commands) {
    const timeoutMs = timeoutOf(dialogue, step);
    const setback = judge(dialogue, step, await dialogue.ask({ step, command, timeoutMs }));
    if (setback !== null) return setback;
  }
  return null;
}

/** Every reply of the group is heard, whatever the first says; the first setback is the answer. */
async function announceTogether(dialogue: Dialogue, plan: Plan): Promise<Delivery | null> {
  dialogue.startStep();
  dialogue.wire.write(plan.group);
  let first: Delivery | null = null;
  let isDataOpen = false;
  for (const { step, command } of plan.commands) {
    const timeoutMs = timeoutOf(dialogue, step);
    const setback = judge(dialogue, step, await dialogue.hear({ step, command, timeoutMs }));
    isDataOpen = step === "data" && setback === null;
    first ??= setback;
    if (dialogue.wire.fault !== null) return first;
  }
  // DATA answered 354 with no recipient taken: an empty message, which the server must refuse, ends
  // the transaction (RFC 2920 §3.1). Its reply changes nothing.
  if (first !== null && isDataOpen) await hearDot(dialogue, ".\r\n");
  return first;
}

async function sendMessage(dialogue: Dialogue, message: Uint8Array): Promise<Delivery> {
  const { wire, timeouts } = dialogue;
  dialogue.startStep();
  for (const block of leadingBlocks(message)) {
    if (isInterrupted(dialogue)) return interrupted(dialogue);
    if (!wire.write(block)) await wire.room(timeouts.blockMs);
  }
  if (isInterrupted(dialogue)) return interrupted(dialogue);
  const heard = await hearDot(dialogue, finalBlock(message));
  return isExpected("dot", heard)
    ? { kind: "accepted", reply: heard }
    : setback(dialogue, "dot", heard);
}

/** From the first byte written here on, the mail may have arrived (delivery rule S5). */
function hearDot(dialogue: Dialogue, ending: string | Uint8Array): Promise<Reply | Fault> {
  dialogue.wire.write(ending);
  return dialogue.hear({ step: "dot", command: ".", timeoutMs: dialogue.timeouts.dotMs });
}

function isInterrupted({ wire }: Dialogue): boolean {
  return wire.fault !== null || wire.hasInput;
}

/** The server broke off, or answered before the dot: that can be a refusal, never an acceptance. */
async function interrupted(dialogue: Dialogue): Promise<Delivery> {
  const timeoutMs = dialogue.timeouts.commandMs;
  const heard = await dialogue.hear({ step: "dot", command: null, timeoutMs });
  const isRefusal = heard.kind === "reply" && heard.code >= 400;
  const delivery: Delivery = isRefusal
    ? { kind: "refused", step: "dot", reply: heard }
    : { kind: "broken", failure: { step: "dot", cause: heard }, isUnknown: false };
  // In the middle of a message no command can follow.
  dialogue.wire.close();
  return delivery;
}

/** Null where the dialogue goes on. */
function judge(dialogue: Dialogue, step: DecisiveStep, heard: Reply | Fault): Delivery | null {
  return isExpected(step, heard) ? null : setback(dialogue, step, heard);
}

function setback(dialogue: Dialogue, step: DecisiveStep, heard: Reply | Fault): Delivery {
  const isRefusal = heard.kind === "reply" && heard.code >= 400;
  // A reply that does not belong here: whose it was cannot be told any more.
  if (!isRefusal || heard.code === SERVICE_CLOSING) dialogue.wire.close();
  return isRefusal
    ? { kind: "refused", step, reply: heard }
    : { kind: "broken", failure: { step, cause: heard }, isUnknown: step === "dot" };
}

function isExpected(step: DecisiveStep, heard: Reply | Fault): heard is Reply {
  if (heard.kind !== "reply") return false;
  return step === "data" ? heard.code === 354 : heard.code >= 200 && heard.code < 300;
}

function timeoutOf(dialogue: Dialogue, step: Step["step"]): number {
  return step === "data" ? dialogue.timeouts.dataMs : dialogue.timeouts.commandMs;
}
