/** Lists faults at each step of an SMTP session and the expected outcome of the attempt. */

import type { ReplyClass } from "../../src/protocols/smtp/reply-classes.ts";
import type { Outcome } from "../../src/outbox/outcome.ts";
import { DEFAULT_TIMEOUTS } from "../../src/protocols/smtp/timeouts.ts";
import type { Action, ScriptOptions, ScriptStep } from "./smtp-script.ts";

export const STEPS = [
  "connect",
  "greeting",
  "ehlo",
  "starttls",
  "mail",
  "rcpt",
  "data",
  "body",
  "dot",
  "quit",
] as const satisfies readonly ScriptStep[];
export type FaultStep = (typeof STEPS)[number];

/**
 * Faults and the actions of the script server. The 5xx reply says "no such user" at every step,
 * even before a recipient is known. `slow` sends the right reply byte by byte, `multiline` in 20
 * lines, `huge` in 64 KiB; `oversized` sends a longer reply.
 */
const FAULTS = [
  ["4xx", { code: 450, text: "4.3.2 Try again later" }],
  ["5xx", { code: 550, text: "5.1.1 No such user" }],
  ["421", "closing"],
  ["close", "close"],
  ["reset", "reset"],
  ["hang", "hang"],
  ["garbage", "garbage"],
  ["oversized", "oversized"],
  ["slow", "trickle"],
  ["multiline", "multiline"],
  ["huge", "huge"],
] as const satisfies readonly (readonly [string, Action])[];
type Fault = (typeof FAULTS)[number][0];

const OK = { kind: "accepted", class: "accepted" } as const;
const TEMP = { kind: "deferred", class: "temporary" } as const;
/**
 * No reply decided about the mail: the network failed, or the server was silent or sent garbage.
 */
const NET = { kind: "deferred", class: "infrastructure" } as const;
/** Like NET, but the mail may have been accepted (docs/delivery.md#S5). */
const LOST = { ...NET, isUnknown: true } as const;
const DENY = { kind: "bounced", class: "policy" } as const;
/** A refusal at MAIL is about the sender, so the mail waits (docs/delivery.md#R5). */
const HELD = { kind: "deferred", class: "policy" } as const;
/** The only outcome that suppresses the address (docs/delivery.md#R2). */
const GONE = { kind: "bounced", class: "no_such_recipient" } as const;

export type Expected = {
  kind: Outcome["kind"];
  class: ReplyClass;
  isUnknown?: boolean;
};

/**
 * The expected outcomes by step and fault.
 *
 * - connect: the fault happens before the greeting, which is still sent; a second greeting would be
 *   read as the reply to the next command.
 * - starttls: after any fault the mail is sent in cleartext on a second connection
 *   (docs/delivery.md#T2).
 * - body: the reply arrives before the end of the message, so it can refuse the mail but not accept
 *   it.
 */
// prettier-ignore
const MATRIX: Readonly<Record<FaultStep, readonly Expected[]>> = {
  //         4xx   5xx   421   close reset hang  garb. over. slow  multi huge
  connect:  [TEMP, DENY, TEMP, NET,  NET,  NET,  NET,  NET,  NET,  NET,  NET],
  greeting: [TEMP, DENY, TEMP, NET,  NET,  NET,  NET,  NET,  OK,   OK,   OK],
  ehlo:     [TEMP, DENY, TEMP, NET,  NET,  NET,  NET,  NET,  OK,   OK,   OK],
  starttls: [OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK],
  mail:     [TEMP, HELD, TEMP, NET,  NET,  NET,  NET,  NET,  OK,   OK,   OK],
  rcpt:     [TEMP, GONE, TEMP, NET,  NET,  NET,  NET,  NET,  OK,   OK,   OK],
  data:     [TEMP, GONE, TEMP, NET,  NET,  NET,  NET,  NET,  OK,   OK,   OK],
  body:     [TEMP, GONE, TEMP, NET,  NET,  NET,  NET,  NET,  NET,  NET,  NET],
  dot:      [TEMP, GONE, TEMP, LOST, LOST, LOST, LOST, LOST, OK,   OK,   OK],
  quit:     [OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK],
};

export type FaultCell = {
  step: FaultStep;
  fault: Fault;
  expected: Expected;
  /** Options of the script server; it has the fault on every connection. */
  server: ScriptOptions;
  /** The timeout of the session at this step if the server hangs there; null if it does not. */
  silenceMs: number | null;
};

const { greetingMs, commandMs, dataMs, blockMs, dotMs } = DEFAULT_TIMEOUTS;
/** The timeout of each step; at `quit` no mail waits. */
const TIMEOUTS: Readonly<Record<FaultStep, number | null>> = {
  connect: greetingMs,
  greeting: greetingMs,
  ehlo: commandMs,
  starttls: commandMs,
  mail: commandMs,
  rcpt: commandMs,
  data: dataMs,
  body: blockMs,
  dot: dotMs,
  quit: null,
};

/** One cell for each fault. */
export function cellsOf(step: FaultStep): FaultCell[] {
  return FAULTS.map(([fault, action], at) => {
    const expected = MATRIX[step][at];
    if (expected === undefined) throw new Error(`the matrix has no outcome for ${step}: ${fault}`);
    const extensions = ["PIPELINING", "8BITMIME", "SIZE 50000000"];
    return {
      step,
      fault,
      expected,
      server: { script: { [step]: action }, extensions },
      silenceMs: fault === "hang" ? TIMEOUTS[step] : null,
    };
  });
}
