/** Passkeys: a passkey in software registers and signs in, and every altered answer is refused. */

import { beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import type { TestApp } from "../../support/app.ts";
import { type Authenticator, createAuthenticator } from "../../support/authenticator.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { createSession, removeUsers, signIn, type UserSession } from "../../support/session.ts";

const PLACE = { origin: "http://localhost", rpId: "localhost" };
const EMAIL = "ada@example.com";
const PASSWORD = "correct horse battery";
const MINUTE_MS = 60_000;

const projects = projectPerTest({ config: { url: "http://localhost" } });
let t: TestApp;
let ada: UserSession;
let key: Authenticator;

beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
  t.clock.advance(2 * MINUTE_MS);
  ada = await signIn(t, { email: EMAIL });
  await ada.post("/app/api/account/password", { password: PASSWORD });
  key = createAuthenticator(PLACE);
});

function otherCurve(): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
  return publicKey.export({ format: "der", type: "spki" }).toString("base64url");
}

type Given = Parameters<Authenticator["create"]>[0];

async function challengeAt(browser: UserSession, path: string): Promise<string> {
  const answer = await browser.post(path);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.text("data.challenge");
}

async function register(changed: Partial<Given> = {}, extra: object = {}) {
  const challenge = await challengeAt(ada, "/app/api/account/passkeys/options");
  const made = key.create({ challenge, ...changed });
  return ada.post("/app/api/account/passkeys", { name: "Laptop", ...made, ...extra });
}

async function signInWith(changed: Partial<Given> = {}, extra: object = {}) {
  const browser = createSession(t);
  const challenge = await challengeAt(browser, "/app/api/passkey/options");
  const answer = await browser.post("/app/api/passkey", {
    ...key.sign({ challenge, ...changed }),
    ...extra,
  });
  return { browser, answer };
}

describe("a passkey", () => {
  test("is added with a name, and signs in alone", async () => {
    const added = await register();
    expect([added.status, added.at("data.passkey")]).toMatchObject([200, { name: "Laptop" }]);
    expect(added.at("data.recoveryCodes")).toHaveLength(10);
    const { browser, answer } = await signInWith();
    expect([answer.status, answer.at("data.step")]).toEqual([200, null]);
    expect((await browser.get("/app/api/state")).at("data.user")).toMatchObject({ email: EMAIL });
    const sessions = await browser.get("/app/api/account/sessions");
    expect(sessions.at("data.items.0.signedInBy")).toBe("PASSKEY");
    const shown = await browser.get("/app/api/account/second-factor");
    expect(shown.at("data")).toMatchObject({
      isOn: true,
      totpSince: null,
      passkeys: [{ name: "Laptop", lastUsedAt: new Date(t.clock.now()).toISOString() }],
    });
  });

  test.each(["ed25519", "rsa"] as const)("with a key of %s signs in", async (kind) => {
    key = createAuthenticator(PLACE, kind);
    expect((await register()).status).toBe(200);
    expect((await signInWith()).answer.status).toBe(200);
  });

  test("is the second step after a password", async () => {
    await register();
    const browser = createSession(t);
    const login = await browser.post("/app/api/login", { email: EMAIL, password: PASSWORD });
    expect(login.at("data.step")).toBe("SECOND_FACTOR");
    const methods = await browser.get("/app/api/second-factor");
    expect(methods.at("data")).toEqual({ hasApp: false, hasPasskeys: true });
    // A challenge of the sign-in without a password is another one.
    const foreign = await challengeAt(browser, "/app/api/passkey/options");
    const login2 = await browser.post("/app/api/login", { email: EMAIL, password: PASSWORD });
    expect(login2.status).toBe(200);
    const refused = await browser.post("/app/api/second-factor", {
      passkey: key.sign({ challenge: foreign }),
    });
    expect(refused.status).toBe(401);
    const challenge = await challengeAt(browser, "/app/api/second-factor/options");
    const passkey = key.sign({ challenge });
    expect((await browser.post("/app/api/second-factor", { passkey })).status).toBe(200);
    expect((await browser.get("/app/api/state")).at("data.user")).toMatchObject({ email: EMAIL });
  });

  const altered: [what: string, changed: Partial<Given>][] = [
    ["of another origin", { origin: "https://evil.example" }],
    ["for another relying party", { rpId: "evil.example" }],
    ["with another challenge", { challenge: Buffer.alloc(32).toString("base64url") }],
    ["without the verification of the user", { flags: 0x01 }],
  ];
  test.each(altered)("is refused %s, at its making and at the sign-in", async (_, changed) => {
    const refused = await register(changed);
    expect([refused.status, refused.at("error.code")]).toEqual([422, "PASSKEY_REFUSED"]);
    expect((await register()).status).toBe(200);
    const { answer, browser } = await signInWith(changed);
    expect([answer.status, answer.at("error.code")]).toEqual([401, "SIGN_IN_FAILED"]);
    expect((await browser.get("/app/api/state")).at("data.user")).toBeNull();
  });

  test("is refused with a changed signature, by another browser, twice, and after five minutes", async () => {
    await register();
    const foreign = createAuthenticator(PLACE).sign({ challenge: "x" }).signature;
    expect((await signInWith({}, { signature: foreign })).answer.status).toBe(401);
    const browser = createSession(t);
    const challenge = await challengeAt(browser, "/app/api/passkey/options");
    const signed = key.sign({ challenge });
    expect((await createSession(t).post("/app/api/passkey", signed)).status).toBe(401);
    const late = await challengeAt(browser, "/app/api/passkey/options");
    t.clock.advance(5 * MINUTE_MS);
    const answer = await browser.post("/app/api/passkey", key.sign({ challenge: late }));
    expect(answer.status).toBe(401);
    const again = await challengeAt(browser, "/app/api/passkey/options");
    const cookie = browser.cookie();
    const once = key.sign({ challenge: again });
    expect((await browser.post("/app/api/passkey", once)).status).toBe(200);
    const replay = await createSession(t).call("POST", "/app/api/passkey", once, { cookie });
    expect(replay.status).toBe(401);
  });

  test("has 30 challenges a minute for each user, because all users share their memory", async () => {
    const paths = ["/app/api/account/passkeys/options", "/app/api/confirm/options"];
    for (let i = 0; i < 15; i++) for (const path of paths) await challengeAt(ada, path);
    for (const path of paths) expect([path, (await ada.post(path)).status]).toEqual([path, 429]);
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    await challengeAt(eve, "/app/api/confirm/options");
    t.clock.advance(MINUTE_MS);
    await challengeAt(ada, "/app/api/confirm/options");
  });

  test("is refused if its counter has not grown, as that of a copy", async () => {
    await register({ counter: 5 });
    expect((await signInWith({ counter: 6 })).answer.status).toBe(200);
    expect((await signInWith({ counter: 6 })).answer.status).toBe(401);
    expect((await signInWith({ counter: 7 })).answer.status).toBe(200);
  });

  test("of which nothing is counted signs in again and again", async () => {
    await register({ counter: 0 });
    for (let i = 0; i < 2; i++) expect((await signInWith({ counter: 0 })).answer.status).toBe(200);
  });

  test("signs nobody in after its user was disabled, or after it was removed", async () => {
    await register();
    const { users, setDisabled } = t.app.accounts;
    await t.app.writer.write(() => {
      users.create({ email: "o@example.com", name: "", passwordDigest: null, isOwner: true })();
      setDisabled(users.getByEmail(EMAIL), true);
    });
    expect((await signInWith()).answer.status).toBe(401);
    await t.app.writer.write(() => setDisabled(users.getByEmail(EMAIL), false));
    const { browser } = await signInWith();
    const shown = await browser.get("/app/api/account/second-factor");
    const path = `/app/api/account/passkeys/${shown.text("data.passkeys.0.id")}`;
    expect((await browser.call("PATCH", path, { name: "Old laptop" })).status).toBe(200);
    expect((await browser.call("DELETE", path)).status).toBe(204);
    expect((await browser.call("DELETE", path)).status).toBe(404);
    expect((await signInWith()).answer.status).toBe(401);
    expect([t.countRows("passkeys"), t.countRows("recovery_codes")]).toEqual([0, 0]);
  });

  test("confirms an action in place of the password", async () => {
    await register();
    t.clock.advance(15 * MINUTE_MS);
    const renew = () => ada.post("/app/api/account/recovery-codes");
    expect((await renew()).at("error.code")).toBe("CONFIRMATION_REQUIRED");
    const challenge = await challengeAt(ada, "/app/api/confirm/options");
    const passkey = key.sign({ challenge });
    expect((await ada.post("/app/api/confirm", { passkey })).status).toBe(204);
    expect((await renew()).status).toBe(200);
  });

  test("is what a user without a password confirms with", async () => {
    t.db.sqlite.run("UPDATE users SET password_digest = NULL");
    await register();
    t.clock.advance(15 * MINUTE_MS);
    const options = () => ada.post("/app/api/account/passkeys/options");
    expect((await options()).at("error.code")).toBe("CONFIRMATION_REQUIRED");
    const challenge = await challengeAt(ada, "/app/api/confirm/options");
    await ada.post("/app/api/confirm", { passkey: key.sign({ challenge }) });
    expect((await options()).status).toBe(200);
    expect((await ada.get("/app/api/account/second-factor")).at("data.hasPassword")).toBe(false);
  });

  test.each([
    ["authenticatorData", { authenticatorData: "AAAA" }],
    ["publicKey", { publicKey: "MIIB".repeat(500) }],
    ["key of another curve", { publicKey: otherCurve() }],
    ["clientDataJSON", { clientDataJSON: Buffer.from("[".repeat(2_000)).toString("base64url") }],
    ["id", { id: "AAAA" }],
    ["name", { name: "" }],
    ["id", { id: "not base64url!" }],
  ])("with a wrong %s is refused and stores nothing", async (_, extra) => {
    expect((await register({}, extra)).status).toBe(422);
    expect(t.countRows("passkeys")).toBe(0);
  });
});
