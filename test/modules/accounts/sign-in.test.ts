/** Signing in to the dashboard: set-up, password, link, limits, and the end of the session. */

import { beforeEach, describe, expect, spyOn, test } from "bun:test";
import { createAttemptLimits } from "../../../src/modules/accounts/attempt-limits.ts";
import { createPasswords } from "../../../src/modules/accounts/passwords.ts";
import { createSignIn } from "../../../src/modules/accounts/sign-in.ts";
import { CHEAP_PASSWORDS, type TestApp, testApp } from "../../support/app.ts";
import { settleEventLoop } from "../../support/eventually.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { type UserSession, createSession, removeUsers, signIn } from "../../support/session.ts";
import { valueAt } from "../../support/json.ts";

const MINUTE_MS = 60_000;
const PASSWORD = "correct horse battery";
const ADA = { name: "Ada", email: "ada@example.com", password: PASSWORD };

const projects = projectPerTest();
let t: TestApp;
let browser: UserSession;
beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
  t.clock.advance(MINUTE_MS); // The limits of attempts count those of the last minute.
  browser = createSession(t);
});

const newToken = () => t.app.writer.write(t.app.accounts.createSetUpToken());
const stateUser = async (of: UserSession) => (await of.get("/app/api/state")).at("data.user");

async function setUp(): Promise<void> {
  const token = await newToken();
  expect((await browser.post("/app/api/setup", { ...ADA, token })).status).toBe(200);
}

describe("the set-up of the first owner", () => {
  test("creates the owner, who is signed in", async () => {
    expect((await browser.get("/app/api/state")).at("data")).toMatchObject({
      needsOwner: true,
      user: null,
      projects: [],
    });
    await setUp();
    expect((await browser.get("/app/api/state")).at("data")).toMatchObject({
      needsOwner: false,
      user: { email: "ada@example.com", name: "Ada", isOwner: true },
      projects: [{ id: t.project.id, name: "acme", role: "OWNER", isEnabled: true }],
      capture: true,
      dev: false,
      transport: "capture",
      requiresVerifiedDomain: true,
      receivesAs: null,
      smtp: null,
    });
  });

  test("stores neither the token, nor the password, nor the cookie", async () => {
    const token = await newToken();
    await browser.post("/app/api/setup", { ...ADA, token });
    const stored = JSON.stringify(t.contents());
    for (const secret of [token, PASSWORD, browser.cookie().split("=")[1]]) {
      expect(stored).not.toContain(String(secret));
    }
  });

  test("is possible once", async () => {
    const token = await newToken();
    await browser.post("/app/api/setup", { ...ADA, token });
    const other = createSession(t);
    const again = await other.post("/app/api/setup", { ...ADA, email: "eve@example.com", token });
    expect(again.status).toBe(404);
    expect(await newToken()).toBeNull();
    expect(t.countRows("users")).toBe(1);
  });

  test("is refused after 30 minutes, and with the token of an earlier start", async () => {
    const first = await newToken();
    const second = await newToken();
    expect((await browser.post("/app/api/setup", { ...ADA, token: first })).status).toBe(404);
    t.clock.advance(30 * MINUTE_MS);
    const late = await browser.post("/app/api/setup", { ...ADA, token: second });
    expect(late.status).toBe(404);
    expect(late.text("error.code")).toBe("TOKEN_NOT_FOUND");
    expect(t.countRows("users")).toBe(0);
  });

  test("creates one owner if the link is used twice at the same time", async () => {
    const token = await newToken();
    const answers = await Promise.all(
      ["ada@example.com", "eve@example.com"].map((email) =>
        createSession(t).post("/app/api/setup", { ...ADA, email, token }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect(t.countRows("users")).toBe(1);
  });
});

describe("a password", () => {
  const refused: [password: string, code: string][] = [
    ["ada@example.com", "invalid_value"],
    ["ADA@example.com ", "invalid_value"],
    ["Password123!", "invalid_value"],
    ["1234567890", "invalid_value"],
    ["🙂🙂🙂🙂🙂🙂🙂🙂🙂", "too_small"],
  ];
  test("is refused if it is short, common or the address, and the token stays valid", async () => {
    const token = await newToken();
    for (const [password, code] of refused) {
      const answer = await browser.post("/app/api/setup", { ...ADA, token, password });
      expect([password, answer.status]).toEqual([password, 422]);
      expect(answer.at("error.errors")).toMatchObject([{ field: "password", code }]);
    }
    expect((await browser.post("/app/api/setup", { ...ADA, token })).status).toBe(200);
  });
});

describe("signing in with a password", () => {
  beforeEach(setUp);

  test("creates a new session, also for an address in another spelling", async () => {
    const other = createSession(t);
    const answer = await other.post("/app/api/login", {
      email: " Ada@EXAMPLE.com",
      password: PASSWORD,
    });
    expect(answer.status).toBe(200);
    expect(await stateUser(other)).toMatchObject({ email: "ada@example.com" });
    expect(t.countRows("user_sessions")).toBe(2);
    expect(other.cookie()).not.toBe(browser.cookie());
  });

  test("replaces the session that the browser had before", async () => {
    const before = browser.cookie();
    expect((await browser.post("/app/api/login", ADA)).status).toBe(200);
    expect(browser.cookie()).not.toBe(before);
    expect(t.countRows("user_sessions")).toBe(1);
  });

  test("takes one verification and gets the same answer for every failure", async () => {
    const disabled = t.app.accounts.users.create({
      email: "off@example.com",
      name: "Off",
      passwordDigest: await createPasswords(CHEAP_PASSWORDS).hash(PASSWORD, ""),
      isOwner: false,
    });
    await t.app.writer.write(() => {
      const { users } = t.app.accounts;
      users.setDisabled(disabled(), true)();
      users.create({ email: "new@example.com", name: "", passwordDigest: null, isOwner: false })();
    });
    const failures = [
      { email: "ada@example.com", password: "a wrong password" },
      { email: "nobody@example.com", password: PASSWORD },
      { email: "not an address", password: PASSWORD },
      { email: "off@example.com", password: PASSWORD },
      { email: "new@example.com", password: PASSWORD },
    ];
    const answers: string[] = [];
    using verify = spyOn(Bun.password, "verify");
    for (const [index, failure] of failures.entries()) {
      const answer = await createSession(t).post("/app/api/login", failure);
      expect(verify).toHaveBeenCalledTimes(index + 1);
      expect(answer.headers.get("set-cookie")).toBeNull();
      const { code, message, suggestion } = Object(answer.at("error"));
      answers.push(JSON.stringify([answer.status, code, message, suggestion]));
    }
    expect(answers[0]).toStartWith('[401,"SIGN_IN_FAILED"');
    expect(new Set(answers).size).toBe(1);
    const ofUnknown = verify.mock.calls[1]?.[1];
    // The verification for an unknown address costs as much as one with a digest of the product.
    const costOf = (digest: unknown) =>
      typeof digest === "string" ? /^(.*)\$[^$]+\$[^$]+$/.exec(digest)?.[1] : null;
    expect(costOf(ofUnknown)).toBe("$argon2id$v=19$m=65536,t=2,p=1");
    expect(costOf(await createPasswords().hash(PASSWORD, ""))).toBe(costOf(ofUnknown));
  });

  test("is limited to 5 failures per minute for an account, by the monotonic clock", async () => {
    t = await testApp(); // The clock of the other tests is not stepped.
    browser = createSession(t);
    await setUp();
    const attempt = (password: string, email = "ada@example.com") =>
      createSession(t).post("/app/api/login", { email, password });
    const first = await Promise.all(Array.from({ length: 7 }, () => attempt("a wrong password")));
    expect(first.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      401, 401, 401, 401, 401, 429, 429,
    ]);
    expect((await attempt(PASSWORD)).status).toBe(429);
    expect((await attempt(PASSWORD, "nobody@example.com")).status).toBe(401);
    t.clock.stepWall(10 * MINUTE_MS);
    expect((await attempt(PASSWORD)).status).toBe(429);
    t.clock.advance(MINUTE_MS);
    expect((await attempt(PASSWORD)).status).toBe(200);
    await t.close();
  });

  test("is limited to 20 failures per minute for a client address", () => {
    const { begin } = createAttemptLimits(t.clock);
    for (let n = 0; n < 20; n++) begin(`user${n}@example.com`, "192.0.2.1");
    expect(() => begin("other@example.com", "192.0.2.1")).toThrow("Too many requests");
    expect(() => begin("other@example.com", "192.0.2.2")).not.toThrow();
  });

  test("shares the places for verifications among networks, and a 503 is no failure", async () => {
    const { login } = createSignIn({
      accounts: t.app.accounts,
      writer: t.app.writer,
      passwords: createPasswords(CHEAP_PASSWORDS),
      limits: createAttemptLimits(t.clock),
    });
    const held = Promise.withResolvers<boolean>();
    using verify = spyOn(Bun.password, "verify");
    verify.mockImplementation(() => held.promise);
    /** Resolves to the status of the refusal. */
    const attempt = (address: string, n = 0): Promise<unknown> =>
      login(
        { email: `user${n}@example.com`, password: PASSWORD },
        { address, userAgent: "", earlierSession: null },
      ).catch((error: unknown) => valueAt(error, "status"));
    const networks = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
    const attempts = (from: number) =>
      networks.flatMap((ip) => Array.from({ length: 20 }, (_, n) => attempt(ip, from + n)));
    const crowd = attempts(0);
    const other = attempt("198.51.100.7");
    await settleEventLoop();
    held.resolve(false);
    expect(await other).toBe(401);
    const refused = (await Promise.all(crowd)).filter((status) => status === 503).length;
    // Two are verified and 40 wait, the other one among them.
    expect(refused).toBe(60 - 2 - 39);
    const later = await Promise.all(attempts(100));
    expect(later.filter((status) => status === 401)).toHaveLength(refused);
    expect(later.filter((status) => status === 429)).toHaveLength(60 - refused);
  });

  test("that succeeds counts as no failure", async () => {
    for (let n = 0; n < 7; n++) {
      const answer = await createSession(t).post("/app/api/login", ADA);
      expect(answer.status).toBe(200);
    }
  });
});

describe("signing in with a link", () => {
  test("works once and for an hour", async () => {
    const { user } = await signIn(t);
    const { tokens } = t.app.accounts;
    const issue = () =>
      t.app.writer.write(() => tokens.issue({ kind: "LINK", userSeq: user.seq })().text);
    const token = await issue();
    expect((await browser.post("/app/api/link", { token })).status).toBe(200);
    expect((await createSession(t).post("/app/api/link", { token })).status).toBe(404);
    const late = await issue();
    t.clock.advance(60 * MINUTE_MS);
    expect((await createSession(t).post("/app/api/link", { token: late })).status).toBe(404);
  });

  test("is refused with a token of another kind", async () => {
    const token = await newToken();
    expect((await browser.post("/app/api/link", { token })).status).toBe(404);
    expect((await browser.post("/app/api/setup", { ...ADA, token })).status).toBe(200);
  });
});

describe("the session", () => {
  beforeEach(setUp);

  test("ends when the user signs out", async () => {
    const before = browser.cookie();
    const answer = await browser.post("/app/api/logout");
    expect(answer.status).toBe(204);
    expect(answer.headers.get("set-cookie")).toContain("Max-Age=0");
    expect(await stateUser(browser)).toBeNull();
    const thief = await browser.call("GET", "/app/api/state", undefined, { cookie: before });
    expect(thief.at("data.user")).toBeNull();
  });

  test("is confirmed for 15 minutes by the password", async () => {
    const confirmedUntil = async () =>
      Date.parse(String(valueAt(await stateUser(browser), "confirmedUntil")));
    const signedInAt = t.clock.now();
    expect(await confirmedUntil()).toBe(signedInAt + 15 * MINUTE_MS);
    t.clock.advance(20 * MINUTE_MS);
    const wrong = await browser.post("/app/api/confirm", { password: "a wrong password" });
    expect(wrong.status).toBe(401);
    expect(await confirmedUntil()).toBe(signedInAt + 15 * MINUTE_MS);
    expect((await browser.post("/app/api/confirm", { password: PASSWORD })).status).toBe(204);
    expect(await confirmedUntil()).toBe(t.clock.now() + 15 * MINUTE_MS);
  });

  test("has a cookie that scripts cannot read and other sites do not send", async () => {
    const answer = await browser.post("/app/api/login", ADA);
    expect(answer.headers.get("set-cookie")).toMatch(
      /^mailstead=[0-9A-Za-z]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax$/,
    );
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });
});

test("over https the cookie is Secure and has the prefix of hosts", async () => {
  const app = await testApp({ config: { url: "https://mail.example" } });
  const token = await app.app.writer.write(app.app.accounts.createSetUpToken());
  const own = createSession(app);
  const headers = { origin: "https://mail.example", host: "mail.example" };
  const answer = await own.call("POST", "/app/api/setup", { ...ADA, token }, headers);
  expect(answer.headers.get("set-cookie")).toMatch(
    /^__Host-mailstead=[0-9A-Za-z]{43}; Path=\/; Max-Age=7776000; HttpOnly; SameSite=Lax; Secure$/,
  );
  expect(await stateUser(own)).toMatchObject({ email: "ada@example.com" });
  await app.close();
});
