/** Rounds of the campaign runner, and the long work that goes on beside them. */

import { beforeEach, expect, test } from "bun:test";
import { createLog } from "../../../src/lib/log.ts";
import { waitUntil } from "../../support/eventually.ts";
import { type CampaignApp, campaignsPerTest } from "./campaign-app.ts";

const HOUR_MS = 60 * 60 * 1000;
const SLICE = 250;

let t: CampaignApp;
let lines: string[] = [];
const write = (line: string) => void lines.push(line);
const next = campaignsPerTest({ log: createLog({ level: "info", format: "json", write }) });

beforeEach(async () => {
  lines = [];
  t = await next();
});

const linesWith = (text: string) => lines.filter((line) => line.includes(text)).length;

/** A campaign whose mails are all written. One of them leaves per minute. */
async function slowCampaign(recipients: number): Promise<string> {
  t.insertContacts(recipients);
  const id = await t.campaign({ rate: 1 / 60 });
  await t.act(id, "send");
  await waitUntil(() => t.count("campaign_seq IS NOT NULL") === recipients);
  return id;
}

test("of two rounds that are requested at the same time, one resumes a campaign", async () => {
  await t.contact("ada@x.test");
  const id = await t.campaign();
  await t.act(id, "send");
  t.setAll("domains", "status = 'FAILED'");
  await t.settle();
  expect(await t.statusOf(id)).toBe("PAUSED");
  t.setAll("domains", "status = 'VERIFIED'");
  t.clock.advance(10 * 60_000);
  await Promise.all([t.app.campaigns.tick(), t.app.campaigns.tick()]);
  expect(linesWith("a campaign was resumed: its domain is verified again")).toBe(1);
  expect(linesWith("a round of the campaign runner failed")).toBe(0);
});

test("several rounds cancel the mails of a campaign in one slice at a time", async () => {
  const id = await slowCampaign(600);
  await t.act(id, "cancel");
  const rounds = Promise.all(Array.from({ length: 5 }, () => t.app.campaigns.tick()));
  const steps: number[] = [];
  let left = t.count("status = 'QUEUED'");
  await waitUntil(() => {
    const before = left;
    left = t.count("status = 'QUEUED'");
    if (left < before) steps.push(before - left);
    return left === 0;
  });
  await rounds;
  expect(steps.length).toBeGreaterThan(1);
  expect(Math.max(...steps)).toBe(SLICE);
});

test("a campaign starts while the mails of another one are still being cancelled", async () => {
  const id = await slowCampaign(3000);
  const other = await t.campaign();
  const scheduledFor = new Date(t.clock.now() + HOUR_MS).toISOString();
  await t.act(other, "send", { scheduledFor });
  await t.app.campaigns.tick();
  await t.act(id, "cancel");
  t.clock.advance(HOUR_MS);
  await waitUntil(() => linesWith("a campaign was started") > 0);
  expect(t.count("status = 'QUEUED'")).toBeGreaterThan(SLICE);
});

test.each([0, 1, 2, 3, 4, 5])(
  "a campaign that is paused %i iterations into a round does not end the round",
  async (iterations) => {
    await t.contact("ada@x.test");
    const ids = [await t.campaign(), await t.campaign()];
    for (const id of ids) await t.act(id, "send");
    await t.settle();
    t.setAll("campaigns", "status = 'SENDING'");
    const round = t.app.campaigns.tick();
    for (let i = 0; i < iterations; i++) await new Promise((resolve) => setImmediate(resolve));
    await t.app.writer.write(() => {
      t.db.sqlite.run(
        "UPDATE campaigns SET status = 'PAUSED' WHERE id = ? AND status = 'SENDING'",
        [ids[1] ?? ""],
      );
    });
    await round;
    expect(linesWith("a round of the campaign runner failed")).toBe(0);
    const [first, second] = await Promise.all(ids.map(t.statusOf));
    expect(first).toBe("SENT");
    expect(["PAUSED", "SENT"]).toContain(second ?? "");
  },
);
