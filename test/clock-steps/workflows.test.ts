import { afterEach, describe, expect, test } from "bun:test";
import {
  type Automation,
  automationPerTest,
  DAY,
  HOUR,
  MINUTE,
  startAutomation,
} from "../support/automation.ts";
import { waitUntil } from "../support/eventually.ts";
import { startWebServer } from "../support/web-server.ts";
import { chain, delay, graph, step, trigger } from "../modules/workflows/graphs.ts";
import { BACK, closeAll, closeAtEnd, FORWARD, setClock, STEPS } from "./setup.ts";

afterEach(closeAll);

describe("workflows", () => {
  const started = automationPerTest();
  /** A step forward after a step back only makes up for it, so such a test needs a clock of its own. */
  async function unstepped(): Promise<Automation> {
    const a = await startAutomation();
    closeAtEnd(a.close);
    return a;
  }
  const delayed = chain(delay("wait", 2, "days"), step("end", "EXIT", { reason: "waited" }));
  const race = graph(
    [
      trigger(),
      step("wait", "WAIT_FOR_EVENT", { eventName: "purchase", timeout: 3600 }),
      step("bought", "EXIT", { reason: "bought" }),
      step("late", "EXIT", { reason: "late" }),
    ],
    ["start>wait", "wait>bought", "wait>late:timeout"],
  );
  const statusOf = async (a: Automation, id: string) => (await a.only(id)).exitReason;
  async function setClockOf(a: Automation, ms: number): Promise<void> {
    await setClock(a.t, ms);
    await a.settle();
  }

  test.each(BACK)(
    "a DELAY of two days ends after two days if the clock is set %s",
    async (_, ms) => {
      const a = await started();
      const id = await a.workflow(delayed);
      await a.track("signed-up");
      await a.advance(6 * HOUR);
      await setClockOf(a, ms);
      await a.advance(42 * HOUR - MINUTE);
      expect(await statusOf(a, id)).toBeNull();
      await a.advance(MINUTE);
      expect(await statusOf(a, id)).toBe("waited");
    },
  );

  test.each(BACK)(
    "a DELAY is not shortened if it begins after the clock was set %s",
    async (_, ms) => {
      const a = await started();
      const id = await a.workflow(delayed);
      a.t.clock.stepWall(ms);
      await a.track("signed-up");
      await setClockOf(a, 0);
      await a.advance(2 * DAY - MINUTE);
      expect(await statusOf(a, id)).toBeNull();
      await a.advance(MINUTE);
      expect(await statusOf(a, id)).toBe("waited");
    },
  );

  test.each(BACK)(
    "a DELAY ends at its time if the clock is set %s and forward again",
    async (_, ms) => {
      const a = await started();
      const id = await a.workflow(delayed);
      await a.track("signed-up");
      await setClockOf(a, ms);
      await a.advance(5 * MINUTE);
      await setClockOf(a, -ms);
      await a.advance(2 * DAY - 6 * MINUTE);
      expect(await statusOf(a, id)).toBeNull();
      await a.advance(MINUTE);
      expect(await statusOf(a, id)).toBe("waited");
    },
  );

  test.each(FORWARD)(
    "a DELAY ends early by the time by which the clock is set %s",
    async (_, ms) => {
      const a = await unstepped();
      const id = await a.workflow(delayed);
      await a.track("signed-up");
      await a.advance(2 * DAY - ms);
      expect(await statusOf(a, id)).toBeNull();
      await setClockOf(a, ms);
      expect(await statusOf(a, id)).toBe("waited");
    },
  );

  test.each(BACK)("an event ends a wait after the clock was set %s", async (_, ms) => {
    const a = await started();
    const id = await a.workflow(race);
    await a.track("signed-up");
    await a.advance(30 * MINUTE);
    await setClockOf(a, ms);
    await a.advance(29 * MINUTE);
    await a.track("purchase");
    expect(await statusOf(a, id)).toBe("bought");
  });

  test.each(BACK)("a wait times out at its time after the clock was set %s", async (_, ms) => {
    const a = await started();
    const id = await a.workflow(race);
    await a.track("signed-up");
    await a.advance(30 * MINUTE);
    await setClockOf(a, ms);
    await a.advance(29 * MINUTE);
    expect(await statusOf(a, id)).toBeNull();
    await a.advance(MINUTE + 1);
    expect(await statusOf(a, id)).toBe("late");
  });

  test.each(BACK)(
    "an event ends a wait if it was recorded before the clock was set %s",
    async (_, ms) => {
      const a = await started();
      const id = await a.workflow(race);
      await a.track("signed-up");
      await a.advance(30 * MINUTE);
      // No reader reads the event log until automation is started again.
      await a.t.app.automation.stop();
      await a.t.call("POST", "/v1/track", { event: "purchase", email: "ada@example.net" });
      await setClock(a.t, ms);
      await a.t.app.automation.start();
      await a.settle();
      expect(await statusOf(a, id)).toBe("bought");
    },
  );

  test.each(STEPS)(
    "a webhook response is accepted although the clock is set %s meanwhile",
    async (_, ms) => {
      const answers: (() => void)[] = [];
      const server = await startWebServer({
        answer: () => ({ write: (response) => answers.push(() => response.end("{}")) }),
      });
      closeAtEnd(() => server.close());
      const a = await started();
      const call = step("call", "WEBHOOK", { method: "POST", url: server.origin });
      const id = await a.workflow(chain(call, step("end", "EXIT", { reason: "called" })));
      const body = { event: "signed-up", email: "ada@example.net" };
      await a.t.call("POST", "/v1/track", body);
      await waitUntil(() => answers.length === 1);
      await setClock(a.t, ms);
      answers[0]?.();
      await a.settle();
      expect([await statusOf(a, id), server.requests.length]).toEqual(["called", 1]);
    },
  );

  test("a schedule makes one run for each planned time while the clock is set an hour forward and back", async () => {
    const a = await unstepped();
    await a.t.call("POST", "/contacts", { email: "ada@example.net" });
    const scheduled = {
      trigger: { type: "SCHEDULE", cron: "*/30 * * * *", timeZone: "UTC", segmentId: null },
      steps: [step("end", "EXIT")],
    };
    const id = await a.workflow(scheduled, { allowReentry: true });
    // The clock of tests begins at 10:00 UTC.
    await a.advance(30 * MINUTE);
    for (let round = 0; round < 3; round++) {
      await setClockOf(a, HOUR);
      await setClockOf(a, -HOUR);
    }
    const shown = await a.t.call("GET", `/workflows/${id}`);
    expect(shown.at("data.nextEntryAt")).toBe("2026-03-02T11:00:00.000Z");
    for (let i = 0; i < 3; i++) await a.advance(30 * MINUTE);
    const runs = a.t.db.sqlite
      .query<{ run: string }, []>(
        `SELECT strftime('%H:%M', planned_at / 1000, 'unixepoch') || ' ' || status || ' ' || entered AS run
         FROM workflow_entry_runs ORDER BY planned_at`,
      )
      .all();
    expect(runs.map(({ run }) => run)).toEqual(
      ["10:30", "11:00", "11:30", "12:00"].map((at) => `${at} COMPLETED 1`),
    );
  });
});
