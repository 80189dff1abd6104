import { afterEach, describe, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { testApp } from "../support/app.ts";
import { HOUR, MINUTE } from "../support/automation.ts";
import { manualClock } from "../support/clock.ts";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import { ACCEPTED, DEFERRED, testTransport } from "../support/transport.ts";
import {
  BACK,
  closeAll,
  countWhere,
  FORWARD,
  mailingPerTest,
  startMailing,
  startApp,
  advanceTime,
  send,
  setClock,
  STEPS,
} from "./setup.ts";

const SECOND = 1000;

afterEach(closeAll);

describe("the queue", () => {
  const next = mailingPerTest();
  const nextPaced = mailingPerTest({ sendRate: 14 });

  test.each(STEPS)("delivers at its usual pace if the clock is set %s", async (_, stepMs) => {
    const { t, handedMs } = await nextPaced();
    t.clock.advance(SECOND); // The pace of the test before has passed.
    await send(t, 20);
    while (handedMs.length <= 8) await advanceTime(t, 20, 20);
    t.clock.stepWall(stepMs);
    await send(t, 5);
    await setClock(t, 0);
    await send(t, 15);
    await advanceTime(t, 3 * SECOND, 20);
    expect(countWhere(t, "status = 'SENT'")).toBe(40);
    const tooSoon = handedMs.filter((at, i) => at - (handedMs[i - 14] ?? -Infinity) < SECOND);
    expect(tooSoon).toEqual([]);
  });

  type Mailing = Awaited<ReturnType<typeof startMailing>>;
  async function deferred(mailing: Promise<Mailing> = next()): Promise<Mailing> {
    const { t, transport, handedMs } = await mailing;
    transport.answer = DEFERRED;
    await send(t, 1);
    await waitUntil(() => countWhere(t, "status = 'QUEUED' AND attempts = 1") === 1);
    transport.answer = ACCEPTED;
    return { t, transport, handedMs };
  }

  // The first retry is due after 4 to 6 minutes.
  test.each(BACK)("retries after the same time if the clock is set %s", async (_, ms) => {
    const { t, transport } = await deferred();
    await advanceTime(t, MINUTE, MINUTE);
    await setClock(t, ms);
    await advanceTime(t, 2.9 * MINUTE, 0.1 * MINUTE);
    expect(transport.handed).toHaveLength(1);
    await advanceTime(t, 2.2 * MINUTE, 0.1 * MINUTE);
    expect(transport.handed).toHaveLength(2);
  });

  // A step forward after a step back only makes up for it, so this needs a clock of its own.
  test.each(FORWARD)("retries at once if the clock is set %s", async (_, ms) => {
    const { t, transport } = await deferred(startMailing());
    await setClock(t, ms);
    await waitUntil(() => transport.handed.length === 2);
  });

  test.each(BACK)(
    "delivers due mail and leases of an earlier process if the clock was set %s",
    async (_, ms) => {
      const transport = testTransport({ concurrency: 2 });
      const first = await testApp({ transport });
      await first.app.start();
      await send(first, 20);
      await waitUntil(() => transport.handed.length === 2);
      const closed = first.close();
      await settleEventLoop();
      const queued = countWhere(first, "status = 'QUEUED'");
      // The transport never answers, so the leases are returned after ten seconds.
      first.clock.advance(10 * SECOND);
      await closed;
      expect(queued).toBeGreaterThan(10);
      const clock = manualClock(first.clock.now() + ms);
      const { t, handedMs } = await startMailing({}, { db: first.db, clock });
      await waitUntil(() => handedMs.length === queued);
      // A returned lease is due 30 s after it was taken.
      await advanceTime(t, 19 * SECOND, SECOND);
      expect(handedMs).toHaveLength(queued);
      await advanceTime(t, 2 * SECOND, SECOND);
      expect(handedMs).toHaveLength(20);
    },
  );

  test.each(BACK)(
    "schedules the retry from the outcome if it is stored after the clock was set %s",
    async (_, ms) => {
      const { t, transport } = await next();
      transport.answer = null;
      await send(t, 1);
      await waitUntil(() => transport.open().length === 1);
      t.db.sqlite.run("PRAGMA query_only = ON");
      transport.open()[0]?.end(DEFERRED);
      await settleEventLoop();
      t.clock.stepWall(ms);
      t.db.sqlite.run("PRAGMA query_only = OFF");
      await setClock(t, 0);
      // The outcome is stored at the next try, a second after the database refused it.
      t.clock.advance(SECOND);
      await waitUntil(() => countWhere(t, "status = 'QUEUED' AND attempts = 1") === 1);
      const [waitMs = 0] = t.db.sqlite
        .query<{ at: number }, [number]>("SELECT next_at AS at FROM emails WHERE project_seq = ?")
        .all(t.project.seq)
        .map(({ at }) => at - t.clock.now());
      expect(waitMs).toBeGreaterThanOrEqual(4 * MINUTE - SECOND);
      expect(waitMs).toBeLessThanOrEqual(6 * MINUTE - SECOND);
    },
  );

  test("logs each step once", async () => {
    const lines: string[] = [];
    const log = createLog({
      level: "warn",
      format: "text",
      write: (line) => void lines.push(line),
    });
    const t = await startApp({ log });
    await setClock(t, 400);
    for (const ms of [-HOUR, 2 * HOUR]) {
      await setClock(t, ms);
      await setClock(t, 0);
    }
    expect(lines.filter((line) => line.includes("system clock"))).toEqual([
      expect.stringContaining("the system clock was set back by 3600 seconds"),
      expect.stringContaining("the system clock was set forward by 7200 seconds"),
    ]);
  });

  test("adopts the new time only together with the due times", async () => {
    const { t, transport } = await deferred();
    const dueAt = () =>
      t.db.sqlite
        .query<{ at: number }, [number]>("SELECT next_at AS at FROM emails WHERE project_seq = ?")
        .get(t.project.seq)?.at ?? 0;
    const before = { dueAt: dueAt(), now: t.clock.now() };
    t.db.sqlite.run("PRAGMA query_only = ON");
    t.clock.stepWall(-HOUR);
    const isFollowed = await t.app.clockSteps.check().then(
      () => true,
      () => false,
    );
    t.db.sqlite.run("PRAGMA query_only = OFF");
    expect([isFollowed, dueAt()]).toEqual([false, before.dueAt]);
    await send(t, 1);
    expect(countWhere(t, `created_at = ${before.now}`)).toBe(2);
    await setClock(t, 0);
    expect(dueAt()).toBe(before.dueAt - HOUR);
    await send(t, 1);
    expect(countWhere(t, `created_at = ${t.clock.now()}`)).toBe(1);
    await waitUntil(() => transport.handed.length === 3);
  });
});
