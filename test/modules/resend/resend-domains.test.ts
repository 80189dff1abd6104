/** Domains and API keys in the interface of Resend (docs/resend.md). */

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

describe("domains", () => {
  test("are added with the records to publish", async () => {
    const name = `new-${t.project.seq}.test`;
    const created = await call("POST", "/domains", { name, region: "eu-west-1" });
    expect(created.status).toBe(201);
    const id = created.text("id");
    const domain = {
      id,
      name,
      status: "not_started",
      created_at: new Date(t.clock.now()).toISOString(),
      region: "self-hosted",
      capabilities: { sending: "enabled", receiving: "disabled" },
    };
    expect(created.body).toMatchObject(domain);
    const records = listAt(created.body, "records");
    expect(records.map((record) => valueAt(record, "record"))).toContain("DKIM");
    const dkim = records.find((record) => valueAt(record, "record") === "DKIM");
    expect(dkim).toEqual({
      record: "DKIM",
      type: "TXT",
      name: expect.stringContaining("._domainkey"),
      ttl: "Auto",
      status: "not_started",
      value: expect.stringContaining("p="),
    });
    expect((await call("GET", `/domains/${id}`)).body).toMatchObject({
      object: "domain",
      ...domain,
    });
    const list = await call("GET", "/domains?limit=1");
    expect(list.body).toEqual({ object: "list", has_more: true, data: [domain] });
    const older = await call("GET", `/domains?after=${id}`);
    expect(older.at("data.0")).toMatchObject({ name: "acme.test", status: "verified" });
  });

  test("are checked and removed", async () => {
    const id = (await call("POST", "/domains", { name: `b-${t.project.seq}.test` })).text("id");
    expect((await call("POST", `/domains/${id}/verify`)).body).toEqual({ object: "domain", id });
    expect((await call("DELETE", `/domains/${id}`)).body).toEqual({
      object: "domain",
      id,
      deleted: true,
    });
    expect((await call("GET", `/domains/${id}`)).status).toBe(404);
    expect((await call("POST", `/domains/${id}/verify`)).at("name")).toBe("not_found");
  });

  test.each<[object, string]>([
    [{ name: "no domain" }, "name: "],
    [{ domain: "acme.test" }, "name: is required"],
    [{ name: "c.test", custom_return_path: "send" }, "custom_return_path: is not supported"],
    [{ name: "c.test", open_tracking: true }, "open_tracking: is not supported"],
    [{ name: "c.test", tls: "enforced" }, "tls: is not supported"],
    [{ name: "c.test", capabilities: { receiving: "enabled" } }, "capabilities: cannot receive"],
  ])("%j is refused", async (body, message) => {
    const answer = await call("POST", "/domains", body);
    expect([answer.status, answer.text("message")]).toEqual([
      422,
      expect.stringContaining(message),
    ]);
    expect(listAt((await call("GET", "/domains")).body, "data")).toHaveLength(1);
  });
});

describe("API keys", () => {
  test("are listed without their texts", async () => {
    const list = await call("GET", "/api-keys");
    const keys = listAt(list.body, "data");
    expect(keys.length).toBeGreaterThan(0);
    expect(Object.keys(Object(keys[0])).toSorted()).toEqual([
      "created_at",
      "id",
      "last_used_at",
      "name",
    ]);
    expect(JSON.stringify(list.body)).not.toContain(t.secretKey);
  });

  test("are not made or revoked with a key", async () => {
    const before = listAt((await call("GET", "/api-keys")).body, "data");
    const made = await call("POST", "/api-keys", { name: "mine" });
    expect([made.status, made.at("name")]).toEqual([401, "restricted_api_key"]);
    const id = String(valueAt(before[0], "id"));
    expect((await call("DELETE", `/api-keys/${id}`)).status).toBe(401);
    expect(listAt((await call("GET", "/api-keys")).body, "data")).toHaveLength(before.length);
  });
});
