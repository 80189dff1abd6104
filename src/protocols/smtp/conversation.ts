/** The record of an SMTP session, as it is stored with an attempt. */

import type { SmtpStep } from "./reply-classes.ts";

/** One step of an SMTP session, with its time (docs/delivery.md#R4). `command` has no secrets. */
export type Step = {
  step: SmtpStep;
  /** The command without line end and secrets; null if the step sends nothing. */
  command: string | null;
  /** Basic reply code (RFC 5321 §4.2); null if no complete reply came. */
  code: number | null;
  /** Enhanced status code `x.y.z` (RFC 3463); null if the reply has none. */
  enhanced: string | null;
  /** Text of the reply or of the error, at most 1,024 characters. */
  text: string;
  ms: number;
};

export type TlsInfo = { version: string; cipher: string; verified: boolean };

/** One session with one host: the part of it that belongs to this mail. */
export type Conversation = {
  host: string;
  address: string | null;
  port: number;
  tls: TlsInfo | null;
  /** True if the connection was already open; then the steps connect to ehlo are missing. */
  reused: boolean;
  steps: Step[];
};

/** Called at the end of each step; `conversation` contains the steps so far. */
export type StepListener = (step: Step, conversation: Conversation) => void;

/** A step in a stored conversation: its values in the order of `Step`. */
type StoredStep = [
  step: SmtpStep,
  command: string | null,
  code: number | null,
  enhanced: string | null,
  text: string,
  ms: number,
];

/** JSON of conversations in which each step is a list of its values, which takes half the room. */
export function compactJson(conversations: readonly Conversation[]): string {
  return JSON.stringify(
    conversations.map(({ host, address, port, tls, reused, steps }) => {
      const stored = steps.map(({ step, command, code, enhanced, text, ms }): StoredStep => [
        step,
        command,
        code,
        enhanced,
        text,
        ms,
      ]);
      return { host, address, port, tls, reused, steps: stored };
    }),
  );
}

/** Reads stored conversations: with steps as `compactJson` writes them, or as objects. */
export function readConversations(json: string): Conversation[] {
  const stored: (Omit<Conversation, "steps"> & { steps: (Step | StoredStep)[] })[] =
    JSON.parse(json);
  return stored.map((conversation) => ({
    ...conversation,
    steps: conversation.steps.map((step) => (Array.isArray(step) ? stepOf(step) : step)),
  }));
}

function stepOf([step, command, code, enhanced, text, ms]: StoredStep): Step {
  return { step, command, code, enhanced, text, ms };
}
