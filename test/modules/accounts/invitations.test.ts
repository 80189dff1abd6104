/** Invitations: who may join a project with the link, and what the link does not do. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { createSession, removeUsers, signIn } from "../../support/session.ts";

const DAY_MS = 24 * 60 * 60_000;
const PASSWORD = "correct horse battery";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
});

async function invite(email = "eve@example.com", role: "ADMIN" | "EDITOR" | "VIEWER" = "EDITOR") {
  const { invitations } = t.app.accounts;
  const by = "owner@example.com";
  const made = await t.app.writer.write(invitations.invite(t.project, { email, role, by }));
  return { ...made, token: made.link?.split("#")[1] ?? "" };
}

const show = (token: string) => createSession(t).post("/app/api/invitation", { token });
const accept = (given: object, session = createSession(t)) =>
  session.post("/app/api/invitation/accept", given);
const roles = () =>
  t.app.accounts.members.list(t.project.seq).map(({ email, role }) => `${email} ${role}`);

describe("an invitation", () => {
  test("has a link to copy if no mail can be sent, and only its digest is stored", async () => {
    const { link, token } = await invite();
    expect(link).toBe(`${t.app.url}/app/invite#${token}`);
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(JSON.stringify(t.contents())).not.toContain(token);
    expect(t.countRows("system_mails")).toBe(0);
  });

  test("shows the project, the role and whether an account is needed", async () => {
    const { token } = await invite();
    expect((await show(token)).at("data")).toEqual({
      email: "eve@example.com",
      role: "EDITOR",
      project: { id: t.project.id, name: "acme" },
      needsPassword: true,
    });
  });

  test("creates an account that is signed in and a member", async () => {
    const { token } = await invite();
    const session = createSession(t);
    const answer = await accept({ token, name: "Eve", password: PASSWORD }, session);
    expect(answer.at("data")).toEqual({ isSignedIn: true });
    expect((await session.get("/app/api/state")).at("data")).toMatchObject({
      user: { email: "eve@example.com", name: "Eve", isOwner: false },
      projects: [{ id: t.project.id, role: "EDITOR" }],
    });
    expect(roles()).toEqual(["eve@example.com EDITOR"]);
  });

  test("works once, also if it is accepted twice at the same time", async () => {
    const { token } = await invite();
    const given = { token, name: "Eve", password: PASSWORD };
    const answers = await Promise.all([accept(given), accept(given)]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
    expect((await show(token)).status).toBe(404);
    expect(t.countRows("users")).toBe(1);
  });

  test("works for seven days", async () => {
    const { token } = await invite();
    t.clock.advance(7 * DAY_MS - 1);
    expect((await show(token)).status).toBe(200);
    t.clock.advance(1);
    expect((await show(token)).status).toBe(404);
    expect((await accept({ token, name: "Eve", password: PASSWORD })).status).toBe(404);
    expect(t.app.accounts.invitations.list(t.project.seq)).toEqual([]);
  });

  test("of an existing user adds the role, and neither signs in nor sets a password", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    const { token } = await invite();
    expect((await show(token)).at("data")).toMatchObject({ needsPassword: false });
    const stranger = createSession(t);
    const answer = await accept({ token, name: "Mallory", password: PASSWORD }, stranger);
    expect(answer.at("data")).toEqual({ isSignedIn: false });
    expect(stranger.cookie()).toBe("");
    expect(t.app.accounts.users.get(eve.user.id)).toMatchObject({
      name: "Test",
      passwordDigest: null,
    });
    expect((await eve.get("/app/api/state")).at("data.projects")).toMatchObject([
      { role: "EDITOR" },
    ]);
  });

  test("of a disabled user is refused", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    const { users } = t.app.accounts;
    await t.app.writer.write(users.setDisabled(users.get(eve.user.id), true));
    const { token } = await invite();
    expect((await accept({ token })).status).toBe(404);
    expect(roles()).toEqual([]);
  });

  test("needs a name and a good password for a new account", async () => {
    const { token } = await invite();
    for (const [given, field] of [
      [{ password: PASSWORD }, "name"],
      [{ name: "Eve" }, "password"],
      [{ name: "Eve", password: "eve@example.com" }, "password"],
    ] as const) {
      const answer = await accept({ token, ...given });
      expect(answer.at("error.errors")).toMatchObject([{ field }]);
    }
    expect((await show(token)).status).toBe(200);
  });

  test("replaces an earlier one of the same address", async () => {
    const first = await invite("eve@example.com", "ADMIN");
    const second = await invite("eve@example.com", "VIEWER");
    expect((await show(first.token)).status).toBe(404);
    expect((await show(second.token)).at("data.role")).toBe("VIEWER");
    expect(t.app.accounts.invitations.list(t.project.seq)).toMatchObject([
      { email: "eve@example.com", role: "VIEWER" },
    ]);
  });

  test("can be withdrawn, by its project only", async () => {
    const { invitation, token } = await invite();
    const { invitations } = t.app.accounts;
    const other = await t.makeProject("other");
    const foreign = t.app.writer.write(invitations.withdraw(other.project.seq, invitation.id));
    expect(foreign).rejects.toThrow("no such open invitation");
    await t.app.writer.write(invitations.withdraw(t.project.seq, invitation.id));
    expect((await show(token)).status).toBe(404);
  });

  test("is refused for members and for owners", async () => {
    await signIn(t);
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    await t.app.writer.write(() =>
      t.app.accounts.members.put(t.project.seq, eve.user.seq, "VIEWER"),
    );
    expect(invite("eve@example.com")).rejects.toThrow("is a member of the project already");
    expect(invite("owner@example.com")).rejects.toThrow("is an owner");
    await t.app.writer.drain();
  });

  test("is refused if a hundred are open", async () => {
    for (let n = 0; n < 100; n++) await invite(`user${n}@example.com`);
    expect(invite("one-more@example.com")).rejects.toThrow("at most 100 open invitations");
    expect((await invite("user1@example.com")).link).not.toBeNull();
  });
});
