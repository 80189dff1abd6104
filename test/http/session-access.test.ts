import { beforeEach, describe, expect, test } from "bun:test";
import { changeProject, resolveProject } from "../../src/modules/projects.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";
import { removeUsers, signIn, type UserSession } from "../support/session.ts";

const MINUTE_MS = 60_000;

let t: TestApp;
const projects = projectPerTest({ config: { apiRate: 3 } });
beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
});

type Given = { role?: "ADMIN" | "EDITOR" | "VIEWER"; isOwner?: boolean };

/** Signs a user in who has the role in the first project; without a role, in none. */
async function member({ role, isOwner = false }: Given = {}): Promise<UserSession> {
  const email = `${role ?? (isOwner ? "owner" : "nobody")}@example.com`.toLowerCase();
  const { user, ...session } = await signIn(t, { email, isOwner });
  if (role !== undefined) {
    await t.app.writer.write(() => t.app.accounts.members.put(t.project.seq, user.seq, role));
  }
  return session;
}

const inProject = (id = t.project.id) => ({ "x-project": id });
const contact = { email: "ada@example.com" };

/** The rows of the audit log, oldest first. */
const auditRows = () =>
  t.db.sqlite
    .query<Record<string, unknown>, []>(
      `SELECT actor_kind AS kind, actor_label AS label, action, object_type AS type,
              object_id AS id, fields, address, project_seq AS project
       FROM audit WHERE action NOT LIKE '%.%' ORDER BY seq`,
    )
    .all();

describe("a request with the cookie of a session", () => {
  test("is admitted to the project that it names, without an API rate", async () => {
    const viewer = await member({ role: "VIEWER" });
    for (let sent = 0; sent < 5; sent++) {
      const answer = await viewer.call("GET", "/contacts", undefined, inProject());
      expect([answer.status, answer.headers.get("ratelimit-limit")]).toEqual([200, null]);
    }
    expect((await viewer.get(`/contacts?project=${t.project.id}`)).status).toBe(200);
  });

  test("is counted for its user, in all sessions and projects together, with the headers of the rate", async () => {
    const own = await testApp({ config: { userRate: 3 } });
    const owner = await signIn(own);
    const again = await signIn(own);
    const ask = (by: typeof owner, path: string) =>
      by.call("GET", path, undefined, { "x-project": own.project.id });
    const first = await ask(owner, "/contacts");
    expect([first.status, first.headers.get("ratelimit-limit")]).toEqual([200, "3"]);
    expect((await ask(again, "/templates")).headers.get("ratelimit-remaining")).toBe("1");
    expect((await ask(again, `/projects/${own.project.id}`)).status).toBe(200);
    const refused = await ask(owner, "/contacts");
    expectError(refused, { status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(refused.headers.get("retry-after")).toBe("60");
    const other = await signIn(own, { email: "other@example.com" });
    expect((await ask(other, "/contacts")).status).toBe(200);
    expect((await own.call("GET", "/contacts")).status).toBe(200);
    own.clock.advance(60_000);
    expect((await ask(owner, "/contacts")).status).toBe(200);
    await own.close();
  });

  test("must name a project of which the user is a member", async () => {
    const viewer = await member({ role: "VIEWER" });
    expectError(await viewer.get("/contacts"), { status: 400, code: "BAD_REQUEST" });
    const other = await t.makeProject("other");
    for (const id of [other.project.id, "unknown", ""]) {
      const answer = await viewer.call("GET", "/contacts", undefined, inProject(id));
      expectError(answer, { status: 403, code: "FORBIDDEN" });
      expect(answer.text("error.message")).toBe("You are not a member of this project.");
    }
    const owner = await member({ isOwner: true });
    const found = await owner.call("GET", "/contacts", undefined, inProject(other.project.id));
    expect(found.status).toBe(200);
  });

  test("is refused with the role that is needed and the role of the user", async () => {
    const viewer = await member({ role: "VIEWER" });
    const answer = await viewer.call("POST", "/contacts", contact, inProject());
    expectError(answer, { status: 403, code: "FORBIDDEN" });
    expect(answer.text("error.message")).toBe(
      "This needs the role EDITOR, and your role is VIEWER.",
    );
    expect(t.countRows("contacts")).toBe(0);
  });

  test("is refused after the session has ended", async () => {
    const viewer = await member({ role: "VIEWER" });
    t.clock.advance(15 * 24 * 60 * MINUTE_MS);
    const answer = await viewer.call("GET", "/contacts", undefined, inProject());
    expectError(answer, { status: 401, code: "MISSING_AUTH" });
  });

  test("needs the origin of this server and X-Requested-With to change something", async () => {
    const editor = await member({ role: "EDITOR" });
    const forged = [
      { origin: "https://evil.example" },
      { origin: null },
      { origin: "null" },
      { "x-requested-with": null },
      { "x-requested-with": "XMLHttpRequest" },
    ];
    for (const headers of forged) {
      const given = { ...inProject(), ...headers };
      const answer = await editor.call("POST", "/contacts", contact, given);
      expectError(answer, { status: 403, code: "FORBIDDEN" });
    }
    expect(t.countRows("contacts")).toBe(0);
    expect((await editor.call("POST", "/contacts", contact, inProject())).status).toBe(201);
  });

  test("a key is preferred to the cookie, and a wrong key is refused", async () => {
    const viewer = await member({ role: "VIEWER" });
    const authorization = (key: string) => ({ ...inProject(), authorization: `Bearer ${key}` });
    const made = await viewer.call("POST", "/contacts", contact, authorization(t.secretKey));
    expect(made.status).toBe(201);
    const refused = await viewer.call("GET", "/contacts", undefined, authorization("sk_x"));
    expectError(refused, { status: 401, code: "INVALID_API_KEY" });
  });

  test("a disabled project can be read and not changed", async () => {
    const editor = await member({ role: "EDITOR" });
    const project = resolveProject(t.app.app, t.project.id, "--project");
    await t.app.writer.write(() => changeProject(t.app.app, project, { isEnabled: false }));
    expect((await editor.call("GET", "/contacts", undefined, inProject())).status).toBe(200);
    const answer = await editor.call("POST", "/contacts", contact, inProject());
    expectError(answer, { status: 403, code: "PROJECT_DISABLED" });
  });

  test("an action that needs a confirmation is refused when the last one is too old", async () => {
    const email = "editor@example.com";
    const { user, ...editor } = await signIn(t, { email, isOwner: false });
    await t.app.writer.write(() => t.app.accounts.members.put(t.project.seq, user.seq, "EDITOR"));
    t.db.sqlite.run("UPDATE users SET password_digest = 'x' WHERE seq = ?", [user.seq]);
    const exports = () => editor.call("GET", "/contacts/export", undefined, inProject());
    expect((await exports()).status).toBe(200);
    t.clock.advance(15 * MINUTE_MS);
    expectError(await exports(), { status: 403, code: "CONFIRMATION_REQUIRED" });
    expect((await t.call("GET", "/contacts/export")).status).toBe(200);
  });
});

test("viewers may not read the bodies of transactional mail", async () => {
  const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
  const id = await t.create("/v1/send", mail, "data.emails.0.email");
  const viewer = await member({ role: "VIEWER" });
  const editor = await member({ role: "EDITOR" });
  for (const part of ["content", "preview", "source"]) {
    const path = `/emails/${id}/${part}`;
    const refused = await viewer.call("GET", path, undefined, inProject());
    expectError(refused, { status: 403, code: "FORBIDDEN" });
    expect((await editor.call("GET", path, undefined, inProject())).status).toBe(200);
  }
  const record = await viewer.call("GET", `/emails/${id}`, undefined, inProject());
  expect(record.status).toBe(200);
});

describe("the audit log", () => {
  test("has a row for each change of a user, with names of fields and without values", async () => {
    const editor = await member({ role: "EDITOR" });
    const body = { ...contact, data: { plan: "a secret plan" } };
    const made = await editor.call("POST", "/contacts", body, inProject());
    const id = made.text("id");
    await editor.call("DELETE", `/contacts/${id}`, undefined, inProject());
    const actor = { kind: "USER", label: "editor@example.com", project: t.project.seq };
    expect(auditRows()).toEqual([
      {
        ...actor,
        action: "upsertContact",
        type: "contact",
        id,
        fields: '["email","data"]',
        address: "unknown",
      },
      { ...actor, action: "deleteContact", type: "contact", id, fields: "[]", address: "unknown" },
    ]);
    expect(JSON.stringify(t.contents()["audit"])).not.toContain("secret plan");
  });

  test("names the key of a change and its last characters", async () => {
    await t.create(
      "/templates",
      { name: "a", subject: "a", body: "a", type: "TRANSACTIONAL" },
      "data.id",
    );
    const label = `test (…${t.secretKey.slice(-4)})`;
    expect(auditRows()).toMatchObject([{ kind: "KEY", label, action: "createTemplate" }]);
  });

  test("has no row for a change that failed, and one for a repeated request", async () => {
    const editor = await member({ role: "EDITOR" });
    await editor.call("PATCH", "/contacts/unknown", { subscribed: false }, inProject());
    await editor.call("DELETE", "/contacts/unknown", undefined, inProject());
    expect(auditRows()).toEqual([]);
    const headers = { ...inProject(), "idempotency-key": "a" };
    await editor.call("POST", "/contacts", contact, headers);
    await editor.call("POST", "/contacts", contact, headers);
    expect(auditRows()).toHaveLength(1);
  });

  test("a change is undone if its row cannot be written", async () => {
    t.db.sqlite.run(
      "CREATE TRIGGER broken BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'x'); END",
    );
    expect((await t.call("POST", "/contacts", contact)).status).toBe(500);
    t.db.sqlite.run("DROP TRIGGER broken");
    expect(t.countRows("contacts")).toBe(0);
  });

  test("has no rows for mails, events and computations", async () => {
    const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "Hi" };
    expect((await t.call("POST", "/v1/send", mail)).status).toBe(200);
    const event = { email: "ada@example.com", event: "signed up" };
    expect((await t.call("POST", "/v1/track", event)).status).toBe(200);
    expect(t.countRows("audit")).toBe(0);
  });
});
