/** A campaign whose audience cannot be written rests instead of being tried again without end. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Db } from "../../../src/db/open.ts";
import { createLog } from "../../../src/lib/log.ts";
import { type CampaignApp, campaignApp, campaignsPerTest } from "./campaign-app.ts";

const HOUR_MS = 60 * 60 * 1000;
const PAUSE_AFTER_ERROR_MS = 5_000;

let t: CampaignApp;
let lines: string[] = [];
const log = createLog({ level: "info", format: "json", write: (line) => void lines.push(line) });

const next = campaignsPerTest({ log });
/** Applications that a test restarts. */
const own: CampaignApp[] = [];

beforeEach(async () => {
  lines = [];
  t = await next();
  t.insertContacts(3);
});

afterEach(async () => {
  for (const app of own.splice(0)) await app.close();
});

const linesWith = (text: string) => lines.filter((line) => line.includes(text)).length;
const failures = () => linesWith("the audience of a campaign cannot be written");

const isContact = { field: "email", operator: "contains", value: "@" };
const nested = (levels: number): object => ({
  logic: "AND",
  groups: [{ filters: [isContact], ...(levels === 1 ? {} : { conditions: nested(levels - 1) }) }],
});
const wide = (filters: number): object => ({
  logic: "AND",
  groups: [{ filters: Array.from({ length: filters }, () => isContact) }],
});

const segment = (name: string, condition: object) =>
  t.create("/segments", { name, condition }, "data.id");

/** A campaign that cannot end before the test pauses it: it sends one mail a minute. */
const SLOW = { rate: 1 };

/** A campaign to the members of a segment, by a filter. */
const campaignTo = (segmentId: string, options: { rate?: number } = {}) =>
  t.campaign({
    ...options,
    audienceType: "FILTERED",
    audienceFilter: {
      logic: "AND",
      groups: [{ filters: [{ field: `segment.${segmentId}`, operator: "memberOf" }] }],
    },
  });

/** Stores the condition of another segment without the checks of a request. */
function copyCondition(toId: string, fromId: string): void {
  t.db.sqlite.run(
    `UPDATE segments SET condition = (SELECT condition FROM segments WHERE id = ?) WHERE id = ?`,
    [fromId, toId],
  );
}

/** The state of a campaign of which no mail was written before its process ended. */
function forgetMails(): void {
  t.deleteMails();
  t.setAll("campaigns", "audience_cursor = 0");
}

/** Starts an application of its own, on the database of the one before. */
async function restart(db?: Db): Promise<void> {
  const { clock } = t;
  for (const app of own.splice(0)) await app.close();
  t = await campaignApp({ clock, log, ...(db === undefined ? {} : { db }) });
  own.push(t);
}

const reasonOf = async (id: string) =>
  (await t.call("GET", `/campaigns/${id}`)).at("data.statusReason");

describe("an audience whose segment exceeds the limits", () => {
  test.each([
    ["of depth", nested(10), "is nested more than 10 levels deep"],
    ["of filters", wide(200), "is above the limit of 200 filters"],
  ] as const)("%s is tried once, until a person resumes the campaign", async (_, large, limit) => {
    await restart();
    t.insertContacts(3);
    const small = await segment("Small", nested(1));
    const used = await segment("Used", nested(1));
    const id = await campaignTo(used);
    const scheduledFor = new Date(t.clock.now() + HOUR_MS).toISOString();
    await t.act(id, "send", { scheduledFor });
    copyCondition(used, await segment("Large", large));
    t.clock.advance(HOUR_MS);
    await t.settle();
    expect([await t.statusOf(id), failures()]).toEqual(["PAUSED", 1]);
    expect(await reasonOf(id)).toMatch(/^The audience cannot be written: audienceFilter\..*: is/);
    expect(await reasonOf(id)).toContain(limit);

    await restart(t.db);
    await t.settle();
    t.clock.advance(HOUR_MS);
    await t.settle();
    expect([await t.statusOf(id), failures()]).toEqual(["PAUSED", 1]);

    await t.act(id, "resume");
    await t.settle();
    expect([await t.statusOf(id), failures()]).toEqual(["PAUSED", 2]);

    copyCondition(used, small);
    await t.settle();
    expect([await t.statusOf(id), t.count("campaign_seq IS NOT NULL")]).toEqual(["PAUSED", 0]);
    await t.act(id, "resume");
    await t.settle();
    expect([await t.statusOf(id), t.received().length, failures()]).toEqual(["SENT", 3, 2]);
  });

  test("or has a comparison that cannot be made pauses a scheduled campaign, with the reason", async () => {
    const used = await segment("Used", nested(1));
    const id = await campaignTo(used);
    const scheduledFor = new Date(t.clock.now() + HOUR_MS).toISOString();
    await t.act(id, "send", { scheduledFor });
    const text = { field: "data.joined", operator: "lessThan", value: "2025/01/01" };
    const either = { logic: "OR", groups: [{ filters: [text] }, { filters: [isContact] }] };
    t.db.sqlite.run("UPDATE segments SET condition = ? WHERE id = ?", [
      JSON.stringify(either),
      used,
    ]);
    t.clock.advance(HOUR_MS);
    await t.settle();
    expect([await t.statusOf(id), t.received().length]).toEqual(["PAUSED", 0]);
    expect(await reasonOf(id)).toContain("The comparison of data.joined with");
    expect((await t.call("GET", `/campaigns/${id}/recipients`)).status).toBe(200);
    const corrected = nested(1);
    await t.call("PATCH", `/segments/${used}`, { condition: corrected });
    await t.act(id, "resume");
    await t.settle();
    expect([await t.statusOf(id), t.received().length]).toEqual(["SENT", 3]);
  });

  test("is tried once as well if a person had paused the campaign before", async () => {
    const small = await segment("Small", nested(1));
    const used = await segment("Used", nested(1));
    const id = await campaignTo(used, SLOW);
    await t.act(id, "send");
    await t.act(id, "pause");
    await t.settle();
    copyCondition(used, await segment("Large", nested(10)));
    forgetMails();
    await t.settle();
    expect([await t.statusOf(id), failures()]).toEqual(["PAUSED", 1]);
    expect(await reasonOf(id)).toContain("is nested more than 10 levels deep");
    copyCondition(used, small);
    await t.act(id, "resume");
    await t.settle();
    expect([await t.statusOf(id), t.count("campaign_seq IS NOT NULL")]).toEqual(["SENDING", 3]);
  });

  test("replaces the wait for the domain of the sender, which would end by itself", async () => {
    const used = await segment("Used", nested(1));
    const large = await segment("Large", nested(10));
    const id = await campaignTo(used);
    const scheduledFor = new Date(t.clock.now() + HOUR_MS).toISOString();
    await t.act(id, "send", { scheduledFor });
    t.setAll("domains", "status = 'FAILED'");
    copyCondition(used, large);
    t.clock.advance(HOUR_MS);
    await t.settle();
    t.setAll("domains", "status = 'VERIFIED'");
    t.clock.advance(10 * 60_000);
    await t.settle();
    expect([await t.statusOf(id), failures()]).toEqual(["PAUSED", 1]);
  });
});

test("the audience of a campaign that paused itself for another reason is still written", async () => {
  const id = await t.campaign(SLOW);
  await t.act(id, "send");
  await t.act(id, "pause");
  await t.settle();
  t.setAll("campaigns", "status_reason = '12.0% of the mails bounced'");
  forgetMails();
  await t.settle();
  expect([await t.statusOf(id), t.count("status = 'QUEUED'")]).toEqual(["PAUSED", 3]);
});

test("an audience that fails by an unexpected error is tried again after each pause", async () => {
  const id = await t.campaign(SLOW);
  await t.act(id, "send");
  await t.act(id, "pause");
  await t.settle();
  t.setAll("campaigns", "audience_condition = 'no JSON'");
  forgetMails();
  for (const expected of [1, 2, 3]) {
    await t.settle();
    expect(failures()).toBe(expected);
    t.clock.advance(PAUSE_AFTER_ERROR_MS);
  }
});

test("a campaign without the end of its audience is not tried", async () => {
  const id = await t.campaign();
  await t.act(id, "send");
  await t.settle();
  const before = linesWith("the audience of a campaign was written");
  t.setAll("campaigns", "status = 'PAUSED', audience_cursor = 0, audience_end = NULL");
  await t.settle();
  expect(await t.statusOf(id)).toBe("PAUSED");
  expect(linesWith("the audience of a campaign was written")).toBe(before);
});
