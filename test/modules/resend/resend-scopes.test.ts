/** The rights of keys with a scope in the interface of Resend (docs/resend.md). */

import { beforeEach, expect, test } from "bun:test";
import { createKey } from "../../../src/modules/keys.ts";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

type Limits = Partial<Parameters<typeof createKey>[2]>;

async function keyWith(limits: Limits): Promise<string> {
  const fields = { kind: "SECRET", name: "limited", expiresAt: null } as const;
  const { app } = t.app;
  const made = await t.app.writer.write(() =>
    createKey(app, t.project.seq, { ...fields, ...limits }),
  );
  return made.text;
}

const mail = { from: "a@acme.test", to: "ada@example.com", subject: "Hi", html: "<p>Hi</p>" };

/** One request for each noun, and the scopes of keys that may make it beside EVERYTHING. */
const REQUESTS: readonly (readonly [string, string, unknown, readonly string[]])[] = [
  ["POST", "/emails", mail, ["SEND"]],
  ["POST", "/emails/batch", [mail], ["SEND"]],
  ["GET", "/emails", undefined, []],
  ["GET", "/domains", undefined, []],
  ["GET", "/api-keys", undefined, []],
  ["GET", "/contacts", undefined, ["CONTACTS"]],
  ["POST", "/contacts", { email: "b@example.com" }, ["CONTACTS"]],
  ["GET", "/segments", undefined, ["CONTACTS"]],
  ["POST", "/audiences", { name: "News" }, ["CONTACTS"]],
  ["GET", "/broadcasts", undefined, []],
  ["GET", "/templates", undefined, []],
  ["GET", "/webhooks", undefined, []],
  ["POST", "/suppressions", { email: "c@example.com" }, ["CONTACTS"]],
];

test.each(["SEND", "READ", "CONTACTS", "EVERYTHING"] as const)(
  "a key of the scope %s may make only the requests of its scope",
  async (scope) => {
    const key = await keyWith({ scope });
    for (const [method, path, body, scopes] of REQUESTS) {
      const answer = await t.call(method, `/resend${path}`, body, { key });
      if (scope === "EVERYTHING" || scopes.includes(scope)) {
        expect([path, answer.status < 300]).toEqual([path, true]);
      } else {
        const refused = [path, answer.status, answer.at("name")];
        expect(refused).toEqual([path, 401, "restricted_api_key"]);
      }
    }
  },
);

test("a key that is bound to a domain sends only from it, also in a batch", async () => {
  const key = await keyWith({ domains: ["other.test"] });
  for (const [path, body] of [
    ["/resend/emails", mail],
    ["/resend/emails/batch", [mail]],
  ] as const) {
    const answer = await t.call("POST", path, body, { key });
    expect([answer.status, answer.at("name")]).toEqual([401, "restricted_api_key"]);
  }
  expect(t.countRows("emails")).toBe(0);
});
