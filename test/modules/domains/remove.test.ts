import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type TestApp, testApp } from "../../support/app.ts";
import { expectError } from "../../support/refusal.ts";

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

const TEMPLATE = { name: "Welcome", subject: "s", body: "b", type: "TRANSACTIONAL" };

describe("DELETE /domains/{id}", () => {
  test("removes the domain and its keys", async () => {
    const id = await t.create("/domains", { domain: "gone.example" }, "data.id");
    const keys = t.countRows("dkim_keys");
    const answer = await t.call("DELETE", `/domains/${id}`);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect(t.countRows("dkim_keys")).toBe(keys - 2);
    const again = await t.call("DELETE", `/domains/${id}`);
    expectError(again, { status: 404, code: "DOMAIN_NOT_FOUND" });
  });

  test("allows another project to add the removed domain, with other keys", async () => {
    const other = await t.makeProject("other");
    const id = await t.create("/domains", { domain: "moves.example" }, "data.id");
    await t.call("DELETE", `/domains/${id}`);
    const body = { domain: "moves.example" };
    const answer = await t.call("POST", "/domains", body, { key: other.secretKey });
    expect(answer.status).toBe(201);
    expect(answer.text("data.id")).not.toBe(id);
  });

  test("refuses a domain that a template sends from, and names the template", async () => {
    const id = await t.create("/domains", { domain: "used.example" }, "data.id");
    const template = await t.create(
      "/templates",
      { ...TEMPLATE, from: "Hello@Used.Example" },
      "data.id",
    );
    const refused = await t.call("DELETE", `/domains/${id}`);
    expectError(refused, { status: 409, code: "CONFLICT" });
    expect(refused.text("error.message")).toContain("“Welcome”");
    await t.call("DELETE", `/templates/${template}`);
    expect((await t.call("DELETE", `/domains/${id}`)).status).toBe(204);
  });

  test("ignores templates of other domains and other projects", async () => {
    const other = await t.makeProject("third");
    const id = await t.create("/domains", { domain: "mind.example" }, "data.id");
    for (const [from, key] of [
      ["a@sub.mind.example", t.secretKey],
      ["a@notmind.example", t.secretKey],
      ["a@mind.example", other.secretKey],
    ] as const) {
      await t.create("/templates", { ...TEMPLATE, from }, "data.id", { key });
    }
    expect((await t.call("DELETE", `/domains/${id}`)).status).toBe(204);
  });
});
