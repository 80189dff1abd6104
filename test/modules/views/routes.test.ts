/** The routes of saved views: who sees, saves, shares, changes and deletes them. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { MemberRole } from "../../../src/db/schema/accounts.ts";
import type { TestApp } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";
import { removeUsers, signIn } from "../../support/session.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
  removeUsers(t);
});

type Member = Awaited<ReturnType<typeof signIn>>;

async function member(role: MemberRole, name = role.toLowerCase()): Promise<Member> {
  const found = await signIn(t, { email: `${name}@example.com`, isOwner: false });
  await t.app.writer.write(() => t.app.accounts.members.put(t.project.seq, found.user.seq, role));
  return found;
}

const call = (caller: Member, method: string, path: string, body?: unknown) =>
  caller.call(method, path, body, { "x-project": t.project.id });

const BOUNCED = { page: "emails", name: "Bounced", query: "status=bounced" };

async function save(caller: Member, view: object = {}): Promise<string> {
  const saved = await call(caller, "POST", "/views", { ...BOUNCED, ...view });
  expect([saved.status, saved.at("error")]).toEqual([201, undefined]);
  return saved.text("data.id");
}

async function names(caller: Member, query = ""): Promise<string[]> {
  const { body } = await call(caller, "GET", `/views${query}`);
  return listAt(body, "data.items").map((view) => stringAt(view, "name"));
}

const FORBIDDEN = { status: 403, code: "FORBIDDEN" };
const invalid = (field: string) => ({
  status: 422,
  code: "VALIDATION_ERROR",
  errors: [[field, "invalid_value"]] as const,
});
const UNKNOWN = { status: 404, code: "VIEW_NOT_FOUND" };

describe("saving a view", () => {
  test("returns it with the encoded query and records one row in the audit log", async () => {
    const viewer = await member("VIEWER");
    const saved = await call(viewer, "POST", "/views", {
      page: "emails",
      name: " To Acme ",
      query: "?to=@acme.test",
    });
    expect(saved.at("data")).toEqual({
      id: saved.text("data.id"),
      page: "emails",
      name: "To Acme",
      query: "to=%40acme.test",
      isShared: false,
      isOwn: true,
      author: "Test",
      createdAt: saved.text("data.createdAt"),
      updatedAt: saved.text("data.createdAt"),
    });
    const admin = await member("ADMIN");
    const audit = await call(admin, "GET", `/audit?object=${saved.text("data.id")}`);
    expect(listAt(audit.body, "data.items")).toMatchObject([
      {
        action: "createSavedView",
        objectType: "view",
        actor: { kind: "USER", id: viewer.user.id },
        fields: ["page", "name", "query"],
      },
    ]);
    expect((await t.call("GET", "/events")).at("data.items")).toEqual([]);
  });

  test("is not repeated with the same Idempotency-Key", async () => {
    const viewer = await member("VIEWER");
    const headers = { "x-project": t.project.id, "idempotency-key": "once" };
    const first = await viewer.call("POST", "/views", BOUNCED, headers);
    const second = await viewer.call("POST", "/views", BOUNCED, headers);
    expect(second.body).toEqual(first.body);
    expect(await names(viewer)).toEqual(["Bounced"]);
  });

  test("names the field that is wrong", async () => {
    const viewer = await member("VIEWER");
    const refused: [object, string, string][] = [
      [{ name: "  " }, "name", "invalid_format"],
      [{ query: "color=red" }, "query", "invalid_value"],
      [{ query: `to=${"x".repeat(2_000)}` }, "query", "too_big"],
    ];
    for (const [view, field, code] of refused) {
      const answer = await call(viewer, "POST", "/views", { ...BOUNCED, ...view });
      expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] });
    }
    expect(await names(viewer)).toEqual([]);
  });

  test("needs another name on the same page, but not on another page or for another member", async () => {
    const viewer = await member("VIEWER");
    await save(viewer);
    const again = await call(viewer, "POST", "/views", { ...BOUNCED, name: "Bounced " });
    expectError(again, { status: 409, code: "CONFLICT" });
    await save(viewer, { page: "suppressions", query: "reason=manual" });
    await save(await member("EDITOR"));
    expect(await names(viewer)).toEqual(["Bounced", "Bounced"]);
  });

  test("ends at 100 views of a member, and at 1,000 of a project", async () => {
    const viewer = await member("VIEWER");
    for (let i = 0; i < 100; i++) await save(viewer, { name: `View ${i}` });
    const refused = await call(viewer, "POST", "/views", BOUNCED);
    expectError(refused, { status: 409, code: "QUOTA_EXCEEDED" });
    expect(refused.text("error.message")).toBe(
      "You have 100 saved views in this project, which is the limit.",
    );
    await t.app.writer.write(() => {
      t.db.sqlite.run(`
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
        INSERT INTO saved_views (id, project_seq, user_seq, page, name, query, created_at, updated_at)
        SELECT 'id' || i, ${t.project.seq}, ${viewer.user.seq}, 'emails', 'n' || i, 'to=a', 1, 1 FROM n`);
    });
    const full = await call(await member("EDITOR"), "POST", "/views", BOUNCED);
    expectError(full, { status: 409, code: "QUOTA_EXCEEDED" });
    expect(full.text("error.message")).toBe(
      "There are 1000 saved views in this project, which is the limit.",
    );
  });

  test("needs a session and a role that may open the page", async () => {
    expect((await t.call("GET", "/views")).status).toBe(403);
    const editor = await member("EDITOR");
    const audit = { page: "audit", query: "action=createKey" };
    expectError(await call(editor, "POST", "/views", { ...BOUNCED, ...audit }), FORBIDDEN);
    await save(await member("ADMIN"), audit);
    const inbox = { page: "inbox", query: "q=from:ada" };
    expectError(
      await call(await member("VIEWER"), "POST", "/views", { ...BOUNCED, ...inbox }),
      FORBIDDEN,
    );
    await save(editor, inbox);
  });
});

describe("the list", () => {
  test("has own views and shared ones, newest first, by page and name", async () => {
    const [viewer, editor] = [await member("VIEWER"), await member("EDITOR")];
    await save(viewer, { name: "Mine" });
    await save(editor, { name: "Private" });
    await save(editor, { name: "For all", isShared: true });
    await save(editor, { page: "contacts", query: "q=100%", name: "100%", isShared: true });
    expect(await names(viewer)).toEqual(["100%", "For all", "Mine"]);
    expect(await names(viewer, "?page=emails")).toEqual(["For all", "Mine"]);
    expect(await names(viewer, "?name=FOR")).toEqual(["For all"]);
    expect(await names(viewer, "?name=0%25")).toEqual(["100%"]);
    expect(await names(viewer, "?name=%25a")).toEqual([]);
    const { body } = await call(viewer, "GET", "/views?name=For");
    expect(listAt(body, "data.items")).toMatchObject([
      { isShared: true, isOwn: false, author: "Test" },
    ]);
    expectError(await call(viewer, "GET", "/views?page=x"), invalid("page"));
  });

  test("has pages, and leaves out views of pages that the role may not open", async () => {
    const [viewer, admin] = [await member("VIEWER"), await member("ADMIN")];
    for (const name of ["a", "b", "c"]) await save(admin, { name, isShared: true });
    await save(admin, { page: "audit", query: "action=createKey", name: "Keys", isShared: true });
    await save(admin, { page: "inbox", query: "q=ada", name: "Ada", isShared: true });
    expect(await names(admin)).toEqual(["Ada", "Keys", "c", "b", "a"]);
    const first = await call(viewer, "GET", "/views?limit=2");
    expect(listAt(first.body, "data.items").map((view) => stringAt(view, "name"))).toEqual([
      "c",
      "b",
    ]);
    expect(first.at("data.total")).toBe(3);
    expect(await names(viewer, `?limit=2&cursor=${first.text("data.nextCursor")}`)).toEqual(["a"]);
  });

  test("has no views of other projects", async () => {
    const other = await t.makeProject("other");
    const owner = await signIn(t);
    const headers = { "x-project": other.project.id };
    const made = await owner.call("POST", "/views", { ...BOUNCED, isShared: true }, headers);
    expect(await names(owner)).toEqual([]);
    const path = `/views/${made.text("data.id")}`;
    expectError(await call(owner, "PATCH", path, { name: "a" }), UNKNOWN);
    expectError(await call(owner, "DELETE", path), UNKNOWN);
  });

  test("is read by indexes", () => {
    const plan = (sql: string) =>
      t.db.sqlite.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
    const page = plan(
      "SELECT * FROM saved_views WHERE project_seq = 1 AND (user_seq = 1 OR is_shared = 1) AND page IN ('emails') ORDER BY seq DESC LIMIT 21",
    );
    expect(page.map(({ detail }) => detail)).toEqual([
      "SEARCH saved_views USING INDEX saved_views_page (project_seq=?)",
    ]);
    const own = plan("SELECT count(*) FROM saved_views WHERE project_seq = 1 AND user_seq = 1");
    expect(own.map(({ detail }) => detail)).toEqual([
      "SEARCH saved_views USING COVERING INDEX saved_views_name (user_seq=? AND project_seq=?)",
    ]);
  });
});

describe("sharing", () => {
  test("needs the role EDITOR, at the creation and later", async () => {
    const [viewer, editor] = [await member("VIEWER"), await member("EDITOR")];
    const shared = { ...BOUNCED, isShared: true };
    expectError(await call(viewer, "POST", "/views", shared), FORBIDDEN);
    const path = `/views/${await save(viewer)}`;
    expectError(await call(viewer, "PATCH", path, { isShared: true }), FORBIDDEN);
    expect(await names(editor)).toEqual([]);
    const own = `/views/${await save(editor)}`;
    const changed = await call(editor, "PATCH", own, { isShared: true });
    expect(changed.at("data")).toMatchObject({ isShared: true, name: "Bounced" });
    expect(await names(viewer)).toEqual(["Bounced", "Bounced"]);
    await call(editor, "PATCH", own, { isShared: false });
    expect(await names(await member("ADMIN"))).toEqual([]);
  });

  test("lets admins rename and delete the view, but not take it from its author", async () => {
    const [author, other, admin] = [
      await member("EDITOR"),
      await member("EDITOR", "other"),
      await member("ADMIN"),
    ];
    const path = `/views/${await save(author, { isShared: true })}`;
    expectError(await call(other, "PATCH", path, { name: "a" }), FORBIDDEN);
    expectError(await call(other, "DELETE", path), FORBIDDEN);
    expectError(await call(admin, "PATCH", path, { isShared: false }), FORBIDDEN);
    const renamed = await call(admin, "PATCH", path, { name: "Returned", isShared: true });
    expect(renamed.at("data")).toMatchObject({ name: "Returned", isOwn: false });
    expect(await names(author)).toEqual(["Returned"]);
    expect((await call(admin, "DELETE", path)).status).toBe(204);
    expect(await names(author)).toEqual([]);
  });

  test("cannot be changed by an author who became a viewer", async () => {
    const author = await member("EDITOR");
    const path = `/views/${await save(author, { isShared: true })}`;
    await t.app.writer.write(() =>
      t.app.accounts.members.put(t.project.seq, author.user.seq, "VIEWER"),
    );
    expectError(await call(author, "PATCH", path, { name: "a" }), FORBIDDEN);
    expectError(await call(author, "DELETE", path), FORBIDDEN);
    expect(await names(author)).toEqual(["Bounced"]);
  });
});

describe("changing a view", () => {
  test("records a row in the audit log for each change, with the names of the fields", async () => {
    const editor = await member("EDITOR");
    const id = await save(editor);
    await call(editor, "PATCH", `/views/${id}`, { name: "Returned", isShared: true });
    await call(editor, "PATCH", `/views/${id}`, { name: "" });
    await call(editor, "DELETE", `/views/${id}`);
    const { body } = await call(await member("ADMIN"), "GET", `/audit?object=${id}`);
    const rows = listAt(body, "data.items").map((row) => [
      stringAt(row, "action"),
      listAt(row, "fields"),
    ]);
    expect(rows).toEqual([
      ["deleteSavedView", []],
      ["updateSavedView", ["name", "isShared"]],
      ["createSavedView", ["page", "name", "query"]],
    ]);
    expect((await t.call("GET", "/events")).at("data.items")).toEqual([]);
  });

  test("stores a new name and query, and keeps what is not given", async () => {
    const viewer = await member("VIEWER");
    const path = `/views/${await save(viewer)}`;
    const savedAt = t.clock.now();
    t.clock.advance(60_000);
    const changed = await call(viewer, "PATCH", path, { query: "status=failed" });
    expect(changed.at("data")).toMatchObject({
      name: "Bounced",
      query: "status=failed",
      createdAt: new Date(savedAt).toISOString(),
      updatedAt: new Date(savedAt + 60_000).toISOString(),
    });
    const renamed = await call(viewer, "PATCH", path, { name: "Failed" });
    expect(renamed.at("data")).toMatchObject({ name: "Failed", query: "status=failed" });
  });

  test("refuses a query of another page, and the name of another view", async () => {
    const viewer = await member("VIEWER");
    await save(viewer);
    const path = `/views/${await save(viewer, { name: "Failed" })}`;
    const query = await call(viewer, "PATCH", path, { query: "reason=manual" });
    expectError(query, invalid("query"));
    const name = await call(viewer, "PATCH", path, { name: "Bounced" });
    expectError(name, { status: 409, code: "CONFLICT" });
    expect((await call(viewer, "PATCH", path, { name: "Failed" })).status).toBe(200);
  });

  test("is possible for the own views only, of which others do not learn", async () => {
    const [viewer, admin] = [await member("VIEWER"), await member("ADMIN")];
    const path = `/views/${await save(viewer)}`;
    expectError(await call(admin, "PATCH", path, { name: "a" }), UNKNOWN);
    expectError(await call(admin, "DELETE", path), UNKNOWN);
    expect((await call(viewer, "DELETE", path)).status).toBe(204);
    expectError(await call(viewer, "DELETE", path), UNKNOWN);
  });
});

describe("the end of a membership", () => {
  test("deletes private views, and keeps shared ones and those of other projects", async () => {
    const editor = await member("EDITOR");
    const admin = await member("ADMIN");
    const other = await t.makeProject("other");
    await t.app.writer.write(() =>
      t.app.accounts.members.put(other.project.seq, editor.user.seq, "EDITOR"),
    );
    await save(editor, { name: "Private" });
    await save(editor, { name: "For all", isShared: true });
    const elsewhere = { "x-project": other.project.id };
    await editor.call("POST", "/views", { ...BOUNCED, name: "Elsewhere" }, elsewhere);
    const removed = await call(admin, "DELETE", `/team/${editor.user.id}`);
    expect(removed.status).toBe(204);
    expect(await names(admin)).toEqual(["For all"]);
    const listed = await editor.call("GET", "/views", undefined, elsewhere);
    expect(listAt(listed.body, "data.items")).toMatchObject([{ name: "Elsewhere" }]);
    await member("EDITOR");
    expect(await names(editor)).toEqual(["For all"]);
  });

  test("keeps the views of an owner, who may still open the project", async () => {
    const owner = await signIn(t);
    await t.app.writer.write(() =>
      t.app.accounts.members.put(t.project.seq, owner.user.seq, "ADMIN"),
    );
    await save(owner);
    expect((await call(owner, "DELETE", `/team/${owner.user.id}`)).status).toBe(204);
    expect(await names(owner)).toEqual(["Bounced"]);
  });

  test("a disabled project shows its views, and they cannot be changed", async () => {
    const owner = await signIn(t);
    const path = `/views/${await save(owner)}`;
    await owner.call("PATCH", `/projects/${t.project.id}`, { isEnabled: false });
    expect(await names(owner)).toEqual(["Bounced"]);
    const refused = await call(owner, "DELETE", path);
    expectError(refused, { status: 403, code: "PROJECT_DISABLED" });
  });
});
