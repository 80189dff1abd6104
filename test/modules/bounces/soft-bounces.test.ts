/** Soft bounces: several of them without a delivery suppress an address for some days. */

import { afterEach, describe, expect, test } from "bun:test";
import type { Outcome } from "../../../src/outbox/outcome.ts";
import { BOB, bounceApp, type BounceApp, bounceOf, FULL, returnPathOf } from "./reports.ts";
import { ACCEPTED } from "../../support/transport.ts";
import { removeExpiredSuppressions } from "../../../src/modules/suppressions.ts";

const DAY = 24 * 60 * 60_000;
const DELIVERED: Outcome = { ...ACCEPTED, kind: "accepted", class: "accepted", final: true };
const REFUSED: Outcome = {
  kind: "bounced",
  class: "mailbox_full",
  reason: "552 5.2.2 full",
  conversations: [],
};

let t: BounceApp;
afterEach(() => t.close());

async function softBounce(raw = FULL, to = BOB): Promise<unknown> {
  const id = await t.sent(to);
  const answer = await t.post(raw, returnPathOf(id));
  t.clock.advance(DAY);
  return answer.at("data.suppressed");
}

describe("the third soft bounce within 30 days", () => {
  test("suppresses the address for 30 days", async () => {
    t = await bounceApp();
    expect([await softBounce(), await softBounce(), await softBounce()]).toEqual([
      null,
      null,
      "SOFT_BOUNCE",
    ]);
    expect(await t.suppressions()).toMatchObject([
      {
        reason: "SOFT_BOUNCE",
        createdAt: "2026-03-04T10:00:00.000Z",
        expiresAt: "2026-04-03T10:00:00.000Z",
        cause: { reason: "552 5.2.2 Mailbox full" },
      },
    ]);
    const id = await t.sent();
    expect(await t.email(id)).toMatchObject({ status: "SUPPRESSED" });
  });

  test("may be a refusal at delivery", async () => {
    t = await bounceApp();
    await softBounce();
    t.transport.answer = REFUSED;
    await t.sent();
    t.clock.advance(DAY);
    expect(await t.suppressions()).toEqual([]);
    await t.sent();
    expect(await t.suppressions()).toMatchObject([
      { reason: "SOFT_BOUNCE", cause: { reportedAt: null, reason: "552 5.2.2 full" } },
    ]);
  });

  test("does not suppress after a delivery between them", async () => {
    t = await bounceApp();
    await softBounce();
    await softBounce();
    t.transport.answer = DELIVERED;
    await t.sent();
    t.transport.answer = ACCEPTED;
    t.clock.advance(DAY);
    expect([await softBounce(), await softBounce(), await softBounce()]).toEqual([
      null,
      null,
      "SOFT_BOUNCE",
    ]);
  });

  test("does not count those before that time", async () => {
    t = await bounceApp({ config: { softBounceDays: 2 } });
    expect([await softBounce(), await softBounce(), await softBounce()]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test("does not count those of the address that the contact had before", async () => {
    t = await bounceApp();
    expect([await softBounce(), await softBounce()]).toEqual([null, null]);
    const id = (await t.call("GET", "/contacts")).text("contacts.0.id");
    const late = await t.sent();
    await t.call("PATCH", `/contacts/${id}`, { email: "moved@example.net" });
    expect(await softBounce(FULL, "moved@example.net")).toBeNull();
    expect((await t.post(FULL, returnPathOf(late))).at("data.suppressed")).toBe("SOFT_BOUNCE");
    expect(await t.suppressions()).toMatchObject([{ email: "bob@example.net" }]);
  });

  test("is another number in the settings", async () => {
    t = await bounceApp({ config: { softBounceLimit: 1 } });
    expect(await softBounce()).toBe("SOFT_BOUNCE");
  });

  test("suppresses nothing if the number in the settings is 0", async () => {
    t = await bounceApp({ config: { softBounceLimit: 0 } });
    for (let i = 0; i < 5; i++) expect(await softBounce()).toBeNull();
  });

  test.each([
    ["blocks", bounceOf("smtp; 554 5.7.1 blocked using zen.spamhaus.org", { status: "5.7.1" })],
    ["networks", bounceOf("X-Postfix; Connection timed out", { status: "4.4.1" })],
    ["authentication", bounceOf("smtp; 550 5.7.26 unauthenticated", { status: "5.7.26" })],
  ])("does not count failures of %s", async (_, raw) => {
    t = await bounceApp();
    for (let i = 0; i < 4; i++) expect(await softBounce(raw)).toBeNull();
  });
});

describe("a suppression that expires", () => {
  test("is removed when its time is over", async () => {
    t = await bounceApp({ config: { softBounceLimit: 1, softBounceSuppressDays: 7 } });
    await softBounce();
    const removeExpired = () => t.app.writer.write(() => removeExpiredSuppressions(t.app.app));
    t.clock.advance(6 * DAY - 1);
    await removeExpired();
    expect(await t.suppressions()).toHaveLength(1);
    t.clock.advance(1);
    await removeExpired();
    expect(await t.suppressions()).toEqual([]);
  });

  test("is replaced by one that does not", async () => {
    t = await bounceApp({ config: { softBounceLimit: 1 } });
    await softBounce();
    const answer = await t.call("POST", "/suppressions", { email: "bob@example.net" });
    expect([answer.status, answer.at("data")]).toMatchObject([
      200,
      { reason: "MANUAL", expiresAt: null, cause: null },
    ]);
  });
});
