import { afterEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../support/app.ts";
import { HOUR, MINUTE } from "../support/automation.ts";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import {
  countWhere,
  FORWARD,
  mail,
  closeAll,
  mailingPerTest,
  startMailing,
  advanceTime,
  setClock,
  STEPS,
} from "./setup.ts";

const SECOND = 1000;

afterEach(closeAll);

describe("campaigns", () => {
  const next = mailingPerTest();
  async function campaign(t: TestApp, recipients: number, rest: object = {}): Promise<string> {
    for (let i = 0; i < recipients; i++)
      await t.call("POST", "/contacts", { email: `c${i}@example.net` });
    const body = { name: "News", audienceType: "ALL", ...mail, ...rest };
    return t.create("/campaigns", body, "data.id");
  }
  const statusOf = async (t: TestApp, id: string) =>
    (await t.call("GET", `/campaigns/${id}`)).text("data.status");
  async function settled(t: TestApp): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await t.app.campaigns.tick();
      await settleEventLoop();
    }
  }

  test.each(STEPS)("start at their scheduled date by the clock that was set %s", async (_, ms) => {
    const { t } = await next();
    const id = await campaign(t, 3);
    const scheduledFor = new Date(t.clock.now() + 30 * HOUR).toISOString();
    await t.call("POST", `/campaigns/${id}/send`, { scheduledFor });
    await setClock(t, ms);
    t.clock.advance(30 * HOUR - ms - MINUTE);
    await settled(t);
    expect(await statusOf(t, id)).toBe("SCHEDULED");
    t.clock.advance(MINUTE);
    await settled(t);
    await waitUntil(() => countWhere(t, "status = 'SENT'") === 3);
    await settled(t);
    expect(await statusOf(t, id)).toBe("SENT");
  });

  test.each(FORWARD)(
    "start at once if the clock is set %s past their scheduled date",
    async (_, ms) => {
      const { t } = await startMailing();
      const id = await campaign(t, 3);
      const scheduledFor = new Date(t.clock.now() + ms - MINUTE).toISOString();
      await t.call("POST", `/campaigns/${id}/send`, { scheduledFor });
      await setClock(t, ms);
      await waitUntil(() => countWhere(t, "status = 'SENT'") === 3);
      expect(await statusOf(t, id)).toBe("SENDING");
    },
  );

  test.each(STEPS)("under way keep their own rate if the clock is set %s", async (_, ms) => {
    const { t, handedMs } = await next();
    const id = await campaign(t, 10, { rate: 1 });
    await t.call("POST", `/campaigns/${id}/send`);
    await waitUntil(() => countWhere(t, "campaign_seq IS NOT NULL") === 10);
    await advanceTime(t, 3 * SECOND, 100);
    expect([2, 3, 4]).toContain(handedMs.length);
    await setClock(t, ms);
    await advanceTime(t, 8 * SECOND, 100);
    expect(handedMs).toHaveLength(10);
    const distances = handedMs.slice(1).map((at, i) => at - (handedMs[i] ?? 0));
    // A delayed mail is compensated within a second.
    expect(Math.max(...distances)).toBeLessThanOrEqual(1_200);
    await settled(t);
    expect(await statusOf(t, id)).toBe("SENT");
  });
});
