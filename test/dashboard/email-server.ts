/** Mails of a server, and pages of its dashboard for the tests of emails. */

import type { Page } from "playwright-core";
import { type Layout, openPage } from "../support/browser.ts";
import { type Dashboard } from "../support/dashboard-server.ts";
import { listAt, stringAt } from "../support/json.ts";

export type Server = Pick<Dashboard, "url" | "secretKey" | "cookie" | "project">;

export type Mail = { to: string; subject: string; body: string };

/** Sends mails through the interface and returns their ids. */
export async function send(server: Server, mails: readonly Mail[]): Promise<string[]> {
  const ids: string[] = [];
  for (const mail of mails) {
    const response = await fetch(`${server.url}/v1/send`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.secretKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ from: "orders@acme.example", ...mail }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    ids.push(...listAt(answer, "data.emails").map((sent) => stringAt(sent, "email")));
  }
  return ids;
}

type Options = { layout?: Layout; prepare?: (page: Page) => Promise<void> };

/** Opens a page of the project as its user, such as `/emails?status=sent`. */
export function openEmails(server: Server, path: string, options: Options = {}) {
  const { layout = "light", prepare } = options;
  return openPage(`${server.url}/app/p/${server.project}${path}`, {
    layout,
    cookie: server.cookie,
    ...(prepare === undefined ? {} : { prepare }),
  });
}
