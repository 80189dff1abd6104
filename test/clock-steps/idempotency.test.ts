import { afterEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../support/app.ts";
import { HOUR } from "../support/automation.ts";
import { closeAll, mail, startApp, setClock, STEPS } from "./setup.ts";

afterEach(closeAll);

describe("an Idempotency-Key", () => {
  const body = { ...mail, to: "ada@example.net" };
  const repeat = async (t: TestApp) => {
    const answer = await t.call("POST", "/v1/send", body, { headers: { "idempotency-key": "k" } });
    return [answer.status, answer.headers.get("idempotency-replayed")];
  };

  test.each(STEPS)("is stored for 24 hours although the clock is set %s", async (_, ms) => {
    const t = await startApp();
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
