/** A person pauses a campaign at the moment at which the runner resumes it, because its domain is verified again. */

import { expect, test } from "bun:test";
import { settleEventLoop } from "../../support/eventually.ts";
import { campaignApp } from "./campaign-app.ts";

const CAMPAIGNS = 20;

test.each([1, 2, 3, 4, 6, 9])(
  "a pause that is answered with 200 stays (after %d iterations)",
  async (iterations) => {
    const t = await campaignApp({ config: { sendRate: 1 } });
    t.insertContacts(50);
    const ids: string[] = [];
    for (let n = 0; n < CAMPAIGNS; n++) {
      ids.push(await t.campaign({ name: `Campaign ${n}`, rate: 1 / 60 }));
    }
    for (const id of ids) await t.act(id, "send");
    const settle = async () => {
      await t.app.campaigns.tick();
      await settleEventLoop();
    };
    await settle();
    t.db.sqlite.run("UPDATE domains SET status = 'FAILED'");
    await settle();
    t.db.sqlite.run("UPDATE domains SET status = 'VERIFIED'");
    const last = ids.at(-1) ?? "";
    const ticking = t.app.campaigns.tick();
    for (let n = 0; n < iterations; n++) await new Promise((resolve) => setImmediate(resolve));
    const [, paused] = await Promise.all([ticking, t.act(last, "pause")]);
    await settleEventLoop();
    const shown = await t.call("GET", `/campaigns/${last}`);
    expect([paused.status, paused.at("data.status")]).toEqual([200, "PAUSED"]);
    expect(shown.at("data.status")).toBe("PAUSED");
    const others = await t.call("GET", `/campaigns/${ids[0]}`);
    expect(others.at("data.status")).toBe("SENDING");
    await t.close();
  },
);
