import { afterEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../support/app.ts";
import { HOUR, MINUTE } from "../support/automation.ts";
import { eventually, quiet } from "../support/eventually.ts";
import { startWebServer } from "../support/web-server.ts";
import { BACK, closeAll, closeAtEnd, FORWARD, mail, opened, setClock, STEPS } from "./setup.ts";

afterEach(closeAll);

describe("webhooks", () => {
  async function failing() {
    let status = 500;
    const server = await startWebServer({ answer: () => ({ status, body: "" }) });
    closeAtEnd(() => server.close());
    const t = await opened({ config: { allowPrivateAddresses: true } });
    await t.call("POST", "/webhooks", { url: server.origin, events: ["*"] });
    await t.call("POST", "/v1/track", { event: "bought", email: "ada@example.net" });
    const nextAt = () =>
      t.db.sqlite
        .query<{ at: number | null }, []>(
          "SELECT max(next_at) AS at FROM webhook_deliveries WHERE attempts = 1",
        )
        .get()?.at ?? null;
    await eventually(() => nextAt() !== null);
    status = 200;
    const waitMs = (nextAt() ?? 0) - t.clock.now();
    return { t, server, waitMs };
  }

  test.each(BACK)(
    "are retried as late as they would have been: the clock is set %s",
    async (_, ms) => {
      const { t, server, waitMs } = await failing();
      const { length } = server.requests;
      await setClock(t, ms);
      t.clock.advance(waitMs - 100);
      await quiet();
      expect(server.requests).toHaveLength(length);
      t.clock.advance(100);
      await eventually(() => server.requests.length > length);
    },
  );

  test.each(FORWARD)("are retried at once when the clock is set %s", async (_, ms) => {
    const { t, server } = await failing();
    const { length } = server.requests;
    await setClock(t, ms);
    await eventually(() => server.requests.length > length);
  });
});

describe("an Idempotency-Key", () => {
  const body = { ...mail, to: "ada@example.net" };
  const repeat = async (t: TestApp) => {
    const answer = await t.call("POST", "/v1/send", body, { headers: { "idempotency-key": "k" } });
    return [answer.status, answer.headers.get("idempotency-replayed")];
  };

  test.each(STEPS)("is kept for 24 hours, whether the clock is set %s or not", async (_, ms) => {
    const t = await opened();
    expect(await repeat(t)).toEqual([200, null]);
    t.clock.advance(HOUR);
    await setClock(t, ms);
    expect(await repeat(t)).toEqual([200, "true"]);
    t.clock.advance(23 * HOUR - 1);
    expect(await repeat(t)).toEqual([200, "true"]);
    t.clock.advance(1);
    expect(await repeat(t)).toEqual([200, null]);
    expect(t.countRows("emails")).toBe(2);
  });
});

describe("tracked segments", () => {
  test.each(STEPS)("notice changes after the clock was set %s", async (_, ms) => {
    const t = await opened();
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
