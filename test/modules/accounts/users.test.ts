/** The users of the installation, as owners see and change them. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { createSession, removeUsers, signIn, type UserSession } from "../../support/session.ts";

const PATH = "/app/api/users";
const projects = projectPerTest();
let t: TestApp;
let owner: Awaited<ReturnType<typeof signIn>>;

beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
  owner = await signIn(t);
});

const change = (id: string, body: object, by: UserSession = owner) =>
  by.call("PATCH", `${PATH}/${id}`, body);
const emails = async (query = "") => {
  const answer = await owner.get(`${PATH}${query}`);
  expect([query, answer.status]).toEqual([query, 200]);
  return listAt(answer.body, "data.items").map((item) => stringAt(item, "email"));
};
/** The newest entry of the audit log. */
const latest = () =>
  t.db.sqlite
    .query("SELECT action, object_name, fields, changes FROM audit ORDER BY seq DESC")
    .get();
const tokenOf = (link: string) => new URL(link).hash.slice(1);

/** Gives a user an authenticator app with an unknown secret. */
function addFactor(userSeq: number): void {
  t.db.sqlite.run(
    "INSERT INTO totp_secrets (user_seq, secret, confirmed_at, created_at) VALUES (?, 'x', 1, 1)",
    [userSeq],
  );
}

describe("a user who is created", () => {
  test("gets a link that signs in, and a role in a project", async () => {
    const answer = await owner.post(PATH, {
      email: "Eve@Example.com",
      name: "Eve",
      member: { project: t.project.id, role: "EDITOR" },
    });
    expect(answer.at("data.user")).toMatchObject({
      email: "eve@example.com",
      name: "Eve",
      isOwner: false,
      hasSecondFactor: false,
      lastSignInAt: null,
      projects: [{ name: "acme", role: "EDITOR" }],
    });
    expect(latest()).toMatchObject({ action: "user.create", object_name: "eve@example.com" });
    const eve = createSession(t);
    const token = tokenOf(answer.text("data.link"));
    expect((await eve.post("/app/api/link", { token })).status).toBe(200);
    expect((await eve.get("/app/api/state")).at("data.projects")).toMatchObject([
      { name: "acme", role: "EDITOR" },
    ]);
    const shown = await owner.get(`${PATH}?q=EVE`);
    expect(shown.text("data.items.0.lastSignInAt")).toBe(new Date(t.clock.now()).toISOString());
  });

  test("as an owner is named as one in the log", async () => {
    const answer = await owner.post(PATH, { email: "eve@example.com", isOwner: true });
    expect(answer.at("data.user")).toMatchObject({ email: "eve@example.com", isOwner: true });
    expect(latest()).toEqual({
      action: "user.update",
      object_name: "eve@example.com",
      fields: '["isOwner"]',
      changes: '[{"field":"isOwner","before":"false","after":"true"}]',
    });
  });

  const refused: [status: number, body: object][] = [
    [409, { email: "owner@example.com" }],
    [422, { email: "no address" }],
    [422, { email: "a@example.com", member: { project: "x", role: "OWNER" } }],
    [404, { email: "a@example.com", member: { project: "x", role: "VIEWER" } }],
  ];
  test.each(refused)("is refused with %p and changes nothing", async (status, body) => {
    expect((await owner.post(PATH, body)).status).toBe(status);
    expect(t.countRows("users")).toBe(1);
  });
});

test("users are searched and filtered, in pages", async () => {
  for (const name of ["Ann", "Bob", "Eve"]) {
    await owner.post(PATH, {
      email: `${name.toLowerCase()}@x.example`,
      name,
      isOwner: name === "Bob",
    });
  }
  const { users, setDisabled } = t.app.accounts;
  await t.app.writer.write(() => setDisabled(users.getByEmail("ann@x.example"), true));
  addFactor(users.getByEmail("eve@x.example").seq);
  expect(await emails()).toEqual([
    "eve@x.example",
    "bob@x.example",
    "ann@x.example",
    "owner@example.com",
  ]);
  expect(await emails("?q=bO")).toEqual(["bob@x.example"]);
  expect(await emails("?q=%25")).toEqual([]);
  expect(await emails("?role=owner")).toEqual(["bob@x.example", "owner@example.com"]);
  expect(await emails("?state=disabled")).toEqual(["ann@x.example"]);
  expect(await emails("?factor=on&state=enabled")).toEqual(["eve@x.example"]);
  const page = await owner.get(`${PATH}?limit=3`);
  expect([page.at("data.total"), page.at("data.hasMore")]).toEqual([4, true]);
  expect(await emails(`?limit=3&cursor=${page.text("data.nextCursor")}`)).toEqual([
    "owner@example.com",
  ]);
  expect((await owner.get(`${PATH}?role=king`)).status).toBe(422);
});

describe("an owner", () => {
  test("makes another one, but the last one stays an owner", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    expect((await change(owner.user.id, { isOwner: false })).status).toBe(409);
    expect((await change(eve.user.id, { isOwner: true, name: "Eve" })).status).toBe(204);
    expect(latest()).toEqual({
      action: "user.update",
      object_name: "eve@example.com",
      fields: '["isOwner","name"]',
      changes:
        '[{"field":"name","before":"Test","after":"Eve"},{"field":"isOwner","before":"false","after":"true"}]',
    });
    expect((await change(owner.user.id, { isOwner: false })).status).toBe(204);
    expect((await owner.get(PATH)).status).toBe(403);
    expect((await change(eve.user.id, { isOwner: false }, eve)).status).toBe(409);
    expect((await change(eve.user.id, { isOwner: false, isDisabled: true }, eve)).status).toBe(409);
  });

  test("does not make one of a user whose address is not proven", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    t.db.sqlite.run("UPDATE users SET unproven_project_seq = ? WHERE seq = ?", [
      t.project.seq,
      eve.user.seq,
    ]);
    expect((await change(eve.user.id, { isOwner: true })).status).toBe(409);
    expect((await owner.post(`${PATH}/${eve.user.id}/link`)).status).toBe(200);
    expect((await change(eve.user.id, { isOwner: true })).status).toBe(204);
  });

  test("copies a link, which still asks for the second factor, and removes a lost one", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    addFactor(eve.user.seq);
    const use = async () => {
      const { text } = await owner.post(`${PATH}/${eve.user.id}/link`);
      return createSession(t).post("/app/api/link", { token: tokenOf(text("data.link")) });
    };
    expect((await use()).at("data.step")).toBe("SECOND_FACTOR");
    expect((await owner.call("DELETE", `${PATH}/${eve.user.id}/second-factor`)).status).toBe(204);
    expect(latest()).toMatchObject({ action: "user.reset-second-factor" });
    expect((await eve.get("/app/api/account")).status).toBe(401);
    expect((await use()).at("data.step")).toBeNull();
    const own = await owner.call("DELETE", `${PATH}/${owner.user.id}/second-factor`);
    expect(own.status).toBe(409);
    await change(eve.user.id, { isDisabled: true });
    expect((await owner.post(`${PATH}/${eve.user.id}/link`)).status).toBe(409);
  });

  test("ends all sessions of a user", async () => {
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    expect((await owner.get(`${PATH}?q=eve`)).at("data.items.0.sessions")).toBe(1);
    expect((await owner.call("DELETE", `${PATH}/${eve.user.id}/sessions`)).status).toBe(204);
    expect((await eve.get("/app/api/account")).status).toBe(401);
  });

  test("enters the password again before a change", async () => {
    await owner.post("/app/api/account/password", { password: "correct horse battery" });
    t.clock.advance(15 * 60_000);
    const answers = await Promise.all([
      owner.post(PATH, { email: "a@example.com" }),
      change(owner.user.id, { name: "x" }),
      owner.post(`${PATH}/${owner.user.id}/link`),
      owner.call("DELETE", `${PATH}/${owner.user.id}/sessions`),
      owner.call("DELETE", `${PATH}/${owner.user.id}/second-factor`),
    ]);
    for (const answer of answers) expect(answer.at("error.code")).toBe("CONFIRMATION_REQUIRED");
  });
});
