/**
 * People generate clients from the OpenAPI document. These tests lint it, generate a TypeScript
 * client, check a program that uses the client, and run the program against a server.
 */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestApp, type TestResponse, testApp } from "../support/app.ts";
import { valueAt } from "../support/json.ts";
import { openApiDocument } from "../support/openapi.ts";

const PACKAGES = join(import.meta.dir, "../../node_modules");
/** False in a checkout whose packages were installed before the generator was one of them. */
const isInstalled = ["openapi-typescript", "openapi-fetch", "@redocly/openapi-core"].every((name) =>
  existsSync(join(PACKAGES, name)),
);

let t: TestApp;
let document: TestResponse;
let port: number;
let folder: string;
beforeAll(async () => {
  t = await testApp({ config: { port: 0, apiRate: 1000 } });
  await t.app.start();
  port = await t.app.listen();
  document = await openApiDocument();
  folder = mkdtempSync(join(tmpdir(), "openapi-client-"));
  symlinkSync(PACKAGES, join(folder, "node_modules"));
  await Bun.write(join(folder, "openapi.json"), JSON.stringify(document.body));
});
afterAll(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

/** Runs a program with the runtime of the tests; throws with its output if it fails. */
async function run(...args: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${args.join(" ")}: ${output}${errors}`);
  return output;
}

describe.skipIf(!isInstalled)("the OpenAPI document", () => {
  test("passes the linter, except for the shape of three paths", async () => {
    await Bun.write(join(folder, "lint.ts"), LINT);
    const problems: unknown = JSON.parse(await run("lint.ts"));
    expect(problems).toEqual([
      // The paths of imports and bulk actions were published. A literal segment wins over {id}.
      ["no-ambiguous-paths", "#/paths/~1contacts~1import~1{id}"],
      ["no-ambiguous-paths", "#/paths/~1contacts~1bulk~1{id}"],
      // A tracked link only redirects.
      ["operation-2xx-response", "#/paths/~1c~1{token}~1{target}/get/responses"],
    ]);
  });

  test("makes a client whose program passes the strict type check and works", async () => {
    await run("node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "api.ts");
    await Bun.write(join(folder, "tsconfig.json"), TSCONFIG);
    await Bun.write(join(folder, "program.ts"), PROGRAM);
    await run("check", "-p", folder);
    const output = await run("program.ts", `http://127.0.0.1:${port}`, t.secretKey);
    const result: unknown = JSON.parse(output);
    expect(result).toMatchObject({
      contact: { email: "ada@example.com", isNew: true },
      sent: "ada@example.com",
      replayed: "true",
      listed: [["Your order 1001", true]],
      campaign: "DRAFT",
      filter: "data.plan",
      steps: ["TRIGGER signed_up", "DELAY 2 days", "EXIT"],
      refusal: { status: 422, code: "VALIDATION_ERROR", fields: ["email"] },
      missing: { status: 404, code: "CONTACT_NOT_FOUND" },
    });
    expect(valueAt(result, "remaining")).toMatch(/^\d+$/);
  }, 60_000);
});

const LINT = `
import { createConfig, lintFromString } from "@redocly/openapi-core";

const rules = [
  "no-invalid-schema-examples", "no-invalid-parameter-examples", "operation-description",
  "parameter-description", "tag-description", "operation-operationId-url-safe",
  "no-required-schema-properties-undefined", "no-enum-type-mismatch", "component-name-unique",
  "operation-singular-tag", "operation-tag-defined", "path-params-defined",
];
const config = await createConfig({
  extends: ["recommended-strict"],
  rules: Object.fromEntries(rules.map((rule) => [rule, "error"])),
});
const source = await Bun.file("openapi.json").text();
const problems = await lintFromString({ source, config });
console.log(JSON.stringify(problems.map(({ ruleId, location }) => [ruleId, location[0].pointer])));
process.exit(0);
`;

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    target: "ESNext",
    lib: ["ESNext", "DOM"],
    module: "Preserve",
    moduleResolution: "bundler",
    types: ["bun-types"],
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
  },
  include: ["api.ts", "program.ts"],
});

const PROGRAM = `
import createClient from "openapi-fetch";
import type { components, paths } from "./api.ts";

type Schemas = components["schemas"];

const [baseUrl = "", key = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } });

function required<T>({ data, error }: { data?: T; error?: Schemas["Error"] }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

function failed({ error, response }: { error?: Schemas["Error"]; response: Response }) {
  if (error === undefined) throw new Error("the request was not refused");
  const { code, errors } = error.error;
  return { status: response.status, code, fields: errors?.map(({ field }) => field) };
}

const contact = required(
  await client.POST("/contacts", { body: { email: "ada@example.com", data: { plan: "pro" } } }),
);

const mail: Schemas["SendInput"] = {
  to: contact.email,
  from: { name: "Acme", email: "hello@acme.test" },
  subject: "Your order {{ order }}",
  body: "<p>Thank you.</p>",
  data: { order: 1001 },
};
const params = { header: { "Idempotency-Key": "order-1001" } };
const sent = required(await client.POST("/v1/send", { params, body: mail }));
const again = await client.POST("/v1/send", { params, body: mail });

const list = await client.GET("/emails", { params: { query: { limit: 10, to: contact.email } } });
const emails: Schemas["Email"][] = required(list).data.items;

const condition: Schemas["Condition"] = {
  logic: "AND",
  groups: [
    {
      filters: [{ field: "data.plan", operator: "equals", value: "pro" }],
      conditions: { logic: "OR", groups: [{ filters: [{ field: "data.age", operator: "exists" }] }] },
    },
  ],
};
const campaign: Schemas["Campaign"] = required(
  await client.POST("/campaigns", {
    body: {
      name: "Spring news",
      subject: "News",
      body: "<p>Hello</p>",
      from: "hello@acme.test",
      audienceType: "FILTERED",
      audienceFilter: condition,
    },
  }),
).data;

const workflow = required(
  await client.POST("/workflows", {
    body: {
      name: "Welcome",
      trigger: { type: "EVENT", eventName: "signed_up" },
      steps: [
        { id: "wait", type: "DELAY", config: { amount: 2, unit: "days" } },
        { id: "end", type: "EXIT", config: {} },
      ],
      transitions: [{ from: "wait", to: "end" }],
    },
  }),
).data;

/** The type of a step tells the type of its config. */
function describe(step: Schemas["WorkflowStep"]): string {
  switch (step.type) {
    case "TRIGGER":
      return \`\${step.type} \${step.config.eventName}\`;
    case "DELAY":
      return \`\${step.type} \${step.config.amount} \${step.config.unit}\`;
    default:
      return step.type;
  }
}

// @ts-expect-error: a campaign has a subject
const incomplete: Schemas["CampaignInput"] = { name: "", body: "", from: "", audienceType: "ALL" };
// @ts-expect-error: there is no such status
const unknownStatus: Schemas["Email"]["status"] = "LOST";

const refused = await client.POST("/contacts", { body: { email: "no address" } });
const missing = await client.GET("/contacts/{id}", { params: { path: { id: "unknown" } } });

console.log(
  JSON.stringify({
    contact: { email: contact.email, isNew: contact._meta.isNew },
    sent: sent.data.emails[0]?.contact.email,
    replayed: again.response.headers.get("Idempotency-Replayed"),
    listed: emails.map(({ subject, id }) => [subject, id === sent.emails[0]?.email]),
    campaign: campaign.status,
    filter: campaign.audienceFilter?.groups[0]?.filters[0]?.field,
    steps: workflow.steps.map(describe),
    refusal: failed(refused),
    missing: failed(missing),
    remaining: list.response.headers.get("RateLimit-Remaining"),
    unused: [incomplete, unknownStatus].length,
  }),
);
`;
