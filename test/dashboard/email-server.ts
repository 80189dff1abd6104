/** A server with mails, and pages of its dashboard for the tests of emails. */

import type { Browser, Page, Route } from "playwright-core";
import { type Layout, openPage, type startDashboard } from "../support/browser.ts";
import { waitUntil } from "../support/eventually.ts";
import { listAt, stringAt } from "../support/json.ts";
import { answerState, PROJECT } from "./answers.ts";

export type Server = Pick<Awaited<ReturnType<typeof startDashboard>>, "url" | "secretKey" | "stop">;

export type Mail = { to: string; subject: string; body: string };

/** Sends mails through the interface and returns their ids. */
export async function send(server: Server, mails: readonly Mail[]): Promise<string[]> {
  const ids: string[] = [];
  for (const mail of mails) {
    const response = await fetch(`${server.url}/v1/send`, {
      method: "POST",
      headers: authorization(server),
      body: JSON.stringify({ from: "orders@acme.example", ...mail }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    ids.push(...listAt(answer, "data.emails").map((sent) => stringAt(sent, "email")));
  }
  return ids;
}

const authorization = ({ secretKey }: Server) => ({
  authorization: `Bearer ${secretKey}`,
  "content-type": "application/json",
});

type Options = { layout?: Layout; state?: object; prepare?: (page: Page) => Promise<void> };

/** Opens a page below the project, such as `/emails?status=sent`. */
export function openEmails(browser: Browser, server: Server, path: string, options: Options = {}) {
  const { layout = "light", state, prepare } = options;
  return openPage(browser, `${server.url}/app/p/${PROJECT.id}${path}`, {
    layout,
    prepare: async (page) => {
      await page.setExtraHTTPHeaders({ authorization: `Bearer ${server.secretKey}` });
      await answerState(page, state);
      await prepare?.(page);
    },
  });
}

/** Answers the live stream of a page with messages when `announce` is called. */
export function liveStream() {
  const waiting: Route[] = [];
  return {
    prepare: async (page: Page) => {
      await page.route("**/app/api/live*", (route) => void waiting.push(route));
    },
    announce: async (messages: readonly { type: string; id: string }[]) => {
      const body = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("");
      // After each answer the page connects again.
      await waitUntil(() => waiting.length > 0);
      const open = waiting.splice(0);
      await Promise.all(
        open.map((route) => route.fulfill({ contentType: "text/event-stream", body })),
      );
    },
  };
}
