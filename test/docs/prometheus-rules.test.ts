/** The alert rules for Prometheus use only metrics and labels that a server shows. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { CONDITIONS } from "../../src/modules/alerts/conditions.ts";
import { type TestApp, testApp } from "../support/app.ts";

const Rules = Type.Object({
  groups: Type.Array(
    Type.Object({
      rules: Type.Array(
        Type.Object({
          alert: Type.String(),
          expr: Type.String(),
          labels: Type.Object({ severity: Type.String() }),
          annotations: Type.Object({ summary: Type.String(), description: Type.String() }),
        }),
      ),
    }),
  ),
});

const file = join(import.meta.dir, "../../packaging/prometheus-rules.yml");
const rules = Value.Parse(Rules, Bun.YAML.parse(readFileSync(file, "utf8"))).groups.flatMap(
  (group) => group.rules,
);

let t: TestApp;
let scrape: string;

beforeAll(async () => {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const metrics = { host: "127.0.0.1", port: probe.port ?? 0 };
  await probe.stop(true);
  t = await testApp({ config: { port: 0, metrics } });
  await t.create(
    "/v1/send",
    { to: "a@b.co", from: "a@acme.test", subject: "s", body: "b" },
    "data.emails.0.email",
  );
  await t.deliver();
  await t.app.listen();
  scrape = await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text();
});
afterAll(() => t.close());

test("every metric of a rule is in a scrape", () => {
  const used = rules.flatMap(({ expr }) => expr.match(/\bmailstead_\w+/g) ?? []);
  // A server without TLS has no certificate.
  const shown = `${scrape}\nmailstead_certificate_expiry_timestamp_seconds 1\n`;
  const missing = used.filter((name) => !new RegExp(`^${name}[{ ]`, "m").test(shown));
  expect(used.length).toBeGreaterThan(8);
  expect(missing).toEqual([]);
});

test("every label and condition of a rule is in a scrape", () => {
  for (const { expr } of rules) {
    for (const [, labels = ""] of expr.matchAll(/\{([^}]*)\}/g)) {
      const [name = "", values = ""] = labels.split(/[=!]~|=/);
      expect(scrape).toMatch(new RegExp(`[{,]${name}="`));
      if (name !== "condition") continue;
      const known = CONDITIONS.map((condition) => condition.name);
      expect(known).toEqual(expect.arrayContaining(values.replaceAll('"', "").split("|")));
    }
  }
  for (const { name } of CONDITIONS) {
    expect(scrape).toContain(`mailstead_alert_active{condition="${name}"} 0\n`);
  }
});

test("the rules about critical alerts name all of them", () => {
  const critical = CONDITIONS.filter(({ severity }) => severity === "critical");
  const rule = rules.find(({ alert }) => alert === "MailsteadCritical");
  expect(rule?.expr).toContain(`"${critical.map(({ name }) => name).join("|")}"`);
});
