/**
 * What goes wrong at each step of a delivery, and how the attempt must end. One table for those who
 * test the transport and for those who test the whole application.
 */

import type { ReplyClass } from "../../src/mail/reply-classes.ts";
import type { Outcome } from "../../src/delivery/outcome.ts";
import type { Timeouts } from "../../src/delivery/smtp/timeouts.ts";
import type { Action, ScriptOptions, ScriptStep } from "./smtp-script.ts";
import { makeCertificate } from "./tls.ts";

const STEPS = [
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
type FaultStep = (typeof STEPS)[number];

/**
 * The 5xx says "no such user" at every step, also where it cannot be about one. `slow` is the right
 * reply byte by byte, `multiline` in 20 lines, `huge` in 64 KiB, `oversized` in more than that.
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
/** No reply decided about the mail: network, TLS, silence, nonsense. */
const OURS = { kind: "deferred", class: "infrastructure" } as const;
/** The same, and the mail may have arrived (delivery rule S5). */
const LOST = { ...OURS, isUnknown: true } as const;
const NO = { kind: "bounced", class: "policy" } as const;
/** The only one that suppresses the address (delivery rule R2). */
const GONE = { kind: "bounced", class: "no_such_recipient" } as const;

export type Expected = {
  kind: Outcome["kind"];
  class: ReplyClass;
  isUnknown?: boolean;
};

/**
 * connect: said before the greeting, which comes all the same; a second greeting puts the dialogue
 * out of step. starttls: whatever fails there, the mail goes in clear on a second connection (T2).
 * body: the reply comes in the middle of a message, so it can refuse it and never accept it.
 */
// prettier-ignore
const MATRIX: Readonly<Record<FaultStep, readonly Expected[]>> = {
  //         4xx   5xx   421   close reset hang  garb. over. slow  multi huge
  connect:  [TEMP, NO,   TEMP, OURS, OURS, OURS, OURS, OURS, OURS, OURS, OURS],
  greeting: [TEMP, NO,   TEMP, OURS, OURS, OURS, OURS, OURS, OK,   OK,   OK],
  ehlo:     [TEMP, NO,   TEMP, OURS, OURS, OURS, OURS, OURS, OK,   OK,   OK],
  starttls: [OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK],
  mail:     [TEMP, NO,   TEMP, OURS, OURS, OURS, OURS, OURS, OK,   OK,   OK],
  rcpt:     [TEMP, GONE, TEMP, OURS, OURS, OURS, OURS, OURS, OK,   OK,   OK],
  data:     [TEMP, GONE, TEMP, OURS, OURS, OURS, OURS, OURS, OK,   OK,   OK],
  body:     [TEMP, GONE, TEMP, OURS, OURS, OURS, OURS, OURS, OURS, OURS, OURS],
  dot:      [TEMP, GONE, TEMP, LOST, LOST, LOST, LOST, LOST, OK,   OK,   OK],
  quit:     [OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK,   OK],
};

export type FaultCell = {
  /** `rcpt: 4xx`. */
  name: string;
  step: FaultStep;
  fault: Fault;
  expected: Expected;
  /** The server that misbehaves; it never gets better. */
  server: ScriptOptions;
  /** Short only where the silent step waits, so that a busy machine changes nothing. */
  timeouts: Partial<Timeouts>;
  /** Too large for the buffers of a connection where the server breaks in on it. */
  messageBytes: number;
};

const CERTIFICATE = makeCertificate(["mx.fault.test"]);
const SMALL_BYTES = 200;
const LARGE_BYTES = 16_000_000;
const SHORT_MS = 100;
const LONG_MS = 10_000;

export const FAULT_CELLS: readonly FaultCell[] = STEPS.flatMap((step) =>
  FAULTS.map(([fault, action], at) => {
    const expected = MATRIX[step][at];
    if (expected === undefined) throw new Error(`nothing is expected of ${step}: ${fault}`);
    return {
      name: `${step}: ${fault}`,
      step,
      fault,
      expected,
      server: serverOf(step, action),
      timeouts: fault === "hang" ? timeoutsOf(step) : {},
      messageBytes: step === "body" ? LARGE_BYTES : SMALL_BYTES,
    };
  }),
);

function serverOf(step: FaultStep, action: Action): ScriptOptions {
  return {
    script: { [step]: action },
    extensions: ["PIPELINING", "8BITMIME", "SIZE 50000000"],
    ...(step === "starttls" && { tls: CERTIFICATE }),
  };
}

function timeoutsOf(step: FaultStep): Partial<Timeouts> {
  const at = (...steps: FaultStep[]) => (steps.includes(step) ? SHORT_MS : LONG_MS);
  return {
    greetingMs: at("connect", "greeting"),
    commandMs: at("ehlo", "starttls", "mail", "rcpt"),
    dataMs: at("data"),
    blockMs: at("body"),
    dotMs: at("dot"),
    quitMs: at("quit"),
  };
}
