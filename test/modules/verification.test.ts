import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock } from "../../src/lib/clock.ts";
import { createDns, type Dns } from "../../src/protocols/dns/client.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { startDnsServer, type TestDns } from "../support/dns-server.ts";
import { listAt } from "../support/json.ts";

let names: TestDns;
let dns: Dns;
let t: TestApp;

beforeAll(async () => {
  names = await startDnsServer({
    records: {
      "gmail.com": { MX: ["5 mx.google.test"], A: ["192.0.2.1"] },
      "gmial.com": { MX: ["5 mx.typo.test"] },
      "acme.test": { MX: ["10 mx.acme.test"], A: ["192.0.2.2"], AAAA: ["2001:db8::2"] },
      "xn--bcher-kva.test": { MX: ["10 mx.acme.test"] },
      "address.test": { A: ["192.0.2.3"] },
      "nothing.test": { TXT: ["v=spf1 -all"] },
      "nomail.test": { MX: ["0 ."], A: ["192.0.2.4"] },
      "mailinator.com": { MX: ["10 mx.mailinator.test"] },
      "duck.com": { MX: ["10 mx.duck.test"] },
    },
    failures: { "broken.test": "servfail" },
  });
  dns = createDns({ servers: [names.server], clock: systemClock, timeoutMs: 500, tries: 1 });
  t = await testApp({ dns });
});

afterAll(async () => {
  await t.close();
  await names.close();
});

const NO_FLAGS = {
  isDisposable: false,
  isAlias: false,
  isTypo: false,
  isPlusAddressed: false,
  isPersonalEmail: false,
  suggestedEmail: null,
};

describe("POST /v1/verify", () => {
  const cases: [name: string, email: string, expected: Record<string, unknown>, reason: RegExp][] =
    [
      [
        "an address that can receive mail",
        " Ada@Acme.test ",
        {
          ...NO_FLAGS,
          email: "ada@acme.test",
          valid: true,
          domainExists: true,
          hasWebsite: true,
          hasMxRecords: true,
        },
        /^$/,
      ],
      ["an IDN domain", "ada@bücher.test", { valid: true, email: "ada@xn--bcher-kva.test" }, /^$/],
      ["a quoted local part", '"a b"@acme.test', { valid: true }, /^$/],
      [
        "a domain with an address only",
        "a@address.test",
        { valid: true, hasMxRecords: false, hasWebsite: true },
        /no MX/,
      ],
      [
        "a domain without MX and address",
        "a@nothing.test",
        { valid: false, domainExists: true, hasWebsite: false },
        /neither/,
      ],
      [
        "a domain with a null MX",
        "a@nomail.test",
        { valid: false, hasMxRecords: false, domainExists: true },
        /null MX/,
      ],
      [
        "a domain that does not exist",
        "a@nowhere.test",
        { valid: false, domainExists: false },
        /not exist/,
      ],
      [
        "a domain whose servers fail",
        "a@broken.test",
        { valid: true, domainExists: true, hasMxRecords: false },
        /did not answer/,
      ],
      [
        "a disposable domain",
        "a@mailinator.com",
        { valid: true, isDisposable: true, isPersonalEmail: false },
        /disposable.*list of/,
      ],
      ["a forwarding service", "a@duck.com", { valid: true, isAlias: true }, /alias/],
      [
        "a personal provider",
        "a@gmail.com",
        { valid: true, isPersonalEmail: true, isTypo: false },
        /personal/,
      ],
      ["a +tag", "a+b@acme.test", { valid: true, isPlusAddressed: true }, /\+tag/],
      [
        "a misspelling",
        "ada@gmial.com",
        { isTypo: true, suggestedEmail: "ada@gmail.com" },
        /Did you mean gmail\.com/,
      ],
      [
        "two @ signs",
        "a@@acme.test",
        { valid: false, domainExists: false, suggestedEmail: null },
        /not an email/,
      ],
      ["an empty local part", "@acme.test", { valid: false }, /not an email/],
      ["an address literal", "a@[192.0.2.1]", { valid: false }, /not an email/],
    ];
  test.each(cases)("recognizes %s", async (_, email, expected, reason) => {
    const answer = await t.call("POST", "/v1/verify", { email });
    expect(answer.status).toBe(200);
    for (const [field, value] of Object.entries(expected)) {
      expect([field, answer.at(`data.${field}`)]).toEqual([field, value]);
      expect(answer.at(field)).toEqual(value);
    }
    expect(listAt(answer.body, "data.reasons").join(" ")).toMatch(reason);
  });

  test("queries DNS once for two addresses of one domain", async () => {
    await t.call("POST", "/v1/verify", { email: "a@acme.test" });
    const before = names.queries.length;
    await t.call("POST", "/v1/verify", { email: "b@acme.test" });
    expect(names.queries.length).toBe(before);
  });
});
