/** The list of emails without emails, and when it cannot be read. */

import { describe, expect } from "bun:test";
import { openEmails, send, type Server } from "./email-server.ts";
import { expectNoFaults } from "./layouts.ts";
import { pageTest, beforePages } from "../support/page-test.ts";
import { newProject } from "../support/dashboard-server.ts";

let server: Server;

beforePages(async () => {
  server = await newProject();
});

describe("the list of emails of a new project", () => {
  pageTest("shows how to send the first email, in every layout", async () => {
    await expectNoFaults(await openEmails(server, "/emails"), {
      name: "emails-empty",
      isShown: (page) => page.getByText("No emails yet").waitFor(),
    });
  });

  pageTest("shows an error with its request id, and tries again", async () => {
    const body = {
      success: false,
      error: { code: "X", message: "The list is not available.", requestId: "r-1" },
    };
    const { page, close } = await openEmails(server, "/emails", {
      prepare: async (page) => {
        await page.route("**/app/api/live*", () => undefined);
        await page.route("**/emails?*", (route) => route.fulfill({ status: 500, json: body }));
      },
    });
    await page.getByText("The list is not available.").waitFor();
    await page.getByText("r-1").waitFor();
    await page.unroute("**/emails?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("No emails yet").waitFor();
    await close();
  });

  pageTest("shows the first email as soon as it is sent", async () => {
    const { page, problems, close } = await openEmails(server, "/emails");
    await page.getByText("No emails yet").waitFor();
    await page.getByRole("button", { name: "SMTP" }).click();
    await page.getByText(/Port +\d+/).waitFor();
    await send(server, [{ to: "ada@example.com", subject: "The first", body: "<p>Hello</p>" }]);
    await page.getByText("The first").waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});
