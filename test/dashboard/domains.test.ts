/** The pages of domains: the checklist against a real name server, its states and roles. */

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { differenceOf } from "../../src/dashboard/pages/domains/difference.ts";
import { domainIn } from "../../src/dashboard/pages/domains/domain-in.ts";
import { zoneFile } from "../../src/dashboard/pages/domains/zone-file.ts";
import { newProject, sharedServer } from "../support/dashboard-server.ts";
import type { TestDns } from "../support/dns-server.ts";
import { listAt, stringAt } from "../support/json.ts";
import { publish } from "../support/zone.ts";
import { expectSoon } from "../support/eventually.ts";
import { openAs, type PeopledProject, newProjectWithPeople, statusOf } from "./people.ts";
import { pageTest, beforePages } from "../support/page-test.ts";

let server: PeopledProject;
let dns: TestDns;

beforePages(async () => {
  ({ dns } = await sharedServer());
  dns.records["mixed.example"] = { TXT: ["v=spf1 ip4:192.0.2.1 -all", "v=spf1 -all", "other=1"] };
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

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
const check = (page: Page) => page.getByRole("button", { name: "Check now" }).click();
const verdicts = (page: Page) => page.locator(".record-head .status").allTextContents();

/** By keyboard, a domain is added after a faulty one. */
async function addDomain(page: Page, domain: string): Promise<void> {
  await page.keyboard.press("c");
  await page.getByRole("dialog", { name: "Add a domain" }).waitFor();
  await page.keyboard.type("no domain");
  await page.keyboard.press("Enter");
  const field = page.getByLabel("Domain", { exact: true });
  await field.and(page.locator("[aria-invalid=true]")).waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(domain);
  await page.keyboard.press("Enter");
  await heading(page, domain);
  await page.getByText("open its DNS settings, and add each record").waitFor();
}

describe("the pages of domains", () => {
  pageTest("a domain is brought to verified, and each check says what to do next", async () => {
    const { page, problems, findings, close } = await openAs(server, "/domains");
    await page.getByText("mixed.example").waitFor();
    await page.evaluate("window.isSameDocument = true");
    await addDomain(page, "harbour.example");
    const records = (await domainNamed("harbour.example"))?.records ?? [];
    await check(page);
    await expectSoon(() => verdicts(page), Array<string>(records.length).fill("Not found"));

    // The owner of the domain pastes the value of another record.
    const name = stringAt(records[0], "name");
    publish(dns.records, [{ type: "TXT", name, value: "v=DKIM1; k=rsa; p=AAAA" }]);
    await check(page);
    await page.getByText("Different value").waitFor();
    await page.getByText("v=DKIM1; k=rsa; p=AAAA").waitFor();
    // No domain of the demonstration has marks of a difference.
    expect(await findings()).toEqual([]);

    for (const each of records) delete dns.records[stringAt(each, "name")];
    publish(dns.records, records);
    await check(page);
    await page.getByText("You can send from this domain. All records are in place.").waitFor();
    await page.getByText("Verified", { exact: true }).waitFor();
    await expectSoon(() => verdicts(page), Array<string>(records.length).fill("Found"));
    await page.getByRole("link", { name: "Domains", exact: true }).first().click();
    await heading(page, "Domains");
    const row = page.locator("[data-row]", { hasText: "harbour.example" });
    await row.getByText("Verified").waitFor();

    // A record disappears again.
    for (const each of records) {
      if (stringAt(each, "purpose") === "DKIM") delete dns.records[stringAt(each, "name")];
    }
    await page.getByRole("link", { name: "harbour.example" }).click();
    await check(page);
    await page.getByText("The signing key has been missing from the DNS since").waitFor();
    expect(await page.evaluate("window.isSameDocument")).toBe(true);
    // The browser logs the refused domain.
    expect(problems.filter((problem) => !problem.includes("status of 422"))).toEqual([]);
    await close();
  });

  pageTest("a pasted URL is a domain, whose records are checked until they are found", async () => {
    const { page, problems, discard } = await openAs(server, "/domains");
    await page.getByRole("button", { name: "Add a domain" }).first().click();
    const field = page.getByLabel("Domain", { exact: true });
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.evaluate("navigator.clipboard.writeText('https://www.news.quay.example/all?x=1')");
    await field.press("ControlOrMeta+v");
    await expectSoon(() => field.inputValue(), "news.quay.example");
    await page.keyboard.press("Enter");
    await heading(page, "news.quay.example");
    const records = (await domainNamed("news.quay.example"))?.records ?? [];
    // The DNS of the domain is most probably managed in the zone of quay.example.
    await page
      .getByRole("button", { name: /^Copy the host ms.*\._domainkey\.news$/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Copy the host news" }).first().waitFor();

    await page.clock.install();
    await check(page);
    await expectSoon(() => verdicts(page), Array<string>(records.length).fill("Not found"));
    await page.getByText(`0 of ${records.length} records found. They are checked every`).waitFor();
    publish(dns.records, records);
    await page.clock.fastForward(5_000);
    await page.getByText("You can send from this domain. All records are in place.").waitFor();
    await page.getByRole("button", { name: "Stop checking" }).waitFor({ state: "detached" });
    expect(problems).toEqual([]);
    await discard();
  });

  pageTest(
    "a host and the zone file are copied, and the domain is removed by its name",
    async () => {
      const { page, problems, close } = await openAs(server, "/domains");
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await page.getByRole("link", { name: "mixed.example" }).click();
      await check(page);
      // Two SPF records are there, and the value merges them.
      await page.getByText("v=spf1 -all", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Copy the host @" }).first().click();
      await expectSoon(() => page.evaluate("navigator.clipboard.readText()"), "@");
      await page.getByRole("button", { name: "Copy the code" }).click();
      expect(await page.evaluate("navigator.clipboard.readText()")).toContain(
        "_dmarc.mixed.example. 3600 IN TXT",
      );
      await page.getByRole("button", { name: "Remove the domain" }).click();
      const question = page.getByRole("dialog", { name: "Remove mixed.example?" });
      const remove = question.getByRole("button", { name: "Remove the domain" });
      await expectSoon(() => remove.isDisabled(), true);
      await question.getByLabel("Type mixed.example to confirm").fill("mixed.example");
      await remove.click();
      await heading(page, "Domains");
      await page.getByText("mixed.example").waitFor({ state: "detached" });
      expect(await domainNamed("mixed.example")).toBeUndefined();
      expect(problems).toEqual([]);
      await close();
    },
  );

  pageTest("a domain that another project has verified says so", async () => {
    const other = await newProject();
    const added = await other.call("POST", "/domains", { domain: "twice.example" });
    await server.call("POST", "/domains", { domain: "twice.example" });
    const own = await domainNamed("twice.example");
    publish(dns.records, [...listAt(added, "data.records"), ...(own?.records ?? [])]);
    await other.call("POST", `/domains/${stringAt(added, "data.id")}/verify`);
    await server.call("POST", `/domains/${own?.id}/verify`);
    const { page, problems, close } = await openAs(server, `/domains/${own?.id}`);
    await page.getByText("another project of this server has verified the domain").waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  pageTest("viewers read the records and change nothing", async () => {
    await server.call("POST", "/domains", { domain: "read.example" });
    const id = (await domainNamed("read.example"))?.id;
    const opened = await openAs(server, `/domains/${id}`, { person: "viewer" });
    const { page, problems } = opened;
    await page.getByRole("heading", { level: 1, name: "read.example" }).waitFor();
    await page.getByText("Sign your mail (DKIM)").waitFor();
    for (const name of ["Check now", "Remove the domain", "Add a domain"]) {
      expect([name, await page.getByRole("button", { name }).count()]).toEqual([name, 0]);
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
  ["example.com", "example.com"],
  [" example.com\n", "example.com"],
  ["https://example.com", "example.com"],
  ["HTTPS://www.example.com/shop?item=1#top", "example.com"],
  ["http://user:secret@example.com:8080/", "example.com"],
  ["www.example.com/shop", "example.com"],
  ["www.example.com", "www.example.com"],
  ["ada@news.example.com", "news.example.com"],
  ["Ada <ada@example.com>", "example.com"],
  ["mailto:ada@example.com", "example.com"],
  ["bücher.example", "bücher.example"],
  ["no domain", "no domain"],
  ["", ""],
])("%p has the domain %p", (text, expected) => {
  expect(domainIn(text)).toBe(expected);
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
