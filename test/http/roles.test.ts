import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { undocumented } from "../../src/http/documented.ts";
import { createRouteRules } from "../../src/http/route-rules.ts";
import { includesRole, mayReadBody, ROLES } from "../../src/http/roles.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { stringAt } from "../support/json.ts";

describe("the rules of routes", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await testApp();
  });
  afterAll(() => t.close());

  test("every route of the application declares a role", () => {
    const rules = createRouteRules();
    const { routes } = t.app.http;
    rules.registerRoutes(routes);
    expect(routes.length).toBeGreaterThan(120);
    for (const { method, path } of routes) {
      expect(["ANYONE", "USER", ...ROLES]).toContain(rules.ruleOf(method, path).role);
    }
  });

  test("refuses a route without a role at the start, and names it", () => {
    const { registerRoutes } = createRouteRules();
    const open = { method: "GET", path: "/open", hooks: { detail: undocumented("ANYONE") } };
    for (const hooks of [
      undefined,
      {},
      { detail: { hide: true } },
      { detail: { "x-role": "X" } },
    ]) {
      const route = { method: "POST", path: "/closed", hooks };
      expect(() => registerRoutes([open, route])).toThrow("POST /closed declares no role");
    }
  });

  test("a route that answers GET has the same rule for HEAD", () => {
    const rules = createRouteRules();
    rules.registerRoutes(t.app.http.routes);
    expect(rules.ruleOf("HEAD", "/contacts")).toEqual(rules.ruleOf("GET", "/contacts"));
    expect(() => rules.ruleOf("PUT", "/contacts")).toThrow("PUT /contacts is not registered");
  });

  test("the document shows the role of each operation", async () => {
    const { at } = await t.call("GET", "/openapi.json", undefined, { key: null });
    expect(stringAt(at("paths"), "/contacts.get.x-role")).toBe("VIEWER");
    expect(stringAt(at("paths"), "/webhooks.post.x-role")).toBe("ADMIN");
    expect(stringAt(at("paths"), "/livez.get.x-role")).toBe("ANYONE");
  });
});

test("a role may do what lower roles may", () => {
  const allowed = ROLES.map((role) => ROLES.filter((least) => includesRole(role, least)));
  expect(allowed).toEqual([
    ["VIEWER"],
    ["VIEWER", "EDITOR"],
    ["VIEWER", "EDITOR", "ADMIN"],
    ["VIEWER", "EDITOR", "ADMIN", "OWNER"],
  ]);
  expect(includesRole(null, "VIEWER")).toBe(false);
  expect(includesRole(null, "ANYONE")).toBe(true);
});

test("viewers may read the bodies of marketing mail, and editors those of all mail", () => {
  const allowed = (isMarketing: boolean) => ROLES.filter((role) => mayReadBody(role, isMarketing));
  expect(allowed(true)).toEqual([...ROLES]);
  expect(allowed(false)).toEqual(["EDITOR", "ADMIN", "OWNER"]);
});
