/** DNS records of sending domains as their owners publish them. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createDns } from "../../src/protocols/dns/client.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { startDnsServer, type TestDns, type TestRecords } from "../support/dns-server.ts";
import { listAt, stringAt } from "../support/json.ts";
import { ACCEPTED, testTransport } from "../support/transport.ts";
import { publish, statuses } from "../support/zone.ts";

/** The records of a zone file whose lines have a name, a type and a value. */
function zoneOf(file: string): Record<string, TestRecords> {
  const text = readFileSync(path.join(import.meta.dir, file), "utf8");
  const zone: Record<string, TestRecords> = {};
  for (const [, name = "", type = "", value = ""] of text.matchAll(
    /^(\S+)\.\s+(A|TXT|MX)\s+(.*)$/gm,
  )) {
    const plain = value
      .trim()
      .replace(/^"(.*)"$/, "$1")
      .replace(/^(\d+) +(.*)\.$/, "$1 $2");
    zone[name] = { ...zone[name], [type]: [plain] };
  }
  return zone;
}

let dns: TestDns;
let t: TestApp;
const transport = testTransport({ answer: ACCEPTED });
beforeAll(async () => {
  // The evaluator of SPF records is loaded with its first record.
  await import("mailauth/lib/spf");
  dns = await startDnsServer();
  const clock = manualClock();
  t = await testApp({
    clock,
    transport,
    dns: createDns({ servers: [dns.server], clock }),
    // The server's own address is a private one, so its records name the host.
    config: { hostname: "out.host.example", sourceAddresses: ["10.0.0.5"] },
  });
  await t.call("POST", "/domains", { domain: "e1.example" });
});
afterAll(async () => {
  await t.close();
  await dns.close();
});

test.each(["spf-ip4-nat", "spf-mx-nat"])("%s", async (name) => {
  Object.assign(dns.records, zoneOf(`${name}/zone.txt`));
  const { body } = await t.call("POST", "/domains", { domain: "e1.example" });
  const keys = listAt(body, "data.records").filter(
    (record) => stringAt(record, "purpose") === "DKIM",
  );
  publish(dns.records, keys);
  const checked = await t.call("POST", `/domains/${stringAt(body, "data.id")}/verify`);
  const ofBounces = statuses(checked.at("data")).filter((text) => text.startsWith("RETURN_PATH"));
  expect(ofBounces).toEqual(["RETURN_PATH MX OK", "RETURN_PATH TXT OK"]);
  const mail = { to: "ada@x.example", from: "hi@e1.example", subject: "s", body: "<p>b</p>" };
  expect((await t.call("POST", "/v1/send", mail)).status).toBe(200);
  await t.deliver();
  const from = transport.handed.at(-1)?.object.envelope.from;
  expect(from).toMatch(/^b\+.*@bounce\.e1\.example$/);
});
