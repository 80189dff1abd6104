/** The routes of deliveries that the page of a webhook needs: the request, and retrying all. */

import { afterEach, describe, expect, test } from "bun:test";
import { expectError } from "../../support/refusal.ts";
import { signIn } from "../../support/session.ts";
import { closeAll, HOUR, webhooksPerTest } from "./setup.ts";

const { nextApp, nextWebhook } = webhooksPerTest();
afterEach(closeAll);

describe("a delivery", () => {
  test("is shown with the request that the receiver got, without the signature", async () => {
    const { t, id, server, track, attempted, rows } = await nextWebhook({
      events: ["order.*"],
      answer: () => ({ status: 503, body: "later" }),
    });
    await track("order.paid", "ada@example.net", { total: 12 });
    await attempted(1);
    const deliveryId = rows()[0]?.id ?? "";
    const shown = await t.call("GET", `/webhooks/${id}/deliveries/${deliveryId}`);
    const listed = await t.call("GET", `/webhooks/${id}/deliveries`);
    expect(shown.at("data")).toEqual({
      ...Object(listed.at("data.items.0")),
      earlierAttempts: [],
      request: {
        method: "POST",
        url: `${server.origin}/hook`,
        headers: { "content-type": "application/json", "webhook-id": deliveryId },
        body: server.requests[0]?.body,
      },
    });
    expect(shown.at("data.responseExcerpt")).toBe("later");
  });

  test("shows how long the latest try took, and how the nine tries before it ended", async () => {
    let tries = 0;
    const { t, id, server, track, attempted, rows } = await nextWebhook({
      events: ["a"],
      answer: () => {
        t.clock.advance(100 + tries++);
        return { status: 500 + tries };
      },
    });
    await track("a");
    await attempted(1);
    const startedAt = t.clock.now();
    const path = `/webhooks/${id}/deliveries/${rows()[0]?.id}`;
    const first = await t.call("GET", path);
    expect([first.at("data.durationMs"), first.at("data.earlierAttempts")]).toEqual([100, []]);
    for (let done = 1; done <= 10; done++) {
      await t.call("POST", `${path}/retry`);
      await attempted(done + 1);
    }
    server.answer = () => {
      t.clock.advance(7);
      return {};
    };
    await t.call("POST", `${path}/retry`);
    await attempted(12);
    const before = t.eventNames();
    const shown = await t.call("GET", path);
    expect(shown.at("data")).toMatchObject({ status: "SUCCEEDED", attempts: 12, durationMs: 7 });
    const endOf = (number: number): number =>
      number === 1 ? startedAt : endOf(number - 1) + 100 + number - 1;
    expect(shown.at("data.earlierAttempts")).toEqual(
      [3, 4, 5, 6, 7, 8, 9, 10, 11].map((number) => ({
        at: new Date(endOf(number)).toISOString(),
        durationMs: 100 + number - 1,
        responseCode: 500 + number,
        error: `The receiver answered ${500 + number}.`,
      })),
    );
    expect(t.eventNames()).toEqual(before);
  });

  test("of another webhook is not found", async () => {
    const { t, track, attempted, rows } = await nextWebhook({ events: ["a"] });
    await track("a");
    await attempted(1);
    const other = await t.create("/webhooks", { url: "https://a.test/", events: ["b"] }, "data.id");
    const answer = await t.call("GET", `/webhooks/${other}/deliveries/${rows()[0]?.id}`);
    expectError(answer, { status: 404, code: "DELIVERY_NOT_FOUND" });
  });
});

describe("retrying all failed deliveries", () => {
  test("makes each of them due once, and records no event", async () => {
    const { t, id, server, track, attempted, settled, rows } = await nextWebhook({
      events: ["a", "b", "c"],
    });
    for (const [i, name] of ["a", "b", "c"].entries()) await track(name, `p${i}@example.net`);
    await attempted(3);
    const [first, , third] = rows();
    t.db.sqlite.run(
      "UPDATE webhook_deliveries SET status = 'FAILED', attempts = 8 WHERE seq IN (?, ?)",
      [first?.seq ?? 0, third?.seq ?? 0],
    );
    const before = t.eventNames();
    const answer = await t.call("POST", `/webhooks/${id}/deliveries/retry`);
    expect([answer.status, answer.at("data")]).toEqual([200, { retried: 2 }]);
    await attempted(8 + 1 + 8 + 2);
    await settled(3);
    expect(rows().map(({ status }) => status)).toEqual(["SUCCEEDED", "SUCCEEDED", "SUCCEEDED"]);
    expect(server.requests.length).toBe(5);
    expect(t.eventNames()).toEqual(before);
    const again = await t.call("POST", `/webhooks/${id}/deliveries/retry`);
    expect(again.at("data.retried")).toBe(0);
  });

  test("is refused for a disabled webhook", async () => {
    const { t, id } = await nextWebhook();
    await t.call("PATCH", `/webhooks/${id}`, { enabled: false });
    const answer = await t.call("POST", `/webhooks/${id}/deliveries/retry`);
    expectError(answer, { status: 409, code: "INVALID_STATE" });
  });
});

test("a session needs a fresh password for a secret, and a key does not", async () => {
  const t = await nextApp();
  const input = { url: "https://hooks.example.com/", events: ["*"] };
  const id = await t.create("/webhooks", input, "data.id");
  const session = await signIn(t);
  const withProject = { "x-project": t.project.id };
  const path = `/webhooks/${id}/rotate-secret`;
  expect((await session.call("POST", path, {}, withProject)).status).toBe(200);
  // A user without a password cannot be asked for it.
  t.db.sqlite.run("UPDATE users SET password_digest = 'x'");
  t.clock.advance(HOUR);
  for (const [route, body] of [
    [path, {}],
    ["/webhooks", input],
  ] as const) {
    expectError(await session.call("POST", route, body, withProject), {
      status: 403,
      code: "CONFIRMATION_REQUIRED",
    });
  }
  expect((await t.call("POST", path)).status).toBe(200);
});
