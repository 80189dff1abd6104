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
