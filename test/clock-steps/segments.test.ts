import { afterEach, describe, expect, test } from "bun:test";
import { MINUTE } from "../support/automation.ts";
import { closeAll, startApp, setClock, STEPS } from "./setup.ts";

afterEach(closeAll);

describe("tracked segments", () => {
  test.each(STEPS)("notice changes after the clock was set %s", async (_, ms) => {
    const t = await startApp();
    const filters = [{ field: "data.plan", operator: "equals", value: "pro" }];
    const condition = { logic: "AND", groups: [{ filters }] };
    await t.create("/segments", { name: "Pro", trackMembership: true, condition }, "data.id");
    await t.app.segments.recompute();
    t.clock.advance(MINUTE);
    await setClock(t, ms);
    for (const email of ["ada@example.net", "bob@example.net"]) {
      await t.call("POST", "/contacts", { email, data: { plan: "pro" } });
      t.clock.advance(MINUTE);
      await t.app.segments.recompute();
    }
    expect(t.eventNames().filter((name) => name === "segment.pro.entry")).toHaveLength(2);
  });
});
