import { afterEach, describe, expect, test } from "bun:test";
import { beginTotp, confirmTotp, useTotp } from "../../src/modules/accounts/second-factors.ts";
import { TOTP_STEP_MS, totpCode } from "../../src/modules/accounts/totp.ts";
import { createSession, signIn } from "../support/session.ts";
import { DAY, HOUR } from "../support/automation.ts";
import { closeAll, setClock, startApp, STEPS } from "./setup.ts";

afterEach(closeAll);

describe("an account", () => {
  test.each(STEPS)("has sessions of 14 idle days although the clock is set %s", async (_, ms) => {
    const t = await startApp();
    const session = await signIn(t);
    const user = async () => (await session.get("/app/api/state")).at("data.user");
    t.clock.advance(DAY);
    await setClock(t, ms);
    t.clock.advance(13 * DAY - 1);
    expect(await user()).not.toBeNull();
    t.clock.advance(14 * DAY);
    expect(await user()).toBeNull();
  });

  test.each(STEPS)(
    "has links that work for an hour although the clock is set %s",
    async (_, ms) => {
      const t = await startApp();
      const { user } = await signIn(t);
      const issue = () => t.app.writer.write(() => t.app.accounts.createLink(user.seq));
      const [first, second] = [await issue(), await issue()];
      await setClock(t, ms);
      t.clock.advance(HOUR - 1);
      expect((await createSession(t).post("/app/api/link", { token: first })).status).toBe(200);
      t.clock.advance(1);
      expect((await createSession(t).post("/app/api/link", { token: second })).status).toBe(404);
    },
  );

  test.each(STEPS)("accepts the codes of its app after the clock is set %s", async (_, ms) => {
    const t = await startApp();
    const { user } = await signIn(t);
    const { app } = t.app;
    const use = (code: string) => t.app.writer.write(() => useTotp(app, user.seq, code));
    const secret = await t.app.writer.write(() => beginTotp(app, user.seq));
    const codeAt = (steps: number) =>
      totpCode(secret, Math.floor(t.clock.now() / TOTP_STEP_MS) + steps);
    await t.app.writer.write(() => confirmTotp(app, user.seq, codeAt(0)));
    await setClock(t, ms);
    expect([await use(codeAt(1)), await use(codeAt(1))]).toEqual([true, false]);
  });
});
