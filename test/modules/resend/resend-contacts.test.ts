/** Contacts and segments in the interface of Resend (docs/resend.md). */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const call = (method: string, path: string, body?: unknown) =>
  t.call(method, `/resend${path}`, body);
const segment = async (name = "News") => (await call("POST", "/segments", { name })).text("id");
const addresses = (body: unknown) => listAt(body, "data").map((item) => valueAt(item, "email"));

const ada = {
  email: "Ada <Ada@Example.com>",
  first_name: "Ada",
  last_name: "Lovelace",
  unsubscribed: false,
  properties: { plan: "pro", seats: 3 },
};

describe("contacts", () => {
  test("are created, and read by id and by address", async () => {
    const created = await call("POST", "/contacts", ada);
    const id = created.text("id");
    expect([created.status, created.body]).toEqual([201, { object: "contact", id }]);
    const shown = {
      object: "contact",
      id,
      email: "ada@example.com",
      first_name: "Ada",
      last_name: "Lovelace",
      created_at: new Date(t.clock.now()).toISOString(),
      unsubscribed: false,
      properties: {
        plan: { type: "string", value: "pro" },
        seats: { type: "number", value: 3 },
      },
    };
    expect((await call("GET", `/contacts/${id}`)).body).toEqual(shown);
    expect((await call("GET", "/contacts/ada@example.com")).body).toEqual(shown);
    expect((await call("GET", `/contacts/${encodeURIComponent("ADA@example.com")}`)).body).toEqual(
      shown,
    );
    const ours = await t.call("GET", `/contacts/${id}`);
    expect(ours.at("data")).toEqual({
      firstName: "Ada",
      lastName: "Lovelace",
      plan: "pro",
      seats: 3,
    });
  });

  test("are changed, and keep what a request does not name", async () => {
    const id = (await call("POST", "/contacts", ada)).text("id");
    const change = { unsubscribed: true, properties: { plan: null, city: "London" } };
    const changed = await call("PATCH", "/contacts/ada@example.com", change);
    expect(changed.body).toEqual({ object: "contact", id });
    const { at } = await call("GET", `/contacts/${id}`);
    expect(at("unsubscribed")).toBe(true);
    expect(at("first_name")).toBe("Ada");
    expect(Object.keys(Object(at("properties"))).toSorted()).toEqual(["city", "seats"]);
    await call("POST", "/contacts", { email: "ada@example.com" });
    expect((await call("GET", `/contacts/${id}`)).at("unsubscribed")).toBe(true);
  });

  test("are refused with properties that would be lost", async () => {
    const refusals: [fields: object, field: string][] = [
      [{ properties: { email: "b@example.com" } }, "properties.email"],
      [{ properties: { id: "7" } }, "properties.id"],
      [{ first_name: "Ada", properties: { firstName: "Eve" } }, "properties.firstName"],
      [{ last_name: null, properties: { lastName: "Eve" } }, "properties.lastName"],
    ];
    for (const [fields, field] of refusals) {
      const created = await call("POST", "/contacts", { email: "ada@example.com", ...fields });
      expect([created.status, created.text("message").split(":")[0]]).toEqual([422, field]);
    }
    expect((await call("GET", "/contacts/ada@example.com")).status).toBe(404);
  });

  test("are deleted", async () => {
    const id = (await call("POST", "/contacts", ada)).text("id");
    const deleted = await call("DELETE", "/contacts/ada@example.com");
    expect(deleted.body).toEqual({ object: "contact", contact: id, deleted: true });
    const gone = await call("GET", `/contacts/${id}`);
    expect([gone.status, gone.at("name")]).toEqual([404, "not_found"]);
  });

  test.each<[string, string, unknown, number]>([
    ["POST", "/contacts", { email: "ada" }, 422],
    ["POST", "/contacts", { ...ada, nickname: "a" }, 422],
    ["POST", "/contacts", { ...ada, topics: [{ id: "t", subscription: "opt_in" }] }, 422],
    ["POST", "/contacts", { ...ada, segments: [{ id: "none" }] }, 404],
    ["POST", "/audiences/none/contacts", ada, 404],
    ["PATCH", "/contacts/none@example.com", { unsubscribed: true }, 404],
    ["GET", "/contacts/@", undefined, 404],
    ["GET", "/contacts?after=none", undefined, 422],
  ])("%s %s with %j is refused, and stores nothing", async (method, path, body, status) => {
    const answer = await call(method, path, body);
    expect([answer.status, answer.at("statusCode")]).toEqual([status, status]);
    expect(listAt((await call("GET", "/contacts")).body, "data")).toEqual([]);
  });

  test("an address cannot be changed", async () => {
    const id = (await call("POST", "/contacts", ada)).text("id");
    const { status, text } = await call("PATCH", `/contacts/${id}`, { email: "b@example.com" });
    expect([status, text("message")]).toEqual([422, "email: cannot be changed"]);
    expect((await call("PATCH", `/contacts/${id}`, { id, email: "ada@example.com" })).status).toBe(
      200,
    );
  });

  test("their addresses are not in the audit log, but their ids are", async () => {
    const id = (await call("POST", "/contacts", ada)).text("id");
    await call("PATCH", "/contacts/ada@example.com", { unsubscribed: true });
    const list = await segment();
    await call("POST", `/audiences/${list}/contacts`, { email: "b@example.com" });
    const rows = t.db.sqlite
      .query(
        "SELECT action, object_type AS type, object_id AS id FROM audit WHERE project_seq = ? ORDER BY seq",
      )
      .all(t.project.seq);
    const other = (await call("GET", "/contacts/b@example.com")).text("id");
    expect(rows).toEqual([
      { action: "upsertContact", type: "contact", id },
      { action: "updateContact", type: "contact", id },
      { action: "createSegment", type: "segment", id: list },
      { action: "upsertContact", type: "contact", id: other },
    ]);
  });
});

describe("segments", () => {
  test.each([
    ["/segments", "segment"],
    ["/audiences", "audience"],
  ])("are made, renamed, listed and deleted at %s", async (path, object) => {
    const created = await call("POST", path, { name: "News" });
    const id = created.text("id");
    expect([created.status, created.body]).toEqual([201, { object, id, name: "News" }]);
    expect((await call("PATCH", `${path}/${id}`, { name: "Offers" })).body).toEqual({ object, id });
    const created_at = new Date(t.clock.now()).toISOString();
    const shown = { id, name: "Offers", created_at };
    expect((await call("GET", `${path}/${id}`)).body).toEqual({ object, ...shown });
    expect((await call("GET", path)).body).toEqual({
      object: "list",
      has_more: false,
      data: [shown],
    });
    expect((await call("DELETE", `${path}/${id}`)).body).toEqual({ object, id, deleted: true });
    expect((await call("GET", `${path}/${id}`)).status).toBe(404);
    expect(listAt((await call("GET", path)).body, "data")).toEqual([]);
  });

  test("have the contacts that were added to them", async () => {
    const id = await segment();
    await call("POST", "/contacts", { ...ada, segments: [{ id }] });
    await call("POST", `/audiences/${id}/contacts`, { email: "b@example.com", audience_id: id });
    await call("POST", "/contacts", { email: "c@example.com" });
    await call("POST", `/contacts/c@example.com/segments/${id}`);
    const members = await call("GET", `/segments/${id}/contacts`);
    expect(addresses(members.body)).toEqual(["c@example.com", "b@example.com", "ada@example.com"]);
    const first = await call("GET", `/audiences/${id}/contacts?limit=1`);
    expect([addresses(first.body), first.at("has_more")]).toEqual([["c@example.com"], true]);
    const next = await call("GET", `/segments/${id}/contacts?after=${first.text("data.0.id")}`);
    expect(addresses(next.body)).toEqual(["b@example.com", "ada@example.com"]);
    const of = await call("GET", "/contacts/c@example.com/segments");
    expect(of.at("data.0.id")).toBe(id);
    expect((await call("GET", `/audiences/${id}/contacts/c@example.com`)).at("email")).toBe(
      "c@example.com",
    );
  });

  test("lose a contact that stays in the project", async () => {
    const id = await segment();
    await call("POST", "/contacts", { ...ada, segments: [{ id }] });
    await call("POST", "/contacts", { email: "b@example.com", segments: [{ id }] });
    expect((await call("DELETE", `/contacts/ada@example.com/segments/${id}`)).body).toEqual({
      id,
      deleted: true,
    });
    await call("DELETE", `/audiences/${id}/contacts/b@example.com`);
    expect(addresses((await call("GET", `/segments/${id}/contacts`)).body)).toEqual([]);
    expect(addresses((await call("GET", "/contacts")).body)).toHaveLength(2);
  });

  test("with a condition take no contacts by hand", async () => {
    const filters = [{ field: "data.plan", operator: "equals", value: "pro" }];
    const condition = { logic: "AND", groups: [{ filters }] };
    const id = await t.create("/segments", { name: "Pro", condition }, "data.id");
    await call("POST", "/contacts", ada);
    const added = await call("POST", `/contacts/ada@example.com/segments/${id}`);
    expect([added.status, added.at("statusCode")]).toEqual([409, 409]);
    expect(addresses((await call("GET", `/segments/${id}/contacts`)).body)).toEqual([
      "ada@example.com",
    ]);
  });
});
