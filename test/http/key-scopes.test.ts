/** Calls every route of the application with a key of each scope. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { KEY_SCOPES } from "../../src/db/schema/projects.ts";
import { createRouteRules } from "../../src/http/route-rules.ts";
import type { KeyScope } from "../../src/http/scopes.ts";
import { createKey } from "../../src/modules/keys.ts";
import { type TestApp, type TestResponse, testApp } from "../support/app.ts";
import { stringAt, valueAt } from "../support/json.ts";
import { openApiDocument } from "../support/openapi.ts";
import { expectError } from "../support/refusal.ts";

/** The routes that a key with less than EVERYTHING may call. All others need EVERYTHING. */
const OPEN_ROUTES = `
  POST   /v1/send                                                 SEND
  POST   /v1/send/batch                                           SEND
  POST   /v1/track                                                CONTACTS
  POST   /v1/verify                                               CONTACTS
  GET    /contacts                                                READ CONTACTS
  POST   /contacts                                                CONTACTS
  GET    /contacts/fields                                         READ CONTACTS
  GET    /contacts/export                                         CONTACTS
  GET    /contacts/import                                         READ CONTACTS
  POST   /contacts/import                                         CONTACTS
  GET    /contacts/import/:id                                     READ CONTACTS
  POST   /contacts/import/:id/run                                 CONTACTS
  GET    /contacts/import/:id/faults                              CONTACTS
  POST   /contacts/bulk                                           CONTACTS
  GET    /contacts/bulk/:id                                       READ CONTACTS
  GET    /contacts/:id                                            READ CONTACTS
  PATCH  /contacts/:id                                            CONTACTS
  DELETE /contacts/:id                                            CONTACTS
  GET    /contacts/:id/activity                                   READ CONTACTS
  GET    /contacts/:id/consents                                   READ CONTACTS
  GET    /contacts/:id/consents/proof                             READ CONTACTS
  GET    /contacts/:id/executions                                 READ CONTACTS
  GET    /contacts/:id/segments                                   READ CONTACTS
  GET    /contacts/:id/topics                                     READ CONTACTS
  PUT    /contacts/:id/topics                                     CONTACTS
  GET    /contacts/:id/unentered-workflows                        READ CONTACTS
  GET    /segments                                                READ CONTACTS
  POST   /segments                                                CONTACTS
  POST   /segments/preview                                        CONTACTS
  GET    /segments/:id                                            READ CONTACTS
  PATCH  /segments/:id                                            CONTACTS
  DELETE /segments/:id                                            CONTACTS
  GET    /segments/:id/contacts                                   READ CONTACTS
  GET    /segments/:id/backtest                                   READ CONTACTS
  POST   /segments/:id/backtest                                   CONTACTS
  POST   /segments/:id/backtest/cancel                            CONTACTS
  POST   /segments/:id/members                                    CONTACTS
  DELETE /segments/:id/members                                    CONTACTS
  GET    /segments/:id/usage                                      READ CONTACTS
  GET    /consents/export                                         CONTACTS
  GET    /erasures                                                READ CONTACTS
  GET    /erasures/:id                                            READ CONTACTS
  GET    /suppressions                                            READ CONTACTS
  POST   /suppressions                                            CONTACTS
  POST   /suppressions/bulk                                       CONTACTS
  POST   /suppressions/import                                     CONTACTS
  GET    /suppressions/import/:id                                 READ CONTACTS
  DELETE /suppressions/:email                                     CONTACTS
  GET    /campaigns                                               READ
  GET    /campaigns/summaries                                     READ
  GET    /campaigns/:id                                           READ
  GET    /campaigns/:id/ab-test                                   READ
  GET    /campaigns/:id/audience                                  READ
  GET    /campaigns/:id/audience/contacts                         READ
  GET    /campaigns/:id/preview                                   READ
  GET    /campaigns/:id/recipients                                READ
  GET    /campaigns/:id/stats                                     READ
  GET    /domains                                                 READ
  GET    /domains/:id                                             READ
  GET    /emails                                                  READ
  GET    /emails/:id                                              READ
  GET    /emails/:id/checks                                       READ
  GET    /emails/:id/content                                      READ
  GET    /emails/:id/preview                                      READ
  GET    /emails/:id/source                                       READ
  GET    /events                                                  READ
  GET    /events/names                                            READ
  GET    /events/:id                                              READ
  GET    /images                                                  READ
  GET    /images/:id                                              READ
  GET    /inbound-routes                                          READ
  GET    /inboxes                                                 READ
  GET    /inboxes/:id                                             READ
  GET    /inboxes/:id/events                                      READ
  GET    /inboxes/:id/messages                                    READ
  GET    /inboxes/:id/messages/:messageId                         READ
  GET    /inboxes/:id/messages/:messageId/checks                  READ
  GET    /inboxes/:id/messages/:messageId/codes                   READ
  GET    /inboxes/:id/messages/:messageId/headers                 READ
  GET    /inboxes/:id/messages/:messageId/html                    READ
  GET    /inboxes/:id/messages/:messageId/links                   READ
  GET    /inboxes/:id/messages/:messageId/parts/:partId           READ
  GET    /inboxes/:id/messages/:messageId/preview                 READ
  GET    /inboxes/:id/messages/:messageId/raw                     READ
  GET    /inboxes/:id/messages/:messageId/text                    READ
  GET    /inboxes/:id/rules                                       READ
  GET    /inboxes/:id/sessions                                    READ
  GET    /inboxes/:id/sessions/:sessionId                         READ
  GET    /inboxes/:id/wait                                        READ
  GET    /forms                                                   READ
  GET    /forms/:id                                               READ
  GET    /forms/:id/code                                          READ
  GET    /forms/:id/report                                        READ
  GET    /layouts                                                 READ
  GET    /layouts/:id                                             READ
  GET    /layouts/:id/usage                                       READ
  GET    /stats                                                   READ
  GET    /template-previews/:token                                READ
  GET    /templates                                               READ
  GET    /templates/:id                                           READ
  GET    /templates/:id/preview                                   READ
  GET    /templates/:id/usage                                     READ
  GET    /templates/:id/versions                                  READ
  GET    /templates/:id/versions/:revision                        READ
  GET    /preference-page/preview                                 READ
  GET    /topics                                                  READ CONTACTS
  GET    /topics/:id                                              READ CONTACTS
  GET    /topics/:id/usage                                        READ
  GET    /webhooks                                                READ
  GET    /webhooks/:id                                            READ
  GET    /webhooks/:id/deliveries                                 READ
  GET    /webhooks/:id/deliveries/:deliveryId                     READ
  GET    /workflow-series                                        READ
  GET    /workflows                                               READ
  GET    /workflows/counts                                        READ
  GET    /workflows/:id                                           READ
  GET    /workflows/:id/backtest                                  READ
  GET    /workflows/:id/counts                                    READ
  GET    /workflows/:id/entries                                   READ
  GET    /workflows/:id/entries/:entryId                          READ
  GET    /workflows/:id/entry-forecast                           READ
  GET    /workflows/:id/executions                                READ
  GET    /workflows/:id/executions/:executionId                   READ
  GET    /workflows/:id/versions                                 READ
  GET    /workflows/:id/versions/:number                         READ
  POST   /plunk/v1/track                                          CONTACTS
  POST   /plunk/v1/verify                                         CONTACTS
  POST   /plunk/v1/send                                           SEND
  GET    /plunk/contacts                                          READ CONTACTS
  POST   /plunk/contacts                                          CONTACTS
  POST   /plunk/contacts/lookup                                   READ CONTACTS
  GET    /plunk/contacts/bulk/:id                                 READ CONTACTS
  GET    /plunk/contacts/:id                                      READ CONTACTS
  PATCH  /plunk/contacts/:id                                      CONTACTS
  DELETE /plunk/contacts/:id                                      CONTACTS
  POST   /plunk/contacts/bulk-subscribe                           CONTACTS
  POST   /plunk/contacts/bulk-unsubscribe                         CONTACTS
  POST   /plunk/contacts/bulk-delete                              CONTACTS
  GET    /plunk/templates                                         READ
  GET    /plunk/templates/:id                                     READ
  GET    /plunk/campaigns                                         READ
  GET    /plunk/campaigns/:id                                     READ
  GET    /plunk/campaigns/:id/stats                               READ
  GET    /plunk/segments                                          READ CONTACTS
  POST   /plunk/segments                                          CONTACTS
  GET    /plunk/segments/:id                                      READ CONTACTS
  PATCH  /plunk/segments/:id                                      CONTACTS
  DELETE /plunk/segments/:id                                      CONTACTS
  GET    /plunk/segments/:id/contacts                             READ CONTACTS
  POST   /plunk/segments/:id/members                              CONTACTS
  DELETE /plunk/segments/:id/members                              CONTACTS
  POST   /plunk/segments/:id/refresh                              READ CONTACTS
  POST   /plunk/segments/:id/compute                              READ CONTACTS
  GET    /plunk/workflows                                         READ
  GET    /plunk/workflows/:id                                     READ
  GET    /plunk/workflows/:id/executions                          READ
  GET    /plunk/workflows/:id/executions/:executionId             READ
  POST   /plunk/events/track                                      CONTACTS
  GET    /plunk/events                                            READ
  GET    /plunk/events/names                                      READ
  GET    /plunk/domains/project/:any                              READ
  GET    /plunk/v1/contacts                                       READ CONTACTS
  POST   /plunk/v1/contacts                                       CONTACTS
  PUT    /plunk/v1/contacts                                       CONTACTS
  DELETE /plunk/v1/contacts                                       CONTACTS
  GET    /plunk/v1/contacts/count                                 READ CONTACTS
  POST   /plunk/v1/contacts/subscribe                             CONTACTS
  POST   /plunk/v1/contacts/unsubscribe                           CONTACTS
  GET    /plunk/v1/contacts/:id                                   READ CONTACTS
`;

const TABLE = new Map(
  OPEN_ROUTES.trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([method, path, ...scopes]) => [`${method} ${path}`, scopes]),
);

let t: TestApp;
const keys = new Map<string, string>();
beforeAll(async () => {
  t = await testApp();
  // The first request to a route would compile its handler.
  for (const route of t.app.http.routes) route.compile();
  await t.app.writer.write(() => {
    const project = t.project.seq;
    for (const scope of KEY_SCOPES) {
      const fields = { kind: "SECRET", name: scope, scope, expiresAt: null } as const;
      keys.set(scope, createKey(t.app.app, project, fields).text);
    }
    const smtp = { kind: "SMTP", name: "smtp", scope: "SEND", expiresAt: null } as const;
    keys.set("SMTP", createKey(t.app.app, project, smtp).text);
  });
});
afterAll(() => t.close());

type DeclaredRoute = { method: string; path: string };

/** The answer to a request without a body for objects that do not exist. */
async function answerOf({ method, path }: DeclaredRoute, key: string) {
  const url = `http://localhost${path.replaceAll(/:\w+|\*/g, "x")}`;
  const headers = { authorization: `Bearer ${keys.get(key)}` };
  const response = await t.app.handle(new Request(url, { method, headers }));
  if (response.status === 403) return { status: 403, body: await response.json() };
  await response.body?.cancel(); // Some responses are streams without an end.
  return { status: response.status, body: null };
}

/** The routes that accept keys at all. */
function routesOfKeys(): DeclaredRoute[] {
  const rules = createRouteRules();
  rules.registerRoutes(t.app.http.routes);
  return t.app.http.routes.filter(({ method, path }) => {
    const { access, role } = rules.ruleOf(method, path);
    return method !== "WS" && access === "ANY" && role !== "ANYONE";
  });
}

describe("every route that accepts keys", () => {
  const cases = KEY_SCOPES.flatMap((scope) => [
    { scope, kind: "reads" },
    { scope, kind: "changes" },
  ]);
  test.each(cases)(
    "accepts or refuses a key with the scope $scope as the table says: $kind",
    async ({ scope, kind }) => {
      const routes = routesOfKeys().filter(
        ({ method }) => (kind === "reads") === (method === "GET"),
      );
      expect(routes.length).toBeGreaterThan(75);
      for (const route of routes) {
        const name = `${route.method} ${route.path}`;
        const isAllowed = scope === "EVERYTHING" || TABLE.get(name)?.includes(scope) === true;
        const { status, body } = await answerOf(route, scope);
        const code: unknown = body === null ? null : valueAt(body, "error.code");
        expect([name, code]).toEqual([name, isAllowed ? null : "SCOPE_REQUIRED"]);
        expect([name, status === 401]).toEqual([name, false]);
        if (isAllowed) continue;
        const needed = [...(TABLE.get(name) ?? []), "EVERYTHING"].join(" or ");
        expect(stringAt(body, "error.message")).toBe(
          `This needs a key with the scope ${needed}, and the scope of this key is ${scope}.`,
        );
      }
    },
    30_000,
  );

  test("refuses an SMTP password", async () => {
    for (const route of routesOfKeys()) {
      const { status } = await answerOf(route, "SMTP");
      expect([route.path, status]).toEqual([route.path, 403]);
    }
  });

  test("is in the table only if it exists", () => {
    const known = new Set(routesOfKeys().map(({ method, path }) => `${method} ${path}`));
    expect([...TABLE.keys()].filter((name) => !known.has(name))).toEqual([]);
  });

  test("says its scopes in the document", async () => {
    const { at } = await openApiDocument();
    for (const { method, path } of routesOfKeys()) {
      const name = `${method} ${path}`;
      const place = path.replaceAll(/:(\w+)/g, "{$1}");
      const operation: unknown = Object(Object(at("paths"))[place])[method.toLowerCase()];
      const scopes = TABLE.get(name);
      const shown = scopes === undefined ? undefined : [...scopes, "EVERYTHING"];
      if (operation !== undefined) {
        expect([name, valueAt(operation, "x-scopes")]).toEqual([name, shown]);
      }
    }
  });
});

test("a HEAD request needs the scope of GET", async () => {
  const statusWith = async (scope: KeyScope) =>
    (await answerOf({ method: "HEAD", path: "/emails" }, scope)).status;
  const head = async (scope: KeyScope) =>
    t.app.handle(
      new Request("http://localhost/emails", {
        method: "HEAD",
        headers: { authorization: `Bearer ${keys.get(scope)}` },
      }),
    );
  expect(await statusWith("READ")).toBe(200);
  expect((await head("SEND")).status).toBe(403);
});

test("a refused request changes nothing and says which scope it needs", async () => {
  const before = t.contents();
  const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
  const call = (key: string): Promise<TestResponse> =>
    t.call("POST", "/v1/send", mail, { key: keys.get(key) ?? "" });
  for (const scope of ["READ", "CONTACTS"]) {
    const answer = await call(scope);
    expectError(answer, { status: 403, code: "SCOPE_REQUIRED" });
    expect(answer.text("error.message")).toContain("SEND or EVERYTHING");
  }
  expectError(await call("SMTP"), { status: 403, code: "FORBIDDEN" });
  expect(t.contents()).toEqual(before);
  expect((await call("SEND")).status).toBe(200);
});

test("a key that reads sees what viewers see", async () => {
  await t.call("POST", "/contacts", { email: "ada@example.com", data: { resetToken: "abc" } });
  const seen = async (scope: KeyScope) =>
    (await t.call("GET", "/contacts?search=ada", undefined, { key: keys.get(scope) ?? "" })).at(
      "contacts.0.data.resetToken",
    );
  expect([await seen("READ"), await seen("CONTACTS"), await seen("EVERYTHING")]).toEqual([
    "(hidden)",
    "abc",
    "abc",
  ]);
  const { body } = await t.call("GET", "/emails?limit=1");
  const id = stringAt(body, "data.items.0.id");
  const content = await t.call("GET", `/emails/${id}/content`, undefined, {
    key: keys.get("READ") ?? "",
  });
  expectError(content, { status: 403, code: "FORBIDDEN" });
});

test("a key for contacts sees of their events what viewers see, and of received mail no text", async () => {
  const email = "events@example.com";
  await t.call("POST", "/v1/track", { event: "signed-in", email, data: { pin: "4829" } });
  const id = (await t.call("GET", `/contacts?search=${email}`)).text("contacts.0.id");
  const data = JSON.stringify({ from: email, subject: "4829", text: "private" });
  t.db.sqlite.run("UPDATE events SET name = 'email.received', data = ? WHERE name = 'signed-in'", [
    data,
  ]);
  await t.call("POST", "/v1/track", { event: "signed-in", email, data: { pin: "4829" } });
  const seen = async (scope: KeyScope) => {
    const path = `/contacts/${id}/activity`;
    const { body } = await t.call("GET", path, undefined, { key: keys.get(scope) ?? "" });
    const text = JSON.stringify(body);
    return ["email.received", "signed-in", "4829", "private"].filter((word) => text.includes(word));
  };
  expect(await seen("CONTACTS")).toEqual(["email.received", "signed-in"]);
  expect(await seen("EVERYTHING")).toEqual(["email.received", "signed-in", "4829", "private"]);
});
