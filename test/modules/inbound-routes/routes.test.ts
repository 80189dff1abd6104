/** POST, GET and DELETE /inbound-routes: which addresses a project may claim. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { testApp } from "../../support/app.ts";
import { expectError, type ExpectedError } from "../../support/refusal.ts";
import { type InboundApp, inboundApp, MX } from "./inbound-app.ts";

let t: InboundApp;
beforeAll(async () => {
  t = await inboundApp();
});
afterAll(() => t.close());

const post = (address: string, action: unknown = { webhook: true }, key?: string) =>
  t.call("POST", "/inbound-routes", { address, action }, key === undefined ? {} : { key });

describe("a route is added", () => {
  test("for an address, in its canonical form", async () => {
    const added = await post("Support@IN.acme.test");
    expect(added.status).toBe(201);
    expect(added.at("data")).toEqual({
      id: added.text("data.id"),
      address: "support@in.acme.test",
      action: { webhook: true },
      createdAt: new Date(t.clock.now()).toISOString(),
    });
  });

  test("for all addresses of a domain, with an address to forward to", async () => {
    const added = await post("*@in.acme.test", { forward: "Team@example.net" });
    expect(added.status).toBe(201);
    expect(added.at("data.address")).toBe("*@in.acme.test");
    expect(added.at("data.action")).toEqual({ forward: "team@example.net" });
  });

  test("and listed, newest first, and removed", async () => {
    const listed = await t.call("GET", "/inbound-routes");
    expect(listed.at("data.total")).toBe(2);
    const id = listed.text("data.items.0.id");
    expect(listed.at("data.items.0.address")).toBe("*@in.acme.test");
    expect((await t.call("DELETE", `/inbound-routes/${id}`)).status).toBe(204);
    expect((await t.call("GET", "/inbound-routes")).at("data.total")).toBe(1);
    const again = await t.call("DELETE", `/inbound-routes/${id}`);
    expectError(again, { status: 404, code: "INBOUND_ROUTE_NOT_FOUND" });
  });

  test("once, if the request is repeated with its key", async () => {
    const headers = { "idempotency-key": "one" };
    const body = { address: "once@in.acme.test", action: { webhook: true } };
    const first = await t.call("POST", "/inbound-routes", body, { headers });
    const second = await t.call("POST", "/inbound-routes", body, { headers });
    expect(second.body).toEqual(first.body);
    expect(t.countRows("inbound_routes")).toBe(2);
  });
});

describe("a route is refused", () => {
  const conflict = { status: 409, code: "CONFLICT" };
  const invalid = (field: string, code: string) => ({
    status: 422,
    code: "VALIDATION_ERROR",
    errors: [[field, code]] as const,
  });
  const cases: [what: string, address: string, action: unknown, error: ExpectedError][] = [
    ["that exists", "support@in.acme.test", { webhook: true }, conflict],
    ["whose MX record leads elsewhere", "a@acme.test", { webhook: true }, conflict],
    ["without an MX record", "a@none.acme.test", { webhook: true }, conflict],
    ["of the bounce host", "a@bounce.acme.test", { webhook: true }, conflict],
    ["of the name of the server", "a@sender.test", { webhook: true }, conflict],
    [
      "of a domain that is not verified",
      "a@other.test",
      { webhook: true },
      { status: 403, code: "DOMAIN_NOT_VERIFIED" },
    ],
    ["without an action", "a@in.acme.test", {}, invalid("action", "invalid_value")],
    [
      "with two actions",
      "a@in.acme.test",
      { webhook: true, forward: "b@example.net" },
      invalid("action", "invalid_value"),
    ],
    [
      "that forwards to itself",
      "a@in.acme.test",
      { forward: "a@in.acme.test" },
      invalid("action.forward", "invalid_value"),
    ],
    [
      "that forwards to an address with a route",
      "a@in.acme.test",
      { forward: "support@in.acme.test" },
      invalid("action.forward", "invalid_value"),
    ],
    ["without an address", "acme", { webhook: true }, invalid("address", "invalid_format")],
  ];
  test.each(cases)("%s", async (_, address, action, error) => {
    expectError(await post(address, action), error);
  });

  test("with the record to publish in its suggestion", async () => {
    const refused = await post("a@acme.test");
    expect(refused.text("error.message")).toBe(
      "The mail of acme.test does not come to this server first (found: 10 elsewhere.test).",
    );
    expect(refused.text("error.suggestion")).toBe(
      "Publish this record, then add the route again: acme.test. MX 10 sender.test.",
    );
  });

  test("for a domain that another project has", async () => {
    const other = await t.makeProject("other");
    const refused = await post("a@in.acme.test", { webhook: true }, other.secretKey);
    expectError(refused, { status: 403, code: "DOMAIN_NOT_VERIFIED" });
    t.server.records["sub.other.test"] = MX;
    const own = await post("a@sub.other.test", { webhook: true }, other.secretKey);
    expect(own.status).toBe(201);
    expect((await t.call("GET", "/inbound-routes")).at("data.total")).toBe(2);
  });

  test("while the name servers do not answer", async () => {
    t.server.failures["slow.acme.test MX"] = "servfail";
    expectError(await post("a@slow.acme.test"), conflict);
  });

  test("by a server that does not listen", async () => {
    const deaf = await testApp();
    const body = { address: "a@in.acme.test", action: { webhook: true } };
    const refused = await deaf.call("POST", "/inbound-routes", body);
    expectError(refused, conflict);
    expect(refused.text("error.suggestion")).toContain("--inbound");
    await deaf.close();
  });
});
