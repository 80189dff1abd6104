import { beforeEach, describe, expect, test } from "bun:test";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

let t: CampaignApp;
const next = campaignsPerTest();
beforeEach(async () => {
  t = await next();
});

const HOUR = 3_600_000;
const at = (hours: number) => new Date(t.clock.now() + hours * HOUR).toISOString();
const recipients = () => t.received().map((raw) => /^To: (.*)@/m.exec(raw)?.[1] ?? "");

async function advance(hours: number): Promise<string[]> {
  t.clock.advance(hours * HOUR);
  await t.settle();
  return recipients();
}

describe("a campaign at the local time of each contact", () => {
  test("leaves when the clock of the contact shows the time", async () => {
    await t.contact("kiritimati@x.test", { data: { timezone: "Pacific/Kiritimati" } });
    await t.contact("berlin@x.test", { data: { timeZone: "Europe/Berlin" } });
    await t.contact("none@x.test");
    await t.contact("wrong@x.test", { data: { timezone: "Mars/Olympus" } });
    await t.contact("york@x.test", { data: { time_zone: "America/New_York" } });
    const id = await t.campaign();
    const scheduledFor = at(20);
    const local = { scheduledFor, timeZone: "RECIPIENT", fallbackTimeZone: "europe/berlin" };
    expect((await t.act(id, "send", local)).status).toBe(204);
    expect((await t.call("GET", `/campaigns/${id}`)).at("data")).toMatchObject({
      status: "SCHEDULED",
      scheduledAt: scheduledFor,
      timeZone: "RECIPIENT",
      fallbackTimeZone: "Europe/Berlin",
    });
    // Berlin is an hour ahead of UTC, Kiritimati fourteen, and New York five behind.
    expect(await advance(6.5)).toEqual([]);
    expect(await advance(0.5)).toEqual(["kiritimati"]);
    expect(await t.statusOf(id)).toBe("SENDING");
    expect(await advance(12.5)).toHaveLength(1);
    expect((await advance(0.5)).toSorted()).toEqual(["berlin", "kiritimati", "none", "wrong"]);
    // A contact who unsubscribes before its time gets no mail.
    expect(await t.stats(id)).toMatchObject({ totalRecipients: 5, queued: 1 });
    expect(await advance(6)).toContain("york");
    expect(await t.statusOf(id)).toBe("SENT");
  });

  test("is sent at once where the time is over, but not within the time of an undo", async () => {
    await t.contact("kiritimati@x.test", { data: { timezone: "Pacific/Kiritimati" } });
    await t.contact("none@x.test");
    const id = await t.campaign();
    await t.act(id, "send", { scheduledFor: at(1), timeZone: "RECIPIENT" });
    expect(await advance(10 / 3600)).toEqual([]);
    expect(await t.statusOf(id)).toBe("SCHEDULED");
    expect(await advance(5 / 3600)).toEqual(["kiritimati"]);
    expect(await advance(1)).toEqual(["kiritimati", "none"]);
  });

  test("can be undone, sent now and cancelled", async () => {
    await t.contact("none@x.test");
    const id = await t.campaign();
    const local = { scheduledFor: at(20), timeZone: "RECIPIENT" };
    await t.act(id, "send", local);
    const undone = await t.act(id, "unschedule");
    expect(undone.at("data")).toMatchObject({ timeZone: null, fallbackTimeZone: null });
    await t.act(id, "send", local);
    await t.act(id, "send");
    expect(await advance(0)).toEqual(["none"]);
    const other = await t.campaign();
    await t.act(other, "send", local);
    await advance(15);
    expect(await t.statusOf(other)).toBe("SENDING");
    await t.act(other, "cancel");
    expect(await advance(20)).toEqual(["none"]);
  });

  test.each([
    [{ timeZone: "RECIPIENT" }, "scheduledFor"],
    [
      { timeZone: "RECIPIENT", fallbackTimeZone: "x", scheduledFor: "2026-04-01T00:00:00Z" },
      "fallbackTimeZone",
    ],
    [{ fallbackTimeZone: "UTC", scheduledFor: "2026-04-01T00:00:00Z" }, "fallbackTimeZone"],
  ])("is refused with %j", async (body, field) => {
    await t.contact("none@x.test");
    const answer = await t.act(await t.campaign(), "send", body);
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
  });
});
