/** Invitations: who may join a project with the link, and what the link does not do. */

import { beforeEach, describe, expect, test } from "bun:test";
import { createProject } from "../../../src/modules/projects.ts";
import type { TestApp } from "../../support/app.ts";
import { valueAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
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

  test("of an address is limited to five a day in a project, and to 20 in all", async () => {
    const attempt = async (project = t.project) => {
      const { invitations } = t.app.accounts;
      const given = { email: "eve@example.com", role: "EDITOR", by: "owner@example.com" } as const;
      const made = t.app.writer.write(invitations.invite(project, given));
      return made.then(
        () => 0,
        (error: unknown) => valueAt(error, "status"),
      );
    };
    for (let n = 0; n < 5; n++) expect(await attempt()).toBe(0);
    t.clock.advance(DAY_MS / 2);
    expect(await attempt()).toBe(429);
    expect((await invite("adam@example.com")).token).not.toBe("");
    const others = await Promise.all(
      ["b", "c", "d", "e"].map((name) =>
        t.app.writer.write(() => createProject(t.app.app, `${name}${t.project.id}`)),
      ),
    );
    const statuses = [];
    for (const other of others) for (let n = 0; n < 4; n++) statuses.push(await attempt(other));
    expect(statuses).toEqual([...Array.from({ length: 15 }, () => 0), 429]);
    t.clock.advance(DAY_MS / 2);
    expect(await attempt()).toBe(0);
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

  test("of an existing user adds the role when this user is signed in, and sets no password", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    const { token } = await invite();
    expect((await show(token)).at("data")).toMatchObject({ needsPassword: false });
    const stranger = createSession(t);
    const given = { token, name: "Mallory", password: PASSWORD };
    expectError(await accept(given, stranger), { status: 401, code: "MISSING_AUTH" });
    const other = await signIn(t, { email: "mallory@example.com", isOwner: false });
    expectError(await accept(given, other), { status: 403, code: "FORBIDDEN" });
    expect([stranger.cookie(), roles()]).toEqual(["", []]);
    expect((await accept(given, eve)).at("data")).toEqual({ isSignedIn: false });
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
    expect((await accept({ token })).status).toBe(401);
    expect((await accept({ token }, eve)).status).toBe(401);
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

describe("an account that was made with a link that an admin was shown", () => {
  const BOSS = "boss@corp.example";
  const OWN = "a password of the boss";

  /** The admin of a project accepts the invitation of the boss, whose account is used from then on. */
  async function takenAccount() {
    const { token } = await invite(BOSS, "ADMIN");
    const admin = createSession(t);
    await accept({ token, name: "Admin", password: PASSWORD }, admin);
    return admin;
  }
  async function inviteElsewhere({ isMailed }: { isMailed: boolean }) {
    const { project } = await t.makeProject("other");
    const { invitations, tokens } = t.app.accounts;
    return t.app.writer.write(() => {
      const made = invitations.invite(project, { email: BOSS, role: "ADMIN", by: "x" })();
      const token = made.link?.split("#")[1] ?? "";
      if (isMailed) tokens.setMailed(tokens.find("INVITATION", token).seq);
      return { token, project };
    });
  }
  const projectsIn = async (session: ReturnType<typeof createSession>) =>
    (await session.get("/app/api/state")).at("data.projects");
  const canOpen = async (session: ReturnType<typeof createSession>, id: string) =>
    (await session.call("GET", "/contacts", undefined, { "x-project": id })).status === 200;

  test("works in the project of that admin only", async () => {
    const admin = await takenAccount();
    const { project } = await t.makeProject("other");
    const { members, users } = t.app.accounts;
    const { seq } = users.getByEmail(BOSS);
    await t.app.writer.write(() => members.put(project.seq, seq, "ADMIN"));
    expect(await projectsIn(admin)).toMatchObject([{ id: t.project.id }]);
    expect((await admin.get("/projects")).at("data")).toMatchObject([{ id: t.project.id }]);
    expect([await canOpen(admin, t.project.id), await canOpen(admin, project.id)]).toEqual([
      true,
      false,
    ]);
    await t.app.writer.write(users.set(seq, { isOwner: true }));
    expect((await admin.get("/app/api/state")).at("data.user.isOwner")).toBe(false);
    expect(await canOpen(admin, project.id)).toBe(false);
    expect((await admin.get("/app/api/users")).status).toBe(403);
  });

  test("does not join another project with a link that its admin was shown", async () => {
    const admin = await takenAccount();
    const { token, project } = await inviteElsewhere({ isMailed: false });
    expect((await show(token)).at("data.needsPassword")).toBe(false);
    expectError(await accept({ token, name: "Boss", password: OWN }), {
      status: 401,
      code: "MISSING_AUTH",
    });
    expectError(await accept({ token }, admin), { status: 409, code: "INVALID_STATE" });
    expect(t.app.accounts.members.list(project.seq)).toEqual([]);
  });

  test("is taken over with an invitation by mail, which ends its password and sessions", async () => {
    const admin = await takenAccount();
    const { token, project } = await inviteElsewhere({ isMailed: true });
    expect((await show(token)).at("data.needsPassword")).toBe(true);
    // The session of the admin is no proof.
    expect((await accept({ token }, admin)).status).toBe(422);
    const boss = createSession(t);
    expect((await accept({ token, name: "Boss", password: OWN }, boss)).status).toBe(200);
    expect((await admin.get("/app/api/state")).at("data.user")).toBeNull();
    const again = createSession(t);
    const login = (password: string) => again.post("/app/api/login", { email: BOSS, password });
    expect((await login(PASSWORD)).status).toBe(401);
    expect((await login(OWN)).status).toBe(200);
    expect(await projectsIn(boss)).toMatchObject([{ id: t.project.id }, { id: project.id }]);
    expect((await boss.get("/app/api/state")).at("data.user.name")).toBe("Boss");
  });

  test("is taken over with a link for a new password", async () => {
    const admin = await takenAccount();
    const { users, tokens } = t.app.accounts;
    const { seq: userSeq } = users.getByEmail(BOSS);
    const { text } = await t.app.writer.write(tokens.issue({ kind: "RESET", userSeq }));
    const boss = createSession(t);
    const answer = await boss.post("/app/api/reset", { token: text, password: OWN });
    expect(answer.status).toBe(200);
    expect((await admin.get("/app/api/state")).at("data.user")).toBeNull();
    expect(users.getByEmail(BOSS).unprovenProjectSeq).toBeNull();
  });

  test("stays unproven when the one who made it chooses another password", async () => {
    const admin = await takenAccount();
    const body = { current: PASSWORD, password: OWN };
    expect((await admin.post("/app/api/account/password", body)).status).toBe(204);
    expect(t.app.accounts.users.getByEmail(BOSS).unprovenProjectSeq).toBe(t.project.seq);
  });

  test("does not hinder the owner who sets the installation up", async () => {
    const admin = await takenAccount();
    const token = await t.app.writer.write(t.app.accounts.createSetUpToken());
    const owner = createSession(t);
    const given = { token, name: "Boss", email: BOSS, password: OWN };
    expect((await owner.post("/app/api/setup", given)).status).toBe(200);
    expect((await owner.get("/app/api/state")).at("data.user")).toMatchObject({
      name: "Boss",
      isOwner: true,
    });
    expect((await admin.get("/app/api/state")).at("data.user")).toBeNull();
  });

  test("is proven from the beginning if the link was sent by mail", async () => {
    const { token } = await inviteElsewhere({ isMailed: true });
    await accept({ token, name: "Boss", password: OWN });
    expect(t.app.accounts.users.getByEmail(BOSS).unprovenProjectSeq).toBeNull();
  });
});
