/** The account page: name, preferences, password and sessions; and the users page of owners. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { type UserSession, createSession, removeUsers, signIn } from "../../support/session.ts";
import { listAt, valueAt } from "../../support/json.ts";

const MINUTE_MS = 60_000;
const PASSWORD = "correct horse battery";
const OTHER_PASSWORD = "another fine password";

const projects = projectPerTest();
let t: TestApp;
let browser: UserSession & { user: { id: string; seq: number } };
beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
  browser = await signIn(t);
});

const login = (password: string, email = "owner@example.com") => {
  const other = createSession(t);
  return other
    .post("/app/api/login", { email, password })
    .then(({ status }) => ({ other, status }));
};
const isSignedIn = async (of: Pick<UserSession, "get">) =>
  (await of.get("/app/api/state")).at("data.user") !== null;
const actions = () =>
  t.db.sqlite
    .query<{ action: string }, []>("SELECT action FROM audit ORDER BY seq")
    .all()
    .map(({ action }) => action);

describe("the account", () => {
  test("has a name and preferences, which are kept as they are", async () => {
    const preferences = { theme: "dark", columns: { emails: ["to", "subject"] }, nothing: null };
    const answer = await browser.call("PATCH", "/app/api/account", { name: "Eve", preferences });
    expect(answer.at("data")).toMatchObject({ name: "Eve", preferences, hasPassword: false });
    expect((await browser.get("/app/api/account")).at("data")).toEqual(answer.at("data"));
    const partial = await browser.call("PATCH", "/app/api/account", { preferences: {} });
    expect(partial.at("data")).toMatchObject({ name: "Eve", preferences: {} });
  });

  test("refuses preferences of more than 16 KiB", async () => {
    const save = (length: number) =>
      browser.call("PATCH", "/app/api/account", { preferences: { a: "x".repeat(length) } });
    const rest = 16 * 1024 - JSON.stringify({ a: "" }).length;
    expect((await save(rest)).status).toBe(200);
    const refused = await save(rest + 1);
    expect(refused.at("error.errors")).toMatchObject([{ field: "preferences", code: "too_big" }]);
  });
});

describe("a new password", () => {
  const change = (given: object) => browser.post("/app/api/account/password", given);

  test("needs no current one if there is none, and ends all other sessions and links", async () => {
    const other = await signIn(t);
    const { tokens } = t.app.accounts;
    const issued = await t.app.writer.write(
      () => tokens.issue({ kind: "LINK", userSeq: browser.user.seq })().text,
    );
    expect((await change({ password: PASSWORD })).status).toBe(204);
    expect(await isSignedIn(browser)).toBe(true);
    expect(await isSignedIn(other)).toBe(false);
    expect((await createSession(t).post("/app/api/link", { token: issued })).status).toBe(404);
    expect((await login(PASSWORD)).status).toBe(200);
    expect(actions()).toContain("user.password");
  });

  test("needs the current one of a user who signed in with it", async () => {
    await change({ password: PASSWORD });
    const { other } = await login(PASSWORD);
    const path = "/app/api/account/password";
    const missing = await other.post(path, { password: OTHER_PASSWORD });
    expect(missing.at("error.errors")).toMatchObject([{ field: "current", code: "required" }]);
    const wrong = await other.post(path, { current: OTHER_PASSWORD, password: OTHER_PASSWORD });
    expect(wrong.status).toBe(401);
    const right = await other.post(path, { current: PASSWORD, password: OTHER_PASSWORD });
    expect(right.status).toBe(204);
    expect((await login(PASSWORD)).status).toBe(401);
    expect((await login(OTHER_PASSWORD)).status).toBe(200);
  });

  test("needs no current one for 15 minutes after a sign-in with a link", async () => {
    await change({ password: PASSWORD });
    const byLink = await signIn(t);
    const path = "/app/api/account/password";
    t.clock.advance(15 * MINUTE_MS - 1);
    expect((await byLink.post(path, { password: OTHER_PASSWORD })).status).toBe(204);
    t.clock.advance(15 * MINUTE_MS);
    expect((await byLink.post(path, { password: PASSWORD })).status).toBe(422);
  });

  test("must follow the rules", async () => {
    const answer = await change({ password: "owner@example.com" });
    expect(answer.at("error.errors")).toMatchObject([{ field: "password" }]);
  });
});

describe("the sessions of a user", () => {
  test("are listed and ended one by one", async () => {
    const other = await signIn(t);
    const list = await browser.get("/app/api/account/sessions");
    const items = listAt(list.at("data"), "items");
    expect(items).toMatchObject([
      {
        isCurrent: false,
        signedInBy: "LINK",
        userAgent: "a browser",
        address: "unknown",
        lastSeenAt: new Date(t.clock.now()).toISOString(),
      },
      { isCurrent: true },
    ]);
    const path = `/app/api/account/sessions/${String(valueAt(items[0], "id"))}`;
    expect((await browser.call("DELETE", path)).status).toBe(204);
    expect((await browser.call("DELETE", path)).status).toBe(404);
    expect(await isSignedIn(other)).toBe(false);
    expect(await isSignedIn(browser)).toBe(true);
  });

  test("of other users cannot be ended", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    const list = await browser.get("/app/api/account/sessions");
    const id = String(valueAt(listAt(list.at("data"), "items")[0], "id"));
    expect((await eve.call("DELETE", `/app/api/account/sessions/${id}`)).status).toBe(404);
    expect(await isSignedIn(browser)).toBe(true);
  });
});

describe("the users of the installation", () => {
  test("are listed for owners only", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    await t.app.writer.write(() =>
      t.app.accounts.members.put(t.project.seq, eve.user.seq, "VIEWER"),
    );
    expect((await eve.get("/app/api/users")).status).toBe(403);
    expect((await browser.get("/app/api/users")).at("data.items")).toMatchObject([
      {
        email: "eve@example.com",
        isOwner: false,
        projects: [{ id: t.project.id, name: "acme", role: "VIEWER" }],
      },
      { email: "owner@example.com", isOwner: true, isDisabled: false, projects: [] },
    ]);
    expect((await eve.get("/app/api/state")).at("data.projects")).toEqual([
      { id: t.project.id, name: "acme", role: "VIEWER", isEnabled: true },
    ]);
  });

  test("are disabled, which ends their sessions and links, and enabled again", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    const { tokens } = t.app.accounts;
    const token = await t.app.writer.write(
      () => tokens.issue({ kind: "LINK", userSeq: eve.user.seq })().text,
    );
    const path = `/app/api/users/${eve.user.id}`;
    expect((await browser.call("PATCH", path, { isDisabled: true })).status).toBe(204);
    expect(await isSignedIn(eve)).toBe(false);
    expect((await createSession(t).post("/app/api/link", { token })).status).toBe(404);
    expect((await browser.call("PATCH", path, { isDisabled: false })).status).toBe(204);
    expect(await isSignedIn(eve)).toBe(false);
    expect(await isSignedIn(await signIn(t, { email: "eve@example.com" }))).toBe(true);
    expect(actions()).toEqual(expect.arrayContaining(["user.disable", "user.enable"]));
  });

  test("include at least one owner who is enabled", async () => {
    const path = `/app/api/users/${browser.user.id}`;
    const refused = await browser.call("PATCH", path, { isDisabled: true });
    expect(refused.status).toBe(409);
    const second = await signIn(t, { email: "second@example.com", isOwner: true });
    expect((await browser.call("PATCH", path, { isDisabled: true })).status).toBe(204);
    const last = await second.call("PATCH", `/app/api/users/${second.user.id}`, {
      isDisabled: true,
    });
    expect(last.status).toBe(409);
  });

  test("cannot be changed by others, and an unknown one is not found", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    const path = `/app/api/users/${browser.user.id}`;
    expect((await eve.call("PATCH", path, { isDisabled: true })).status).toBe(403);
    expect((await browser.call("PATCH", "/app/api/users/x", { isDisabled: true })).status).toBe(
      404,
    );
  });
});
