import { afterEach, describe, expect, test } from "bun:test";
import { DAY, HOUR, MINUTE } from "../support/automation.ts";
import { waitUntil } from "../support/eventually.ts";
import { BACK, closeAll, FORWARD, startApp, setClock } from "./setup.ts";

afterEach(closeAll);

describe("DNS checks of a domain", () => {
  /** Adds a domain and makes its next DNS check due in three hours. */
  async function checkedSoon() {
    const t = await startApp();
    await t.call("POST", "/domains", { domain: "shop.example" });
    const of = "WHERE domain = 'shop.example'";
    const first = `SELECT misses FROM domains ${of}`;
    await waitUntil(() => t.db.sqlite.query<{ misses: number }, []>(first).get()?.misses === 1);
    t.db.sqlite.run(`UPDATE domains SET next_check_at = ${t.clock.now() + 3 * HOUR} ${of}`);
    const waitMs = () => {
      const sql = `SELECT next_check_at AS at FROM domains ${of}`;
      return (t.db.sqlite.query<{ at: number }, []>(sql).get()?.at ?? 0) - t.clock.now();
    };
    return { t, waitMs };
  }

  test.each(BACK)("are due after the same time if the clock is set %s", async (_, ms) => {
    const { t, waitMs } = await checkedSoon();
    t.clock.advance(HOUR);
    await setClock(t, ms);
    expect(waitMs()).toBe(2 * HOUR);
  });

  test.each(FORWARD)("run at once if the clock is set %s past their due time", async (_, ms) => {
    const { t, waitMs } = await checkedSoon();
    await setClock(t, 3 * HOUR + ms);
    // The check found nothing, so the next one is due within a day.
    expect(waitMs()).toBeGreaterThanOrEqual(MINUTE);
    expect(waitMs()).toBeLessThanOrEqual(DAY);
  });
});
