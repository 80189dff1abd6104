/** Shared functions for tests in which the system clock is set back or forward. */

import type { Config } from "../../src/config/settings.ts";
import { testApp, type TestApp, type TestOptions } from "../support/app.ts";
import { DAY, HOUR } from "../support/automation.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop } from "../support/eventually.ts";
import { ACCEPTED, testTransport } from "../support/transport.ts";

const closers: (() => Promise<void>)[] = [];

/** Calls `close` at the end of the test, in reverse order of registration. */
export function closeAtEnd(close: () => Promise<void>): void {
  closers.push(close);
}

/** Closes all resources of a test; for `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

export const STEPS: [step: string, ms: number][] = [
  ["an hour back", -HOUR],
  ["an hour forward", HOUR],
  ["a day back", -DAY],
  ["a day forward", DAY],
];
export const BACK = STEPS.filter(([, ms]) => ms < 0);
export const FORWARD = STEPS.filter(([, ms]) => ms > 0);

/** Sets the system clock, and runs the check for steps that the application makes every second. */
export async function setClock(t: TestApp, ms: number): Promise<void> {
  t.clock.stepWall(ms);
  await t.app.clockSteps.check();
  await settleEventLoop();
}

/** Advances the clock in pieces, and runs the due work after each. */
export async function advanceTime(t: TestApp, ms: number, pieceMs = 5): Promise<void> {
  for (let passed = 0; passed < ms; passed += pieceMs) {
    t.clock.advance(pieceMs);
    await settleEventLoop();
  }
}

export async function startApp(options: TestOptions = {}): Promise<TestApp> {
  const t = await testApp(options);
  closeAtEnd(() => t.close());
  await t.app.start();
  return t;
}

/** Starts an application that records the monotonic times at which mails reach its transport. */
export async function startMailing(config: Partial<Config> = {}, options: TestOptions = {}) {
  const transport = testTransport({ answer: ACCEPTED });
  const clock = options.clock ?? manualClock();
  const handedMs: number[] = [];
  const hand = transport.hand.bind(transport);
  transport.hand = (dispatch) => {
    handedMs.push(clock.elapsed());
    return hand(dispatch);
  };
  const t = await startApp({ transport, config, ...options, clock });
  return { t, transport, handedMs };
}

export const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };

export async function send(t: TestApp, count: number): Promise<void> {
  const to = Array.from({ length: count }, () => `${crypto.randomUUID()}@example.net`);
  const { status } = await t.call("POST", "/v1/send", { ...mail, to });
  if (status !== 200) throw new Error(`the answer was ${status}`);
}

export const countWhere = (t: TestApp, where: string): number =>
  t.db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM emails WHERE ${where}`).get()
    ?.n ?? 0;
