/** A person pauses a campaign at the moment at which the runner resumes it, because its domain is verified again. */

import { expect, test } from "bun:test";
import { settleEventLoop } from "../../support/eventually.ts";
import { campaignApp } from "./campaign-app.ts";

const CAMPAIGNS = 20;

test("a pause that is answered with 200 stays, however far the runner is", async () => {
  const t = await campaignApp({ config: { sendRate: 1 } });
  t.insertContacts(3);
  const ids: string[] = [];
  for (let n = 0; n < CAMPAIGNS; n++) {
    ids.push(await t.campaign({ name: `Campaign ${n}`, rate: 1 / 60 }));
  }
  const [first = "", last = ""] = [ids[0], ids.at(-1)];
  for (const id of ids) await t.act(id, "send");
  const settle = async () => {
    await t.app.campaigns.tick();
    await settleEventLoop();
  };
  await settle();
  for (const iterations of [1, 2, 3, 4, 6, 9]) {
    t.setAll("domains", "status = 'FAILED'");
    await settle();
    expect([await t.statusOf(first), await t.statusOf(last)]).toEqual(["PAUSED", "PAUSED"]);
    t.setAll("domains", "status = 'VERIFIED'");
    const ticking = t.app.campaigns.tick();
    for (let n = 0; n < iterations; n++) await new Promise((resolve) => setImmediate(resolve));
    const [, paused] = await Promise.all([ticking, t.act(last, "pause")]);
    await settleEventLoop();
    expect([iterations, paused.status, paused.at("data.status")]).toEqual([
      iterations,
      200,
      "PAUSED",
    ]);
    expect([await t.statusOf(first), await t.statusOf(last)]).toEqual(["SENDING", "PAUSED"]);
    await t.act(last, "resume");
  }
  await t.close();
});
