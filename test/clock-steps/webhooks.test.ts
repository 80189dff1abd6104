import { afterEach, describe, expect, test } from "bun:test";
import { waitUntil, settleEventLoop } from "../support/eventually.ts";
import { startWebServer } from "../support/web-server.ts";
import { BACK, closeAll, closeAtEnd, FORWARD, startApp, setClock } from "./setup.ts";

afterEach(closeAll);

describe("webhooks", () => {
  async function failing() {
    let status = 500;
    const server = await startWebServer({ answer: () => ({ status, body: "" }) });
    closeAtEnd(() => server.close());
    const t = await startApp({ config: { allowPrivateAddresses: true } });
    await t.call("POST", "/webhooks", { url: server.origin, events: ["*"] });
    await t.call("POST", "/v1/track", { event: "bought", email: "ada@example.net" });
    const nextAt = () =>
      t.db.sqlite
        .query<{ at: number | null }, []>(
          "SELECT max(next_at) AS at FROM webhook_deliveries WHERE attempts = 1",
        )
        .get()?.at ?? null;
    await waitUntil(() => nextAt() !== null);
    status = 200;
    const waitMs = (nextAt() ?? 0) - t.clock.now();
    return { t, server, waitMs };
  }

  test.each(BACK)("are retried after the same time if the clock is set %s", async (_, ms) => {
    const { t, server, waitMs } = await failing();
    const { length } = server.requests;
    await setClock(t, ms);
    t.clock.advance(waitMs - 100);
    await settleEventLoop();
    expect(server.requests).toHaveLength(length);
    t.clock.advance(100);
    await waitUntil(() => server.requests.length > length);
  });

  test.each(FORWARD)("are retried at once if the clock is set %s", async (_, ms) => {
    const { t, server } = await failing();
    const { length } = server.requests;
    await setClock(t, ms);
    await waitUntil(() => server.requests.length > length);
  });
});
