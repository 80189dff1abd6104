/** The second step of a sign-in: codes of the app, recovery codes, limits, and the policy. */

import { beforeEach, describe, expect, test } from "bun:test";
import { totpCode } from "../../../src/modules/accounts/totp.ts";
import type { TestApp } from "../../support/app.ts";
import { bytesOfBase32 } from "../../support/base32.ts";
import { listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { createSession, removeUsers, signIn, type UserSession } from "../../support/session.ts";

const HOUR_MS = 60 * 60_000;
const STEP_MS = 30_000;
const PASSWORD = "correct horse battery";
const EMAIL = "ada@example.com";

const projects = projectPerTest();
const strict = projectPerTest({ config: { requireSecondFactor: "owners" } });
let t: TestApp;
let ada: UserSession;
/** The secret of the app, as the page shows it. */
let secret: Uint8Array;
let codes: string[];

const codeAt = (offset = 0) => totpCode(secret, Math.floor(t.clock.now() / STEP_MS) + offset);
const userOf = async (browser: UserSession) => (await browser.get("/app/api/state")).at("data");
const finish = (browser: UserSession, code: string) =>
  browser.post("/app/api/second-factor", { code });

async function enrol(browser: UserSession): Promise<string[]> {
  const begun = await browser.post("/app/api/account/totp");
  secret = bytesOfBase32(begun.text("data.secret"));
  expect(begun.text("data.uri")).toContain(`secret=${begun.text("data.secret")}`);
  const confirmed = await browser.post("/app/api/account/totp/confirm", { code: codeAt() });
  expect([confirmed.status, browser.cookie() === ""]).toEqual([200, false]);
  return listAt(confirmed.body, "data.recoveryCodes").map(String);
}

/** A browser in which the password was given. */
async function withPassword(): Promise<UserSession> {
  const browser = createSession(t);
  const answer = await browser.post("/app/api/login", { email: EMAIL, password: PASSWORD });
  expect([answer.status, answer.at("data.step")]).toEqual([200, "SECOND_FACTOR"]);
  return browser;
}

async function begin(of: ReturnType<typeof projectPerTest>): Promise<void> {
  t = await of.next();
  removeUsers(t);
  t.clock.advance(2 * HOUR_MS);
}

describe("with an authenticator app", () => {
  beforeEach(async () => {
    await begin(projects);
    ada = await signIn(t, { email: EMAIL });
    expect((await ada.post("/app/api/account/password", { password: PASSWORD })).status).toBe(204);
    codes = await enrol(ada);
    t.clock.advance(STEP_MS);
  });

  test("the password alone opens nothing, and the code signs in with a new cookie", async () => {
    const browser = await withPassword();
    const pending = browser.cookie();
    expect(await userOf(browser)).toMatchObject({
      user: null,
      projects: [],
      pending: { email: EMAIL, step: "SECOND_FACTOR" },
    });
    for (const path of ["/app/api/account", "/app/api/account/second-factor", "/app/api/users"]) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 401]);
    }
    const read = await browser.call("GET", "/contacts", undefined, { "x-project": t.project.id });
    expect(read.status).toBe(401);
    expect((await finish(browser, codeAt())).status).toBe(200);
    expect(browser.cookie()).not.toBe(pending);
    expect(await userOf(browser)).toMatchObject({ user: { email: EMAIL }, pending: null });
    expect(t.countRows("user_sessions")).toBe(2);
  });

  test("neither the secret nor a recovery code is stored, and the page shows no secret again", async () => {
    const stored = JSON.stringify(t.contents());
    for (const code of codes) expect(stored).not.toContain(code.replaceAll("-", ""));
    expect(stored).not.toContain(Buffer.from(secret).toString("base64"));
    const shown = await ada.get("/app/api/account/second-factor");
    expect(shown.at("data")).toMatchObject({ isOn: true, recoveryCodesLeft: 10, passkeys: [] });
    expect((await ada.post("/app/api/account/totp")).status).toBe(409);
  });

  test("a code is accepted once, also by two requests at the same time", async () => {
    const browsers = [await withPassword(), await withPassword()];
    const code = codeAt();
    const answers = await Promise.all(browsers.map((browser) => finish(browser, code)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
    // A code of the step before the last accepted one is refused as well.
    const late = await withPassword();
    expect((await finish(late, codeAt(-1))).at("error.errors")).toMatchObject([{ field: "code" }]);
    expect((await finish(late, codeAt(1))).status).toBe(200);
  });

  test("a recovery code works once, also in two requests at the same time", async () => {
    const [code = "", other = ""] = codes;
    expect(codes).toHaveLength(10);
    expect(code).toMatch(/^[a-z2-7]{4}(?:-[a-z2-7]{4}){3}$/);
    const browsers = [await withPassword(), await withPassword()];
    const answers = await Promise.all(browsers.map((browser) => finish(browser, code)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
    const typed = await withPassword();
    expect((await finish(typed, ` ${other.toUpperCase().replaceAll("-", " ")}`)).status).toBe(200);
    const shown = await typed.get("/app/api/account/second-factor");
    expect(shown.at("data.recoveryCodesLeft")).toBe(8);
    const renewed = await typed.post("/app/api/account/recovery-codes");
    expect(listAt(renewed.body, "data.recoveryCodes")).toHaveLength(10);
    expect((await finish(await withPassword(), codes[2] ?? "")).status).toBe(422);
  });

  test("ten wrong codes in an hour are the limit for an account, from all addresses together", async () => {
    const browser = await withPassword();
    const wrong = codeAt() === "000000" ? "111111" : "000000";
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await finish(browser, wrong)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 422), 429, 429]);
    expect((await finish(browser, codeAt())).status).toBe(429);
    t.clock.advance(HOUR_MS);
    expect((await finish(await withPassword(), codeAt())).status).toBe(200);
  });

  test("the second step must be taken within 15 minutes", async () => {
    const browser = await withPassword();
    t.clock.advance(HOUR_MS / 4);
    expect((await finish(browser, codeAt())).status).toBe(401);
    expect(await userOf(browser)).toMatchObject({ user: null, pending: null });
  });

  test("a link and a new password by mail prove one factor only", async () => {
    const { tokens, users } = t.app.accounts;
    const userSeq = users.getByEmail(EMAIL).seq;
    const issue = (kind: "LINK" | "RESET") =>
      t.app.writer.write(() => tokens.issue({ kind, userSeq })().text);
    const browser = createSession(t);
    const linked = await browser.post("/app/api/link", { token: await issue("LINK") });
    expect(linked.at("data.step")).toBe("SECOND_FACTOR");
    const reset = { token: await issue("RESET"), password: "another good password" };
    expect((await browser.post("/app/api/reset", reset)).at("data.step")).toBe("SECOND_FACTOR");
    expect(await userOf(browser)).toMatchObject({ user: null });
    expect((await finish(browser, codeAt())).status).toBe(200);
  });

  test("it is turned off with the password and a code, and the recovery codes end", async () => {
    const off = (body: object) => ada.call("DELETE", "/app/api/account/totp", body);
    expect((await off({ code: codeAt() })).status).toBe(422);
    expect((await off({ code: codeAt(), password: "not the password" })).status).toBe(401);
    expect((await off({ code: "abcdefgh", password: PASSWORD })).status).toBe(422);
    expect((await off({ code: codeAt(), password: PASSWORD })).status).toBe(204);
    expect(t.countRows("recovery_codes")).toBe(0);
    const browser = createSession(t);
    const answer = await browser.post("/app/api/login", { email: EMAIL, password: PASSWORD });
    expect(answer.at("data.step")).toBeNull();
  });

  test("changes need a password that was entered lately", async () => {
    t.clock.advance(HOUR_MS / 4);
    for (const path of ["recovery-codes", "totp", "passkeys/options"]) {
      const answer = await ada.post(`/app/api/account/${path}`);
      expect([path, answer.at("error.code")]).toEqual([path, "CONFIRMATION_REQUIRED"]);
    }
  });
});

describe("with --require-second-factor owners", () => {
  beforeEach(() => begin(strict));

  test("an owner sets it up at the next sign-in, before anything else", async () => {
    const browser = await signIn(t, { email: EMAIL });
    expect(await userOf(browser)).toMatchObject({
      user: null,
      pending: { email: EMAIL, step: "ENROLMENT" },
    });
    for (const path of ["/app/api/account", "/app/api/users"]) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 401]);
    }
    expect((await finish(browser, "123456")).status).toBe(401);
    const pending = browser.cookie();
    expect(await enrol(browser)).toHaveLength(10);
    expect(browser.cookie()).not.toBe(pending);
    expect(await userOf(browser)).toMatchObject({ user: { email: EMAIL }, pending: null });
    t.clock.advance(STEP_MS);
    const off = await browser.call("DELETE", "/app/api/account/totp", { code: codeAt() });
    expect([off.status, off.at("error.code")]).toEqual([409, "CONFLICT"]);
  });

  test("a sign-in that waited for the set-up ends when the user has done it elsewhere", async () => {
    const thief = await signIn(t, { email: EMAIL });
    const browser = await signIn(t, { email: EMAIL });
    expect((await thief.post("/app/api/account/totp")).status).toBe(200);
    await enrol(browser);
    for (const path of ["totp", "totp/confirm", "passkeys/options"]) {
      const answer = await thief.post(`/app/api/account/${path}`, { code: codeAt(1) });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect(await userOf(thief)).toMatchObject({ user: null, pending: null });
  });

  test("another user needs none", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    expect(await userOf(eve)).toMatchObject({ user: { email: "eve@example.com" } });
    expect((await eve.get("/app/api/account/second-factor")).at("data.isRequired")).toBe(false);
  });
});
