/** The pages of domains: the checklist against a real name server, its states and roles. */

import { describe, expect, test } from "bun:test";
import { differenceOf } from "../../src/dashboard/pages/domains/difference.ts";
import { hostIn } from "../../src/dashboard/pages/domains/record-texts.ts";
import { zoneFile } from "../../src/dashboard/pages/domains/zone-file.ts";
import { sharedServer } from "../support/dashboard-server.ts";
import type { TestDns, TestRecords } from "../support/dns-server.ts";
import { listAt, stringAt } from "../support/json.ts";
import { publish } from "../support/zone.ts";
import { expectSoon } from "../support/eventually.ts";
import {
  failingList,
  openAs,
  type PeopledProject,
  newProjectWithPeople,
  statusOf,
} from "./people.ts";
import { expectNoFaults } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
let dns: TestDns;
const ZONE: Record<string, TestRecords> = {
  "mixed.example": { TXT: ["v=spf1 ip4:192.0.2.1 -all", "v=spf1 -all", "other=1"] },
};

beforePages(async () => {
  ({ dns } = await sharedServer());
  Object.assign(dns.records, ZONE);
  server = await newProjectWithPeople();
  await server.call("POST", "/domains", { domain: "mixed.example" });
});
type Shown = { id: string; records: unknown[] };

/** The domain as the interface shows it. */
async function domainNamed(domain: string): Promise<Shown | undefined> {
  const found = listAt(await server.call("GET", "/domains"), "data.items").find(
    (one) => stringAt(one, "domain") === domain,
  );
  if (found === undefined) return undefined;
  return { id: stringAt(found, "id"), records: listAt(found, "records") };
}

describe("the pages of domains", () => {
  pageTest("every layout is accessible, quiet and fits the window", async () => {
    const id = (await domainNamed("mixed.example"))?.id;
    await server.call("POST", `/domains/${id}/verify`);
    for (const [name, path, ready] of [
      ["domains", "/domains", "mixed.example"],
      ["domain", `/domains/${id}`, "Different value"],
    ] as const) {
      await expectNoFaults(await openAs(server, path), {
        name,
        isShown: (page) => page.getByText(ready).first().waitFor(),
      });
    }
  });

  pageTest(
    "by keyboard: a domain is added, its records are published, checked and found",
    async () => {
      const opened = await openAs(server, "/domains");
      const { page } = opened;
      await page.getByText("mixed.example").waitFor();
      await page.keyboard.press("c");
      await page.getByRole("dialog", { name: "Add a domain" }).waitFor();
      expect(await opened.findings()).toEqual([]);
      await page.keyboard.type("no domain");
      await page.keyboard.press("Enter");
      await page
        .getByLabel("Domain", { exact: true })
        .and(page.locator("[aria-invalid=true]"))
        .waitFor();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type("quay.example");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "quay.example" }).waitFor();
      await page.getByText("open its DNS settings").waitFor();

      publish(dns.records, (await domainNamed("quay.example"))?.records ?? []);
      await page.getByRole("button", { name: "Check now" }).press("Enter");
      await page.getByText("All records are in place.").waitFor();
      await page.getByText("Verified", { exact: true }).waitFor();
      await opened.screenshot("domain-verified");
      expect(await opened.findings()).toEqual([]);
      expect(opened.problems.filter((problem) => !problem.includes("status of 422"))).toEqual([]);
      await opened.close();
    },
  );

  pageTest(
    "by mouse: a host and the zone file are copied, and the domain is removed by its name",
    async () => {
      const opened = await openAs(server, "/domains");
      const { page, problems } = opened;
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("link", { name: "mixed.example" }).click();
      await page.getByRole("button", { name: "Copy the host @" }).first().click();
      await expectSoon(() => page.evaluate("navigator.clipboard.readText()"), "@");
      await page.getByRole("button", { name: "Copy the code" }).click();
      expect(await page.evaluate("navigator.clipboard.readText()")).toContain(
        "_dmarc.mixed.example. 3600 IN TXT",
      );
      // Two SPF records are there, and the value merges them.
      await page.getByText("v=spf1 -all", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Remove the domain" }).click();
      const question = page.getByRole("dialog", { name: "Remove mixed.example?" });
      await expectSoon(
        () => question.getByRole("button", { name: "Remove the domain" }).isDisabled(),
        true,
      );
      await question.getByLabel("Type mixed.example to confirm").fill("mixed.example");
      await question.getByRole("button", { name: "Remove the domain" }).click();
      await page.getByRole("heading", { level: 1, name: "Domains" }).waitFor();
      await page.getByText("mixed.example").waitFor({ state: "detached" });
      expect(await domainNamed("mixed.example")).toBeUndefined();
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest("shows a list that cannot be read, and a domain that does not exist", async () => {
    const broken = await openAs(server, "/domains", {
      prepare: failingList("/domains"),
    });
    await broken.page.getByText("The list is not available.").waitFor();
    await broken.close();
    const missing = await openAs(server, "/domains/nothing");
    await missing.page.getByRole("alert").waitFor();
    await missing.page.getByRole("link", { name: "Domains" }).first().click();
    await missing.page.getByRole("heading", { level: 1, name: "Domains" }).waitFor();
    await missing.close();
  });

  pageTest("viewers read the records and change nothing", async () => {
    await server.call("POST", "/domains", { domain: "read.example" });
    const id = (await domainNamed("read.example"))?.id;
    const opened = await openAs(server, `/domains/${id}`, { person: "viewer" });
    const { page, problems } = opened;
    await page.getByRole("heading", { level: 1, name: "read.example" }).waitFor();
    await page.getByText("Sign your mail (DKIM)").waitFor();
    for (const name of ["Check now", "Remove the domain", "Add a domain"]) {
      await expectSoon(() => page.getByRole("button", { name }).count(), 0);
    }
    expect(problems).toEqual([]);
    await opened.close();
    const add = ["POST", "/domains", { domain: "forced.example" }] as const;
    for (const person of ["viewer", "editor"] as const) {
      expect(await statusOf(server, person, add)).toBe(403);
      expect(await statusOf(server, person, ["DELETE", `/domains/${id}`])).toBe(403);
      expect(await statusOf(server, person, ["POST", `/domains/${id}/verify`])).toBe(403);
    }
  });
});

test.each([
  ["example.com", "@"],
  ["ms1._domainkey.example.com", "ms1._domainkey"],
  ["other.example", "other.example"],
])("the host of %s in the zone of example.com is %s", (name, expected) => {
  expect(hostIn(name, "example.com")).toBe(expected);
});

test.each([
  ["v=spf1 ~all", "v=spf1 -all", ["v=spf1 ", "~", "all"]],
  ["same", "same", ["same", "", ""]],
  ["aaa", "aa", ["aa", "a", ""]],
  ["", "value", ["", "", ""]],
])("%s differs from %s", (found, expected, parts) => {
  expect(Object.values(differenceOf(found, expected))).toEqual(parts);
});

test("a zone file splits long texts, escapes quotes and ends names with a dot", () => {
  const lines = zoneFile([
    { type: "TXT", name: "a.example", value: "x".repeat(300) },
    { type: "TXT", name: "b.example", value: 'say "hi"' },
    { type: "MX", name: "c.example", value: "10 mail.example" },
    { type: "TXT", name: "d.example", value: "" },
  ]).split("\n");
  expect(lines).toEqual([
    `a.example. 3600 IN TXT "${"x".repeat(255)}" "${"x".repeat(45)}"`,
    'b.example. 3600 IN TXT "say \\"hi\\""',
    "c.example. 3600 IN MX 10 mail.example.",
  ]);
});
