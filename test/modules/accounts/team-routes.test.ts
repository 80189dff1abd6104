/** The documented routes for users who are signed in: projects, keys, team and audit. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { removeUsers, signIn } from "../../support/session.ts";
import { listKeys } from "../../../src/modules/keys.ts";

const projects = projectPerTest();
let t: TestApp;
let owner: Awaited<ReturnType<typeof signIn>>;
beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
  owner = await signIn(t);
});

type Caller = Pick<typeof owner, "call">;
const call = (caller: Caller, method: string, path: string, body?: unknown) =>
  caller.call(method, path, body, { "x-project": t.project.id });

async function admin() {
  const user = await signIn(t, { email: "admin@example.com", isOwner: false });
  await t.app.writer.write(() => t.app.accounts.members.put(t.project.seq, user.user.seq, "ADMIN"));
  return user;
}

describe("projects", () => {
  test("a user sees the projects of which the user is a member, and an owner sees all", async () => {
    const { project } = await t.makeProject("other");
    const member = await admin();
    const mine = await member.get("/projects");
    expect(mine.at("data")).toMatchObject([{ id: t.project.id, role: "ADMIN" }]);
    const all = listAt((await owner.get("/projects")).body, "data");
    expect(all).toMatchObject([{ id: t.project.id, role: "OWNER" }, { id: project.id }]);
  });

  test("an owner creates a project once per name and per Idempotency-Key", async () => {
    const headers = { "idempotency-key": "a" };
    const made = await owner.call("POST", "/projects", { name: " shop " }, headers);
    expect([made.status, made.at("data.name")]).toEqual([201, "shop"]);
    const again = await owner.call("POST", "/projects", { name: " shop " }, headers);
    expect(again.body).toEqual(made.body);
    const refused = await owner.post("/projects", { name: "shop" });
    expectError(refused, { status: 409, code: "CONFLICT" });
    const member = await admin();
    expectError(await member.post("/projects", { name: "b" }), { status: 403, code: "FORBIDDEN" });
  });

  test("an admin changes the settings, and only an owner disables the project", async () => {
    const member = await admin();
    const path = `/projects/${t.project.id}`;
    const sender = { address: "a@acme.test", name: "Acme" };
    const patch = { name: "renamed", sender, tracking: "DISABLED", language: "en" };
    const changed = await member.call("PATCH", path, patch);
    expect(changed.at("data")).toMatchObject({ ...patch, isEnabled: true });
    expect((await member.get(path)).at("data")).toEqual(changed.at("data"));
    const refused = await member.call("PATCH", path, { isEnabled: false });
    expectError(refused, { status: 403, code: "FORBIDDEN" });
    expect((await owner.call("PATCH", path, { isEnabled: false })).at("data.isEnabled")).toBe(
      false,
    );
    expect((await owner.call("PATCH", path, { isEnabled: true })).at("data.isEnabled")).toBe(true);
    await t.makeProject("taken");
    const taken = await member.call("PATCH", path, { name: "taken", tracking: "ENABLED" });
    expectError(taken, { status: 409, code: "CONFLICT" });
    expect((await member.get(path)).at("data.tracking")).toBe("DISABLED");
  });
});

describe("API keys", () => {
  test("a key is shown once, works, is listed without its text, and can be revoked", async () => {
    const made = await call(owner, "POST", "/keys", { name: "shop" });
    expect(made.status).toBe(201);
    const key = made.text("data.text");
    expect((await t.call("GET", "/contacts", undefined, { key })).status).toBe(200);
    const listed = await call(owner, "GET", "/keys");
    expect(listed.at("data.items.0")).toMatchObject({ name: "shop", last4: key.slice(-4) });
    expect(JSON.stringify(listed.body)).not.toContain(key);
    const path = `/keys/${made.text("data.id")}`;
    expect((await call(owner, "DELETE", path)).status).toBe(204);
    expect((await t.call("GET", "/contacts", undefined, { key })).status).toBe(401);
  });

  test("keys of other projects cannot be revoked", async () => {
    const other = await t.makeProject("other");
    const [key] = listKeys(t.app.app, other.project.seq);
    const answer = await call(owner, "DELETE", `/keys/${key?.id}`);
    expectError(answer, { status: 404, code: "KEY_NOT_FOUND" });
    expect(listKeys(t.app.app, other.project.seq)[0]?.revokedAt).toBeNull();
  });

  test("refuses wrong origins and times", async () => {
    const refused: [object, string][] = [
      [{ origins: ["https://shop.example"] }, "origins"],
      [{ kind: "PUBLIC", origins: ["https://shop.example/a"] }, "origins.0"],
      [{ expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt"],
    ];
    for (const [fields, field] of refused) {
      const answer = await call(owner, "POST", "/keys", { name: "a", ...fields });
      expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
    }
  });
});

describe("the team", () => {
  test("an admin invites, withdraws, changes roles and removes members", async () => {
    const member = await admin();
    const invited = await call(member, "POST", "/team/invitations", {
      email: "Eve@example.com",
      role: "EDITOR",
    });
    expect(invited.at("data")).toMatchObject({ email: "eve@example.com", role: "EDITOR" });
    const team = await call(member, "GET", "/team");
    expect(team.at("data.members")).toMatchObject([{ email: "admin@example.com", role: "ADMIN" }]);
    expect(team.at("data.invitations")).toMatchObject([{ email: "eve@example.com" }]);
    const invitation = `/team/invitations/${invited.text("data.id")}`;
    expect((await call(member, "DELETE", invitation)).status).toBe(204);
    expect((await call(member, "DELETE", invitation)).status).toBe(404);
    const path = `/team/${member.user.id}`;
    const changed = await call(owner, "PATCH", path, { role: "VIEWER" });
    expect(changed.at("data.role")).toBe("VIEWER");
    expect((await call(member, "GET", "/team")).status).toBe(403);
    expect((await call(owner, "DELETE", path)).status).toBe(204);
    expect((await call(owner, "DELETE", path)).status).toBe(404);
  });
});

describe("the last admin of a project", () => {
  const memberPath = ({ user }: { user: { id: string } }) => `/team/${user.id}`;
  const refused = { status: 409, code: "LAST_ADMIN" };

  test("keeps the role, and stays a member", async () => {
    const last = await admin();
    const path = memberPath(last);
    for (const role of ["EDITOR", "VIEWER"]) {
      expectError(await call(last, "PATCH", path, { role }), refused);
    }
    expectError(await call(last, "DELETE", path), refused);
    expect((await call(last, "PATCH", path, { role: "ADMIN" })).at("data.role")).toBe("ADMIN");
    expect(t.app.accounts.members.find(t.project.seq, last.user.id)?.role).toBe("ADMIN");
  });

  test("is not the last one while another admin can sign in", async () => {
    const first = await admin();
    const second = await signIn(t, { email: "second@example.com", isOwner: false });
    const { accounts, writer } = t.app;
    await writer.write(() => accounts.members.put(t.project.seq, second.user.seq, "ADMIN"));
    await writer.write(() => accounts.setDisabled(second.user, true));
    expectError(await call(first, "DELETE", memberPath(first)), refused);
    await writer.write(() => accounts.setDisabled(second.user, false));
    expect((await call(first, "PATCH", memberPath(first), { role: "VIEWER" })).status).toBe(200);
  });

  test("is not saved by an admin of another project", async () => {
    const last = await admin();
    const other = await t.makeProject("other");
    const elsewhere = await signIn(t, { email: "elsewhere@example.com", isOwner: false });
    const { accounts, writer } = t.app;
    await writer.write(() => accounts.members.put(other.project.seq, elsewhere.user.seq, "ADMIN"));
    expectError(await call(last, "DELETE", memberPath(last)), refused);
  });

  test("may be removed by an owner, who has all rights anyway", async () => {
    const last = await admin();
    expect((await call(owner, "DELETE", memberPath(last))).status).toBe(204);
    expect(t.app.accounts.members.list(t.project.seq)).toEqual([]);
  });
});

describe("the audit log", () => {
  test("shows the changes of the project, newest first, by actor, operation and object", async () => {
    const made = await call(owner, "POST", "/keys", { name: "shop" });
    await t.create("/contacts", { email: "ada@example.com" }, "id");
    const all = listAt((await call(owner, "GET", "/audit")).body, "data.items");
    expect(all).toMatchObject([
      { action: "upsertContact", actor: { kind: "KEY" }, fields: ["email"] },
      {
        action: "createKey",
        actor: { kind: "USER", label: "owner@example.com" },
        objectType: "key",
      },
    ]);
    for (const filter of [
      "action=createKey",
      `object=${made.text("data.id")}`,
      `actor=${owner.user.id}`,
    ]) {
      const found = await call(owner, "GET", `/audit?${filter}`);
      expect([filter, found.at("data.total"), found.at("data.items.0.action")]).toEqual([
        filter,
        1,
        "createKey",
      ]);
    }
  });
});
