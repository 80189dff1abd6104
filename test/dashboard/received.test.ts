/** Received mail and inbound routes, with a server that receives mail of other servers. */

import { afterAll, describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { freePort } from "../../scripts/bench/children.ts";
import { hasChromium } from "../support/browser.ts";
import { openData } from "../support/dashboard-server.ts";
import { startDnsServer, type TestDns } from "../support/dns-server.ts";
import { expectSoon } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { rawSmtp, sendRaw } from "../support/smtp-client.ts";
import { openAs, type PeopledServer, startWithPeople, statusOf } from "./people.ts";

let dns: TestDns;
let server: PeopledServer;
let port: number;

beforePages(async () => {
  dns = await startDnsServer({ ttlSeconds: 0, negativeSeconds: 0 });
  port = freePort();
  server = await startWithPeople([
    `--dns=127.0.0.1:${dns.server.port}`,
    "--allow-private-addresses",
    "--hostname=mx.host.example",
    `--inbound=127.0.0.1:${port}`,
  ]);
  await server.call("POST", "/domains", { domain: "acme.example" });
  using db = openData(server);
  db.run("UPDATE domains SET status = 'VERIFIED' WHERE domain = 'acme.example'");
});
afterAll(async () => {
  if (hasChromium) await Promise.all([server.stop(), dns.close()]);
});

/** Sends a message to the server, as another mail server does. */
async function deliver(lines: readonly string[]): Promise<void> {
  const client = await rawSmtp(port);
  await client.say("EHLO mx.example.net\r\n");
  const to = ["support@in.acme.example"];
  const reply = await sendRaw(client, Buffer.from(lines.join("\r\n")), {
    from: "ada@example.net",
    to,
  });
  expect(reply).toBe("250 2.0.0 Ok: received");
  client.end();
}

const HEAD = ["From: Ada <ada@example.net>", "To: support@in.acme.example"];
const WITH_FILE = [
  ...HEAD,
  "Subject: <b>Order</b>",
  "MIME-Version: 1.0",
  'Content-Type: multipart/mixed; boundary="x"',
  "",
  "--x",
  "Content-Type: text/html",
  "",
  "<script>document.title='bad'</script><p>The <b>cover</b> is torn</p>",
  "--x",
  "Content-Type: text/csv",
  'Content-Disposition: attachment; filename="order.csv"',
  "",
  "id,total",
  "--x--",
];

const rows = (page: Page) => page.locator("[data-row]");
const dialog = (page: Page, name: string) => page.getByRole("dialog", { name });
const tab = (page: Page, name: string) =>
  dialog(page, "Received mail").getByRole("link", { name, exact: true });

describe("the pages of received mail", () => {
  pageTest(
    "an admin adds a route by keyboard, gets a mail live, reads and deletes it, and removes the route",
    async () => {
      const { page, problems, close } = await openAs(server, "/received", { isLive: true });
      await page.getByText("No inbound routes yet").waitFor();
      await page.locator(".empty").getByRole("link", { name: "Add a route" }).click();
      const add = dialog(page, "Add a route");
      await add.getByText("MX 10 mx.host.example.").waitFor();
      await page.keyboard.type("no address");
      await page.keyboard.press("Enter");
      await add.getByLabel("Address").and(page.locator("[aria-invalid=true]")).waitFor();
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type("support@in.acme.example");
      await page.keyboard.press("Enter");
      await add.getByText("does not come to this server first").waitFor();
      await add.getByText("in.acme.example. MX 10 mx.host.example.").waitFor();
      dns.records["in.acme.example"] = { MX: ["10 mx.host.example"] };
      await add.getByRole("radio", { name: "The same" }).check();
      await add.getByLabel("Forward to").fill("support@in.acme.example");
      await page.keyboard.press("Enter");
      await add.getByText("must not have an inbound route itself").waitFor();
      await add.getByRole("radio", { name: "It is listed here" }).check();
      await add.getByRole("button", { name: "Add the route" }).click();
      await rows(page).getByText("Listed, with the event email.received").waitFor();

      await page.getByRole("link", { name: "Mails", exact: true }).click();
      await page.getByText("No mail received yet").waitFor();
      await deliver(WITH_FILE);
      await rows(page).getByText("<b>Order</b>").waitFor();
      await deliver([...HEAD, "Subject: Second", "", "Hello"]);
      await page.getByRole("button", { name: "1 new" }).click();
      await expectSoon(() => rows(page).count(), 2);

      await rows(page).filter({ hasText: "Order" }).getByRole("link").click();
      const drawer = dialog(page, "Received mail");
      const shown = drawer.frameLocator("iframe");
      await shown.getByText("The cover is torn").waitFor();
      await tab(page, "Attachments 1").click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        drawer.getByRole("link", { name: "Download order.csv" }).click(),
      ]);
      expect(download.suggestedFilename()).toBe("order.csv");
      expect(readFileSync(await download.path(), "utf8").trim()).toBe("id,total");
      await tab(page, "Sender").click();
      await drawer.getByText("DMARC", { exact: true }).waitFor();
      await tab(page, "Headers").click();
      await drawer.getByRole("region", { name: "Headers" }).getByText("Ada").waitFor();
      await tab(page, "Source").click();
      await drawer.getByRole("region", { name: "Source" }).getByText("--x--").waitFor();
      expect(new URL(page.url()).searchParams.get("tab")).toBe("source");
      await page.keyboard.press("k");
      await drawer.getByRole("heading", { name: "Second" }).waitFor();
      await page.keyboard.press("j");
      await drawer.getByRole("heading", { name: "<b>Order</b>" }).waitFor();

      await page.keyboard.press("#");
      const question = dialog(page, "Delete this mail?");
      await question.getByRole("button", { name: "Delete the mail" }).click();
      await drawer.waitFor({ state: "detached" });
      await expectSoon(() => rows(page).count(), 1);
      expect(new URL(page.url()).search).toBe("");

      await page.getByRole("link", { name: "Routes", exact: true }).click();
      await page.getByRole("button", { name: "Remove the route for support@" }).click();
      await dialog(page, "Remove this route?")
        .getByRole("button", { name: "Remove the route" })
        .click();
      await page.getByText("No inbound routes yet").waitFor();
      expect(listAt(await server.call("GET", "/inbound-routes"), "data.items")).toEqual([]);
      const expected = /status of (409|422)/;
      expect(problems.filter((problem) => !expected.test(problem))).toEqual([]);
      await close();
    },
  );

  pageTest("an editor reads mails and changes no routes, and a viewer sees neither", async () => {
    const editor = await openAs(server, "/received/routes", { person: "editor" });
    await editor.page.getByText("An admin adds the first one.").waitFor();
    expect(await editor.page.getByRole("button", { name: "Add a route" }).count()).toBe(0);
    await editor.page.getByRole("link", { name: "Mails", exact: true }).click();
    await rows(editor.page).first().waitFor();
    expect(editor.problems).toEqual([]);
    await editor.close();

    const viewer = await openAs(server, "/received", { person: "viewer" });
    await viewer.page.getByText("This page is for editors and admins").waitFor();
    const side = viewer.page.getByRole("navigation", { name: "Pages" });
    expect(await side.getByRole("link", { name: "Received" }).count()).toBe(0);
    expect(viewer.problems).toEqual([]);
    await viewer.close();
    const [mail] = listAt(await server.call("GET", "/received-mails"), "data.items");
    const path = `/received-mails/${stringAt(mail, "id")}/preview`;
    expect(await statusOf(server, "viewer", ["GET", path])).toBe(403);
  });
});
