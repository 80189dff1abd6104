/** Shared functions for tests in which the system clock is set back or forward. */

import type { Config } from "../../src/config/settings.ts";
import { createPace } from "../../src/outbox/pace.ts";
import { testApp, type TestApp, type TestOptions } from "../support/app.ts";
import { DAY, HOUR } from "../support/automation.ts";
import { type ManualClock, manualClock } from "../support/clock.ts";
import { settleEventLoop } from "../support/eventually.ts";
import { projectPerTest } from "../support/project-per-test.ts";
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

/** A transport that records the monotonic times at which mails reach it. */
function timedTransport(clock: ManualClock, { sendRate = 0 }: Partial<Config>) {
  const pace = sendRate === 0 ? undefined : createPace({ ratePerSecond: sendRate, clock });
  const transport = testTransport({ answer: ACCEPTED, pace });
  const handedMs: number[] = [];
  const push = transport.handed.push.bind(transport.handed);
  transport.handed.push = (...mails) => {
    handedMs.push(clock.elapsed());
    return push(...mails);
  };
  return { transport, handedMs };
}

/** Starts an application that records the monotonic times at which mails reach its transport. */
export async function startMailing(config: Partial<Config> = {}, options: TestOptions = {}) {
  const clock = options.clock ?? manualClock();
  const { transport, handedMs } = timedTransport(clock, config);
  const t = await startApp({ transport, config, ...options, clock });
  return { t, transport, handedMs };
}

/** The same on one application, with a new project for each test. */
export function mailingPerTest(config: Partial<Config> = {}) {
  const clock = manualClock();
  const { transport, handedMs } = timedTransport(clock, config);
  const projects = projectPerTest({ clock, transport, config });
  return async () => {
    const t = await projects.next();
    await t.start();
    transport.answer = ACCEPTED;
    for (const list of [handedMs, transport.handed]) list.length = 0;
    return { t, transport, handedMs };
  };
}

export const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };

export async function send(t: TestApp, count: number): Promise<void> {
  const to = Array.from({ length: count }, () => `${crypto.randomUUID()}@example.net`);
  const { status } = await t.call("POST", "/v1/send", { ...mail, to });
  if (status !== 200) throw new Error(`the answer was ${status}`);
}

export const countWhere = (t: TestApp, where: string): number =>
  t.db.sqlite
    .query<{ n: number }, [number]>(
      `SELECT count(*) AS n FROM emails WHERE project_seq = ? AND ${where}`,
    )
    .get(t.project.seq)?.n ?? 0;
