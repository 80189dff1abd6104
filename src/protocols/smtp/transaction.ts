/**
 * Sends one mail over an open session (RFC 5321 §3.3): MAIL, RCPT, DATA, the message, the final
 * dot. If the server offers PIPELINING, the three commands are sent together (RFC 2920), and if the
 * next mail has a place on the session already, its commands are sent together with the message.
 */

import type { Dispatch } from "./dispatch.ts";
import type { Conversation, Step } from "./conversation.ts";
import { finalBlock, leadingBlocks } from "./body.ts";
import type { Dialogue } from "./dialogue.ts";
import { planEnvelope, type Plan, type Unsendable } from "./envelope.ts";
import { CLOSED, type Failure, type Fault } from "./failure.ts";
import type { Place } from "./place.ts";
import type { Reply } from "./reply.ts";
import type { Session } from "./session.ts";

/** The steps whose replies decide the outcome of a mail. */
type DecisiveStep = "mail" | "rcpt" | "data" | "dot";

/**
 * - accepted: 2xx to the final dot.
 * - refused: 4xx or 5xx; the session stays open unless the code is 421.
 * - unsendable: nothing was sent, because this server can never accept this mail.
 * - broken: the session failed before the final reply. `isUnknown` is true if the final dot was
 *   sent, so the mail may have arrived (docs/delivery.md#S5); otherwise it has not.
 * - unopened: there was no session that could take the mail.
 */
export type Delivery =
  | { kind: "accepted"; reply: Reply }
  | { kind: "refused"; step: DecisiveStep; reply: Reply }
  | Unsendable
  | { kind: "broken"; failure: Failure; isUnknown: boolean }
  | { kind: "unopened"; failure: Failure };

/** Reason if the connection broke after the final dot: the mail is not retried at once. */
export const UNKNOWN_END = "the mail was sent, but it is unknown whether it was accepted";

/** The server closes the session and answers no further command (RFC 5321 §3.8). */
export const SERVICE_CLOSING = 421;

/**
 * Sends a mail over an open session, after the mail before it, if there is one. Afterwards, if
 * `session.isUsable`, the session can take the next mail.
 */
export async function transact(
  place: Place,
  dispatch: Dispatch,
): Promise<{ delivery: Delivery; conversation: Conversation }> {
  const first = place.session;
  let plan = planEnvelope(dispatch, first.extensions);
  await awaitEarlierMail(place, plan);
  const { session } = place;
  // The mail before may have been moved to another session, and this one with it.
  if (session !== first) plan = planEnvelope(dispatch, session.extensions);
  if (!session.isUsable) return endedBefore(session);
  place.onBegin();
  const dialogue = session.beginMail();
  const delivery =
    plan.kind === "unsendable" ? plan : await deliver(dialogue, { place, plan, dispatch });
  if (!place.isFollowed) {
    if (delivery.kind === "refused" && dialogue.wire.fault === null) await reset(dialogue);
    session.endMail();
  }
  return { delivery, conversation: dialogue.conversation };
}

/** Meanwhile, the mail before may send the commands of this one with the end of its message. */
async function awaitEarlierMail(place: Place, plan: Plan | Unsendable): Promise<void> {
  if (place.earlierEnd === null) return;
  place.commands = plan.kind === "plan" ? plan.group : null;
  await place.earlierEnd;
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

async function deliver(
  dialogue: Dialogue,
  { place, plan, dispatch }: { place: Place; plan: Plan; dispatch: Dispatch },
): Promise<Delivery> {
  const problem = place.session.extensions.pipelining
    ? await sendCommandsTogether(dialogue, plan, place.areCommandsSent)
    : await sendCommandsOneByOne(dialogue, plan);
  return problem ?? sendMessage(dialogue, dispatch.message, place);
}

async function sendCommandsOneByOne(dialogue: Dialogue, plan: Plan): Promise<Delivery | null> {
  for (const { step, command } of plan.commands) {
    const timeoutMs = timeoutOf(dialogue, step);
    const problem = findProblem(dialogue, step, await dialogue.ask({ step, command, timeoutMs }));
    if (problem !== null) return problem;
  }
  return null;
}

/** Receives all replies of the group, also after a refusal; the first problem is the result. */
async function sendCommandsTogether(
  dialogue: Dialogue,
  plan: Plan,
  areSent: boolean,
): Promise<Delivery | null> {
  dialogue.startStep();
  if (!areSent) dialogue.wire.write(plan.group);
  let first: Delivery | null = null;
  let isDataOpen = false;
  for (const { step, command } of plan.commands) {
    const question = { step, command, timeoutMs: timeoutOf(dialogue, step) };
    // The replies to a group usually arrive together.
    const answer = dialogue.received(question) ?? (await dialogue.receive(question));
    const problem = findProblem(dialogue, step, answer);
    isDataOpen = step === "data" && problem === null;
    first ??= problem;
    if (dialogue.wire.fault !== null) return first;
  }
  // If DATA was answered with 354 although no recipient was accepted, an empty message ends the
  // transaction; the server must refuse it (RFC 2920 §3.1), and its reply is ignored.
  if (first !== null && isDataOpen) await sendEnd(dialogue, ".\r\n");
  return first;
}

async function sendMessage(
  dialogue: Dialogue,
  message: Uint8Array,
  place: Place,
): Promise<Delivery> {
  const { wire, timeouts } = dialogue;
  dialogue.startStep();
  for (const block of leadingBlocks(message)) {
    if (isInterrupted(dialogue)) return receiveEarlyEnd(dialogue);
    if (!wire.write(block)) await wire.drained(timeouts.blockMs);
  }
  if (isInterrupted(dialogue)) return receiveEarlyEnd(dialogue);
  const answer = await sendEnd(dialogue, finalBlock(message, place.takeNextCommands() ?? ""));
  return isExpected("dot", answer)
    ? { kind: "accepted", reply: answer }
    : problemOf(dialogue, "dot", answer);
}

/** Sends the end of the message. From here on the mail may have arrived (docs/delivery.md#S5). */
function sendEnd(dialogue: Dialogue, ending: string | Uint8Array): Promise<Reply | Fault> {
  dialogue.wire.write(ending);
  return dialogue.receive({ step: "dot", command: ".", timeoutMs: dialogue.timeouts.dotMs });
}

/** Ends the transaction of a refused mail, so that it does not affect the next one. */
async function reset(dialogue: Dialogue): Promise<void> {
  const timeoutMs = dialogue.timeouts.resetMs;
  const answer = await dialogue.ask({ step: "rset", command: "RSET", timeoutMs });
  if (answer.kind !== "reply" || answer.code >= 300) dialogue.wire.close();
}

function isInterrupted({ wire }: Dialogue): boolean {
  return wire.fault !== null || wire.hasInput;
}

/**
 * Ends a transaction in which the server closed or replied before the final dot. The reply may be a
 * refusal, but never an acceptance.
 */
async function receiveEarlyEnd(dialogue: Dialogue): Promise<Delivery> {
  const timeoutMs = dialogue.timeouts.commandMs;
  const answer = await dialogue.receive({ step: "dot", command: null, timeoutMs });
  const isRefusal = answer.kind === "reply" && answer.code >= 400;
  const delivery: Delivery = isRefusal
    ? { kind: "refused", step: "dot", reply: answer }
    : { kind: "broken", failure: { step: "dot", cause: answer }, isUnknown: false };
  // No command can be sent in the middle of a message.
  dialogue.wire.close();
  return delivery;
}

/** Returns null if the answer is the expected one, so that the next command follows. */
function findProblem(
  dialogue: Dialogue,
  step: DecisiveStep,
  answer: Reply | Fault,
): Delivery | null {
  return isExpected(step, answer) ? null : problemOf(dialogue, step, answer);
}

function problemOf(dialogue: Dialogue, step: DecisiveStep, answer: Reply | Fault): Delivery {
  const isRefusal = answer.kind === "reply" && answer.code >= 400;
  // After an unexpected reply it is not clear to which command the next replies belong.
  if (!isRefusal || answer.code === SERVICE_CLOSING) dialogue.wire.close();
  return isRefusal
    ? { kind: "refused", step, reply: answer }
    : { kind: "broken", failure: { step, cause: answer }, isUnknown: step === "dot" };
}

function isExpected(step: DecisiveStep, answer: Reply | Fault): answer is Reply {
  if (answer.kind !== "reply") return false;
  return step === "data" ? answer.code === 354 : answer.code >= 200 && answer.code < 300;
}

function timeoutOf(dialogue: Dialogue, step: Step["step"]): number {
  return step === "data" ? dialogue.timeouts.dataMs : dialogue.timeouts.commandMs;
}
