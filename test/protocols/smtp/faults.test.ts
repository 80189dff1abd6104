import { describe, expect, test } from "bun:test";
import { Session } from "../../../src/protocols/smtp/session.ts";
import { DEFAULT_TIMEOUTS } from "../../../src/protocols/smtp/timeouts.ts";
import { manualClock } from "../../support/clock.ts";
import { advanceWhenSilent } from "../../support/silence.ts";
import { transact } from "../../support/smtp-transact.ts";
import {
  startScript,
  type Action,
  type Script,
  type ScriptStep,
} from "../../support/smtp-script.ts";

/** Result of one mail, with opening and sending together. */
type End = "accepted" | "refused" | "unopened" | "broken" | "unknown";

const ACTIONS = [
  { code: 450, text: "4.3.0 Later" },
  { code: 550, text: "5.3.0 Never" },
  "closing",
  "close",
  "reset",
  "hang",
  "garbage",
  "oversized",
  "trickle",
  "multiline",
  "huge",
] as const satisfies readonly Action[];

const STEPS = [
  "greeting",
  "ehlo",
  "auth",
  "mail",
  "rcpt",
  "data",
  "body",
  "dot",
  "rset",
  "quit",
] as const;

type Cell = { step: (typeof STEPS)[number]; action: Action; end: End };

const CORRECT_REPLIES = new Set<unknown>(["trickle", "multiline", "huge"]);

/** Returns the expected result of an action at a step. */
function expectedEnd(step: ScriptStep, action: Action): End {
  if (step === "rset") return "refused";
  if (step === "quit") return "accepted";
  const isRefusal = typeof action === "object" || action === "closing";
  if (step === "greeting" || step === "ehlo" || step === "auth") {
    return CORRECT_REPLIES.has(action) ? "accepted" : "unopened";
  }
  // A success reply before the end of the message is not an acceptance.
  if (step === "body") return isRefusal ? "refused" : "broken";
  if (CORRECT_REPLIES.has(action)) return "accepted";
  if (isRefusal) return "refused";
  return step === "dot" ? "unknown" : "broken";
}

const SMALL = Buffer.from("Subject: a\r\n\r\nb\r\n");
/** Larger than the buffers of a connection, so that the server can interrupt the message. */
const LARGE = Buffer.alloc(8_000_000, "x");

async function endOf(session: Session, message: Uint8Array): Promise<End> {
  if ((await session.open()) !== null) return "unopened";
  const envelope = { from: "a@example.com", to: "b@example.net" };
  const { delivery } = await transact(session, { envelope, message });
  if (delivery.kind === "unsendable") throw new Error(delivery.message);
  return delivery.kind === "broken" && delivery.isUnknown ? "unknown" : delivery.kind;
}

const { greetingMs, commandMs, dataMs, blockMs, dotMs, resetMs, quitMs } = DEFAULT_TIMEOUTS;
/** The timeout of each step. */
const TIMEOUTS: Readonly<Record<(typeof STEPS)[number], number>> = {
  greeting: greetingMs,
  ehlo: commandMs,
  auth: commandMs,
  mail: commandMs,
  rcpt: commandMs,
  data: dataMs,
  body: blockMs,
  dot: dotMs,
  rset: resetMs,
  quit: quitMs,
};

async function run(cell: Cell, pipelining: boolean): Promise<{ end: End; reusable: boolean }> {
  const { step, action } = cell;
  const extensions = ["SIZE 50000000", "AUTH PLAIN", ...(pipelining ? ["PIPELINING"] : [])];
  // RSET is sent only after a refusal.
  const refusal: Script = step === "rset" ? { rcpt: { code: 550 } } : {};
  const server = await startScript({ script: { ...refusal, [step]: action }, extensions });
  const clock = manualClock();
  const session = new Session({
    host: "127.0.0.1",
    port: server.port,
    hostname: "client.test",
    tls: { mode: "none" },
    credentials: { user: "user", password: "pass" },
    clock,
  });
  const silence =
    action === "hang"
      ? advanceWhenSilent(clock, server, { ms: TIMEOUTS[step] })
      : Promise.resolve();
  const end = await endOf(session, step === "body" ? LARGE : SMALL);
  const reusable = session.isUsable;
  await session.quit();
  await silence;
  await server.close();
  return { end, reusable };
}

/** A session is used again only if both sides agree on its state. */
function isReusable({ step, action, end }: Cell): boolean {
  if (step === "rset") return CORRECT_REPLIES.has(action);
  const isRefusal = end === "refused" && typeof action === "object";
  return (end === "accepted" || isRefusal) && step !== "body";
}

for (const pipelining of [true, false]) {
  describe(`every fault at every step, ${pipelining ? "pipelined" : "one at a time"}`, () => {
    for (const step of STEPS) {
      for (const action of ACTIONS) {
        const cell: Cell = { step, action, end: expectedEnd(step, action) };
        const name = typeof action === "object" ? action.code : action;
        test(`${step}: ${name}`, async () => {
          expect(await run(cell, pipelining)).toEqual({
            end: cell.end,
            reusable: isReusable(cell),
          });
        });
      }
    }
  });
}
