/** The audit log: entries, pages, and the removal of old entries. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { listAudit } from "../../../src/modules/accounts/audit.ts";
import { type TestApp, type TestResponse, testApp } from "../../support/app.ts";
import { plansOfReads } from "../../support/reads.ts";
import { signIn } from "../../support/session.ts";
import { objectTypeOf } from "../../../src/http/admitted-writes.ts";
import { createRouteRules } from "../../../src/http/route-rules.ts";
import {
  auditedField,
  keptFields,
  NAMED_OBJECTS,
} from "../../../src/modules/accounts/audit-subjects.ts";

const DAY_MS = 24 * 60 * 60_000;

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
});
afterEach(() => t.close());

const entry = (action: string, projectSeq: number | null = null) => ({
  actor: { kind: "USER", id: "u1", label: "ada@example.com" } as const,
  projectSeq,
  action,
  objectType: "contact",
  objectId: "c1",
  fields: ["name"],
  address: "192.0.2.1",
});

const actionsOf = async (projectSeq: number | null, rest: object = {}, query: object = {}) =>
  listAudit(t.app.app, { projectSeq, ...rest }, query, ({ action }) => action);

test("pages have the entries of a project, or of all, newest first", async () => {
  const { record } = t.app.accounts;
  await t.app.writer.write(() => {
    for (const n of [1, 2, 3]) record(entry(`contact.${n}`, t.project.seq));
    record(entry("user.disable"));
  });
  const first = await actionsOf(t.project.seq, {}, { limit: "2" });
  expect(first).toMatchObject({ items: ["contact.3", "contact.2"], total: 3, hasMore: true });
  const cursor = first.nextCursor ?? "";
  const second = await actionsOf(t.project.seq, {}, { limit: "2", cursor });
  expect(second).toMatchObject({ items: ["contact.1"], hasMore: false, nextCursor: null });
  expect((await actionsOf(null)).items).toHaveLength(4);
  expect((await actionsOf(null, { action: "user.disable" })).items).toEqual(["user.disable"]);
  expect((await actionsOf(null, { actorId: "u2" })).items).toEqual([]);
  expect((await actionsOf(t.project.seq, { objectId: "c1" })).items).toHaveLength(3);
});

test("a page reads the entries of its project by their index, those of all by their keys", async () => {
  const plans = await plansOfReads(t.app.app, async () => {
    await actionsOf(t.project.seq, { action: "contact.1" });
    await actionsOf(null);
  });
  expect(plans).toEqual([
    "SEARCH audit USING INDEX audit_page (project_seq=? AND seq<?)",
    "SEARCH audit USING INDEX audit_page (project_seq=?)",
    "SEARCH audit USING INTEGER PRIMARY KEY (rowid<?)",
    expect.stringMatching(/^SCAN audit USING COVERING INDEX/),
  ]);
});

test("entries are removed after a year, and not earlier", async () => {
  const purge = async () => t.app.recurring.find(({ name }) => name === "accounts purge")?.run();
  await t.app.writer.write(() => {
    for (let n = 0; n < 1_001; n++) t.app.accounts.record(entry("contact.update"));
  });
  t.clock.advance(365 * DAY_MS);
  await t.app.writer.write(() => t.app.accounts.record(entry("contact.delete")));
  await purge();
  expect(t.countRows("audit")).toBe(1_002);
  t.clock.advance(1);
  await purge();
  expect((await actionsOf(null)).items).toEqual(["contact.delete"]);
});

describe("an entry of a change over HTTP", () => {
  /** The newest entry, as the dashboard reads it. */
  async function newest(): Promise<TestResponse> {
    const admin = await signIn(t);
    const headers = { "x-project": t.project.id };
    return admin.call("GET", "/audit?limit=1", undefined, headers);
  }
  const entry = async (): Promise<Record<string, unknown>> =>
    Object((await newest()).at("data.items.0"));

  const template = { name: "News", type: "MARKETING", subject: "s", body: "<p>b</p>" };

  test("has the name of the object, and old and new values of the fields that changed", async () => {
    const id = await t.create("/templates", template, "data.id");
    expect(await entry()).toMatchObject({
      action: "createTemplate",
      objectName: "News",
      changes: [],
    });
    await t.call("PATCH", `/templates/${id}`, {
      name: "Spring",
      subject: "s",
      replyTo: "a@x.test",
    });
    expect(await entry()).toMatchObject({
      objectName: "Spring",
      fields: ["name", "replyTo"],
      changes: [
        { field: "name", before: "News", after: "Spring" },
        { field: "replyTo", before: null, after: "a@x.test" },
      ],
    });
    await t.call("DELETE", `/templates/${id}`);
    expect(await entry()).toMatchObject({
      action: "deleteTemplate",
      objectName: "Spring",
      fields: [],
      changes: [],
    });
  });

  test("keeps of a long text the part that changed", async () => {
    const body = (word: string) => `<p>${"a ".repeat(500)}${word}${" b".repeat(500)}</p>`;
    const id = await t.create("/templates", { ...template, body: body("old") }, "data.id");
    await t.call("PATCH", `/templates/${id}`, { body: body("new") });
    const { changes } = await entry();
    expect(changes).toEqual([
      {
        field: "body",
        before: expect.stringMatching(/^…(?:a ){15}old(?: b)+ …$/),
        after: expect.stringMatching(/^…(?:a ){15}new(?: b)+ …$/),
      },
    ]);
  });

  test("has changes by an action, of a condition and of a project", async () => {
    const condition = (value: string) => ({
      logic: "AND",
      groups: [{ filters: [{ field: "data.plan", operator: "equals", value }] }],
    });
    const segment = { name: "Pro", condition: condition("pro") };
    const id = await t.create("/segments", segment, "data.id");
    await t.call("PATCH", `/segments/${id}`, { condition: condition("max") });
    const [change] = [(await entry())["changes"]].flat();
    expect(change).toMatchObject({
      field: "condition",
      before: expect.stringContaining('"pro"'),
      after: expect.stringContaining('"max"'),
    });
    const admin = await signIn(t);
    const headers = { "x-project": t.project.id };
    const patch = { tracking: "DISABLED", name: t.project.name };
    await admin.call("PATCH", `/projects/${t.project.id}`, patch, headers);
    expect(await entry()).toMatchObject({
      objectName: t.project.name,
      fields: ["tracking"],
      changes: [{ field: "tracking", before: "MARKETING_ONLY", after: "DISABLED" }],
    });
  });

  test("names members and invitations by their address, also after they are gone", async () => {
    const admin = await signIn(t);
    const headers = { "x-project": t.project.id };
    const invitation = { email: "eva@x.test", role: "VIEWER" };
    const invited = await admin.call("POST", "/team/invitations", invitation, headers);
    expect(await entry()).toMatchObject({ action: "inviteMember", objectName: "eva@x.test" });
    const id = invited.text("data.id");
    await admin.call("DELETE", `/team/invitations/${id}`, undefined, headers);
    expect(await entry()).toMatchObject({ objectId: id, objectName: "eva@x.test" });
    const { user } = await signIn(t, { email: "bo@x.test", isOwner: false });
    const { members } = t.app.accounts;
    await t.app.writer.write(() => members.put(t.project.seq, user.seq, "VIEWER"));
    await admin.call("PATCH", `/team/${user.id}`, { role: "EDITOR" }, headers);
    expect(await entry()).toMatchObject({
      objectName: "bo@x.test",
      changes: [{ field: "role", before: "VIEWER", after: "EDITOR" }],
    });
    await admin.call("DELETE", `/team/${user.id}`, undefined, headers);
    expect(await entry()).toMatchObject({ action: "removeMember", objectName: "bo@x.test" });
  });

  test("keeps no secret: neither keys, nor tokens in links, nor the settings of steps", async () => {
    const url = "https://hooks.example/T0/b7Ld0fGq82KxPzWvYtR4mN6s?key=abc123";
    const id = await t.create("/webhooks", { url, events: ["email.sent"] }, "data.id");
    await t.call("PATCH", `/webhooks/${id}`, { url: url.replace("abc123", "def456") });
    expect(await entry()).toMatchObject({ fields: ["url"], changes: [] });
    await t.call("PATCH", `/webhooks/${id}`, { url: "https://shop.example/plain" });
    expect(await entry()).toMatchObject({
      objectName: "https://shop.example/plain",
      changes: [
        { field: "url", before: "https://hooks.example/…", after: "https://shop.example/plain" },
      ],
    });
    const steps = (token: string) => [
      {
        id: "a",
        type: "WEBHOOK",
        config: { url: "https://a.example/", method: "POST", headers: { Authorization: token } },
      },
    ];
    const trigger = { type: "EVENT", eventName: "seen" };
    const flow = { name: "F", trigger, steps: steps("hunter2"), transitions: [] };
    const workflow = await t.create("/workflows", flow, "data.id");
    await t.call("PATCH", `/workflows/${workflow}`, { steps: steps("hunter3"), transitions: [] });
    const admin = await signIn(t);
    const headers = { "x-project": t.project.id };
    const made = await admin.call("POST", "/keys", { name: "shop" }, headers);
    expect(await entry()).toMatchObject({ objectName: `shop (…${made.text("data.last4")})` });
    const stored = JSON.stringify(t.db.sqlite.query("SELECT * FROM audit").all());
    for (const secret of ["hunter", "abc123", "def456", "b7Ld0fGq82", made.text("data.text")]) {
      expect([secret, stored.includes(secret)]).toEqual([secret, false]);
    }
  });

  test("shows the address of a contact while there is one, and stores none", async () => {
    const contact = { email: "ada@x.test", subscribed: false, data: { city: "Paris" } };
    const id = await t.create("/contacts", contact, "id");
    await t.call("PATCH", `/contacts/${id}`, { subscribed: true, data: { city: "Rome" } });
    expect(await entry()).toMatchObject({
      objectName: "ada@x.test",
      fields: ["subscribed", "data"],
      changes: [{ field: "subscribed", before: "false", after: "true" }],
    });
    await t.call("DELETE", `/contacts/${id}`);
    expect(await entry()).toMatchObject({ action: "deleteContact", objectName: null });
    const stored = JSON.stringify(t.db.sqlite.query("SELECT * FROM audit").all());
    expect(stored).not.toMatch(/ada@x\.test|Paris|Rome/);
  });

  test("of an earlier version has the present name of its object, and no values", async () => {
    const id = await t.create("/templates", template, "data.id");
    t.db.sqlite.run("UPDATE audit SET object_name = NULL");
    await t.call("PATCH", `/templates/${id}`, { name: "Later" });
    t.db.sqlite.run("DELETE FROM audit WHERE action = 'updateTemplate'");
    expect(await entry()).toMatchObject({
      action: "createTemplate",
      objectName: "Later",
      changes: [],
    });
  });
});

/** Objects without a name in the log, each with its reason. */
const NAMELESS: Readonly<Record<string, string>> = {
  suppression: "Its id is the address.",
  "received-mail": "Its subject is personal data.",
  unsubscribe: "A recipient changes it, who is no user.",
  subscribe: "A recipient changes it, who is no user.",
  manage: "A recipient changes it, who is no user.",
  "preference-request": "A recipient confirms it, who is no user.",
  f: "A person sends a form, who is no user.",
  confirm: "A recipient changes it, who is no user.",
};

test("an audited change names its object, unless its type is listed", async () => {
  const rules = createRouteRules();
  rules.registerRoutes(t.app.http.routes);
  const audited = t.app.http.routes.filter(
    ({ method, path }) => rules.ruleOf(method, path).isAudited && path.includes(":"),
  );
  const types = new Set(
    audited.map(({ method, path }) => rules.ruleOf(method, path).objectType ?? objectTypeOf(path)),
  );
  expect([...types].filter((type) => !NAMED_OBJECTS.includes(type))).toEqual(Object.keys(NAMELESS));
});

/** Fields whose values the log never keeps: it says only that they changed. */
const UNKEPT: Readonly<Record<string, readonly string[]>> = {
  // The data and the address of a contact are personal.
  contact: ["data", "email"],
  // The design is the same content as the body, in the form of the visual editor.
  template: ["design"],
  // The type is another name of the category. The variants of a test are whole contents.
  campaign: ["abTest", "design", "type"],
  // The settings of steps may hold secrets.
  workflow: ["steps", "transitions", "position", "config", "type", "from", "to", "branch"],
  // Members are addresses, which are personal.
  segment: ["emails"],
  // Secrets.
  "report-mailbox": ["password"],
  "report-source": ["signingKey"],
  relay: ["password"],
  // The password and the name of the relay are in its URL.
  setting: ["relay"],
};

test("a change keeps the old and new values of every field, unless they are listed", () => {
  const rules = createRouteRules();
  rules.registerRoutes(t.app.http.routes);
  const found: Record<string, Set<string>> = {};
  for (const { method, path, hooks } of t.app.http.routes) {
    // Routes that imitate another service have its names; they store the same objects.
    const isOwn = !/^\/(?:plunk|resend|v3|email)\b/.test(path);
    const rule = rules.ruleOf(method, path);
    if (!isOwn || !rule.isAudited || method === "GET" || !path.includes(":")) continue;
    if (method === "POST") continue;
    const type = rule.objectType ?? objectTypeOf(path);
    const body: unknown = Reflect.get(hooks, "body");
    const properties: unknown = body === undefined ? {} : Reflect.get(Object(body), "properties");
    const kept = keptFields(t.db, type);
    for (const field of Object.keys(Object(properties))) {
      if (!kept.includes(auditedField(field))) (found[type] ??= new Set()).add(field);
    }
  }
  const sorted = (names: Iterable<string>) => [...names].toSorted();
  expect(
    Object.fromEntries(Object.entries(found).map(([type, names]) => [type, sorted(names)])),
  ).toEqual(
    Object.fromEntries(Object.entries(UNKEPT).map(([type, names]) => [type, sorted(names)])),
  );
});

test("an entry keeps the names of its user and project, also after both have others", async () => {
  const admin = await signIn(t);
  const headers = { "x-project": t.project.id };
  await admin.call("POST", "/views", { page: "events", name: "A", query: "name=b" }, headers);
  t.db.sqlite.run("UPDATE users SET name = 'Grace'");
  t.db.sqlite.run("UPDATE projects SET name = 'Later'");
  const { at } = await admin.call("GET", "/audit?limit=1", undefined, headers);
  expect(at("data.items.0")).toMatchObject({
    actor: { kind: "USER", label: "owner@example.com", name: "Test" },
    project: { id: t.project.id, name: "acme" },
    objectName: "A",
  });
});

test("entries are filtered by kind of actor, type of object and time", async () => {
  const { record } = t.app.accounts;
  const { seq } = t.project;
  await t.app.writer.write(() => record(entry("contact.old", seq)));
  t.clock.advance(DAY_MS);
  await t.app.writer.write(() => {
    record({
      ...entry("key.create", seq),
      actor: { kind: "CLI", id: null, label: "x" },
      objectType: "key",
    });
    record(entry("contact.new", seq));
  });
  expect((await actionsOf(seq, { actorKind: "CLI" })).items).toEqual(["key.create"]);
  expect((await actionsOf(seq, { objectType: "contact" })).items).toEqual([
    "contact.new",
    "contact.old",
  ]);
  expect((await actionsOf(seq, { from: t.clock.now() })).items).toEqual([
    "contact.new",
    "key.create",
  ]);
  expect((await actionsOf(seq, { to: t.clock.now() - 1 })).items).toEqual(["contact.old"]);
  const admin = await signIn(t);
  const headers = { "x-project": t.project.id };
  const get = (query: string) => admin.call("GET", `/audit?${query}`, undefined, headers);
  expect((await get("by=CLI&type=key&from=2026-03-01T00:00:00Z")).at("data.total")).toBe(1);
  expect((await get("by=ALIEN")).at("error.errors")).toMatchObject([{ field: "by" }]);
  expect((await get("from=yesterday")).at("error.errors")).toMatchObject([{ field: "from" }]);
});

describe("an export", () => {
  const headers = () => ({ "x-project": t.project.id });

  test("has all entries of the filter, as CSV that runs no formula and as NDJSON", async () => {
    const { record } = t.app.accounts;
    await t.app.writer.write(() => {
      for (let n = 0; n < 210; n++) record(entry(`contact.${n}`, t.project.seq));
      record({
        ...entry("contact.x", t.project.seq),
        actor: { kind: "KEY", id: "k", label: '=1+1,"' },
      });
      record(entry("user.disable"));
    });
    const admin = await signIn(t);
    const file = async (query: string) => {
      const sent = { ...headers(), cookie: admin.cookie() };
      const request = new Request(`http://localhost/audit/export${query}`, { headers: sent });
      return (await t.app.handle(request)).text();
    };
    const lines = (await file("")).trimEnd().split("\r\n");
    expect(lines).toHaveLength(212);
    expect(lines[0]).toStartWith("at,actorKind,actor,actorName,project,action");
    expect(lines[1]).toContain(`,KEY,"'=1+1,""",,acme,contact.x,contact,`);
    const items = (await file("?format=ndjson&by=USER")).trimEnd().split("\n");
    expect(items).toHaveLength(210);
    expect(JSON.parse(items[7] ?? "")).toMatchObject({
      action: "contact.202",
      project: { name: "acme" },
      fields: ["name"],
    });
    const refused = await admin.call("GET", "/audit/export?format=xml", undefined, headers());
    expect(refused.status).toBe(422);
  });

  test("of the installation has the entries of all projects, for owners only", async () => {
    const { record } = t.app.accounts;
    await t.app.writer.write(() => {
      record(entry("contact.update", t.project.seq));
      record(entry("user.disable"));
    });
    const owner = await signIn(t);
    const list = await owner.get("/app/api/audit?action=user.disable");
    expect(list.at("data.items")).toMatchObject([{ action: "user.disable", project: null }]);
    const text = String((await owner.get("/app/api/audit/export")).body);
    expect(text.trimEnd().split("\r\n")).toHaveLength(4);
    const eve = await signIn(t, { email: "eve@example.com", isOwner: false });
    for (const path of ["/app/api/audit", "/app/api/audit/export"]) {
      expect((await eve.get(path)).status).toBe(403);
    }
  });
});
