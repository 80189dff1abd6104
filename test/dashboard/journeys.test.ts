/** The journeys of a developer through `mailstead dev`: the printed address, and mails that appear. */

import { afterAll, describe, expect } from "bun:test";
import { createTransport } from "nodemailer";
import type { Page } from "playwright-core";
import { hasChromium, openPage } from "../support/browser.ts";
import { type Running, startMailstead } from "../support/cli.ts";
import { waitUntilRead } from "../support/eventually.ts";
import { stringAt } from "../support/json.ts";
import { beforePages, pageTest } from "../support/page-test.ts";
import { addScript } from "../support/tabs.ts";

let server: Running;
let dashboard: string;
let smtp: URL;
let cookie = "";

beforePages(async () => {
  server = await startMailstead(
    ["dev", "--json", "--data", "temporary", "--port", "0", "--capture-smtp", "127.0.0.1:0"],
    (greeting) => greeting.endsWith("}\n"),
  );
  const info: unknown = JSON.parse(server.greeting);
  dashboard = stringAt(info, "dashboard");
  smtp = new URL(`smtp://${stringAt(info, "smtp")}`);
});
afterAll(async () => {
  if (!hasChromium) return;
  await server.stop();
});

async function sendMail(subject: string, text = "Hello Ada", name = "Ada"): Promise<void> {
  const transport = createTransport({ host: smtp.hostname, port: Number(smtp.port) });
  const to = { name, address: "ada@example.com" };
  await transport.sendMail({ from: "shop@example.com", to, subject, text });
  transport.close();
}

const open = (prepare: (page: Page) => Promise<void>) =>
  openPage(`${new URL(dashboard).origin}/app`, { cookie, prepare });
const heading = (page: Page, name: string) =>
  page.getByRole("heading", { level: 1, name }).waitFor();
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const row = (page: Page, subject: string) => page.locator(".inbox-row", { hasText: subject });

describe("mailstead dev", () => {
  pageTest("its address signs in; the first mail appears and long ones fit", async () => {
    const opened = await openPage(dashboard);
    const { page, problems } = opened;
    await heading(page, "Inbox");
    expect(new URL(page.url()).pathname).toMatch(/^\/app\/p\/[^/]+\/inboxes$/);
    const [session] = await page.context().cookies();
    cookie = `${session?.name}=${session?.value}`;
    await page.getByRole("heading", { name: "Send a mail and it appears here" }).waitFor();
    for (const language of ["curl", "Python", "PHP", "TypeScript"]) {
      await press(page, language);
      await page.locator(".code pre", { hasText: smtp.port }).waitFor();
    }
    await page.evaluate("window.isSameDocument = true");
    await sendMail("Your sign-in code", "Your code is 482913.");
    await row(page, "Your sign-in code").click();
    await page.getByRole("button", { name: "Copy the code 482913" }).waitFor();

    // Subjects and names of 10,000 characters, in any direction.
    const long = "0123456789".repeat(1_000);
    const arabic = "مرحبا ".repeat(200);
    const faces = "👩‍👩‍👧‍👦".repeat(300);
    await sendMail(`Long ${long}`, "Hello", long);
    await sendMail(`Arabic ${arabic}`, arabic, arabic);
    await sendMail(`Faces ${faces}`, faces, faces);
    await row(page, "Faces").waitFor();
    for (const layout of ["light", "phone"] as const) {
      await opened.setLayout(layout);
      for (const subject of ["Long", "Arabic", "Faces"]) {
        if (layout === "phone") await press(page, "Back to the list");
        await row(page, subject).click();
        await page.getByRole("article").getByRole("heading", { name: subject }).waitFor();
        expect([layout, subject, await opened.overflowPx()]).toEqual([layout, subject, 0]);
      }
    }
    await press(page, "Back to the list");
    expect(await opened.overflowPx()).toBe(0);
    expect(await page.evaluate("window.isSameDocument")).toBe(true);
    expect(problems).toEqual([]);

    await opened.close();
  });

  pageTest(
    "another browser signs in by the address, and by the page of a mail in the log",
    async () => {
      await sendMail("Named in the log");
      const logged = () =>
        server
          .log()
          .split("\n")
          .find((line) => line.includes("Named in the log"));
      await waitUntilRead(async () => logged() !== undefined);
      const opened = await openPage(stringAt(JSON.parse(logged() ?? "{}"), "see"));
      const { page, problems } = opened;
      await page.getByRole("article").getByRole("heading", { name: "Named in the log" }).waitFor();
      await page.context().clearCookies();
      await page.goto(dashboard);
      await heading(page, "Inbox");
      await page.goto(`${dashboard}app/login`);
      await heading(page, "Sign in");
      await page.context().clearCookies();
      await page.getByRole("link", { name: "Sign in as the developer" }).click();
      await heading(page, "Inbox");
      expect(problems).toEqual([]);
      await opened.close();
    },
  );

  pageTest("a computer whose clock is wrong shows how long ago a message arrived", async () => {
    await sendMail("Sent at this moment");
    const { page, close } = await open((opened) => addScript(opened, TWO_DAYS_FAST));
    await row(page, "Sent at this moment").getByText("just now").waitFor();
    await close();
  });
});

const TWO_DAYS_FAST = `{
  const { now } = Date;
  Date.now = () => now() + 2 * 24 * 3_600_000;
}`;
