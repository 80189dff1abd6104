/** What tests of a system clock that is set back or forward have in common. */

import type { Config } from "../../src/config.ts";
import { testApp, type TestApp, type TestOptions } from "../support/app.ts";
import { DAY, HOUR } from "../support/automation.ts";
import { manualClock } from "../support/clock.ts";
import { settleEventLoop } from "../support/eventually.ts";
import { ACCEPTED, testTransport } from "../support/transport.ts";

const closers: (() => Promise<void>)[] = [];

/** Closes at the end of the test; the latest first. */
export function closeAtEnd(close: () => Promise<void>): void {
  closers.push(close);
}

/** For `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close();
}

export const STEPS: [why: string, ms: number][] = [
  ["an hour back", -HOUR],
  ["an hour forward", HOUR],
  ["a day back", -DAY],
  ["a day forward", DAY],
];
export const BACK = STEPS.filter(([, ms]) => ms < 0);
export const FORWARD = STEPS.filter(([, ms]) => ms > 0);

/** Sets the clock of the system, and lets the application notice it as it does every second. */
export async function setClock(t: TestApp, ms: number): Promise<void> {
  t.clock.stepWall(ms);
  await t.app.clockSteps.check();
  await settleEventLoop();
}

/** Lets time pass in pieces, with everything that happens in between. */
export async function pass(t: TestApp, ms: number, pieceMs = 5): Promise<void> {
  for (let passed = 0; passed < ms; passed += pieceMs) {
    t.clock.advance(pieceMs);
    await settleEventLoop();
  }
}

export async function opened(options: TestOptions = {}): Promise<TestApp> {
  const t = await testApp(options);
  closeAtEnd(() => t.close());
  await t.app.start();
  return t;
}

/** A running application; what is handed to its transport, with the monotonic times. */
export async function mailing(config: Partial<Config> = {}, options: TestOptions = {}) {
  const transport = testTransport({ answer: ACCEPTED });
  const clock = options.clock ?? manualClock();
  const handedMs: number[] = [];
  const hand = transport.hand.bind(transport);
  transport.hand = (dispatch) => {
    handedMs.push(clock.elapsed());
    return hand(dispatch);
  };
  const t = await opened({ transport, config, ...options, clock });
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
