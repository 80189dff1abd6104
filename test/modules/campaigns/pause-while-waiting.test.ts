/** A person pauses a campaign at the moment at which the runner resumes it, because its domain is verified again. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { settleEventLoop } from "../../support/eventually.ts";
import { type CampaignApp, campaignApp } from "./campaign-app.ts";

const CAMPAIGNS = 20;

let t: CampaignApp;
let first = "";
let last = "";
beforeAll(async () => {
  t = await campaignApp({ config: { sendRate: 1 } });
  t.insertContacts(3);
  const ids: string[] = [];
  for (let n = 0; n < CAMPAIGNS; n++) {
    ids.push(await t.campaign({ name: `Campaign ${n}`, rate: 1 / 60 }));
  }
  [first = "", last = ""] = [ids[0], ids.at(-1)];
  for (const id of ids) await t.act(id, "send");
  await settle();
});
afterAll(() => t.close());

async function settle(): Promise<void> {
  await t.app.campaigns.tick();
  await settleEventLoop();
}

test.each([1, 2, 3, 4, 6, 9])(
  "a pause that is answered with 200 stays, %d iterations after the runner began",
  async (iterations) => {
    t.setAll("domains", "status = 'FAILED'");
    await settle();
    expect([await t.statusOf(first), await t.statusOf(last)]).toEqual(["PAUSED", "PAUSED"]);
    t.setAll("domains", "status = 'VERIFIED'");
    const ticking = t.app.campaigns.tick();
    for (let n = 0; n < iterations; n++) await new Promise((resolve) => setImmediate(resolve));
    const [, paused] = await Promise.all([ticking, t.act(last, "pause")]);
    await settleEventLoop();
    expect([paused.status, paused.at("data.status")]).toEqual([200, "PAUSED"]);
    expect([await t.statusOf(first), await t.statusOf(last)]).toEqual(["SENDING", "PAUSED"]);
    await t.act(last, "resume");
  },
);
