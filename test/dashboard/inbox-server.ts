/** A server that catches mail, and pages of its inbox, signed in by the link of `mailstead dev`. */

import { createTransport } from "nodemailer";
import type Mail from "nodemailer/lib/mailer";
import type { Browser, Page } from "playwright-core";
import { type Layout, openPage, startDashboard } from "../support/browser.ts";
import { listAt, stringAt, valueAt } from "../support/json.ts";

export type InboxServer = Awaited<ReturnType<typeof startInbox>>;

export async function startInbox(words: readonly string[] = []) {
  const server = await startDashboard(words);
  const smtp = new URL(`smtp://${stringAt(server.info, "smtp")}`);
  const address = { host: smtp.hostname, port: Number(smtp.port), ignoreTLS: true };
  // The link signs in once; its session serves all pages of a test.
  const link = new URL(stringAt(server.info, "dashboard"));
  const cookie = await signIn(server.url, link.hash.slice(1));
  const state = await read(server.url, "/app/api/state", cookie);
  const project = stringAt(listAt(state, "data.projects")[0], "id");

  return {
    ...server,
    smtp: address,
    project,
    cookie,

    /** Sends mails on one connection, in their order. */
    async mail(mails: readonly Mail.Options[], auth?: { user: string; pass: string }) {
      const transport = createTransport({
        ...address,
        pool: true,
        maxConnections: 1,
        ...(auth === undefined ? {} : { auth }),
      });
      for (const fields of mails) {
        await transport.sendMail({
          from: "Shop <shop@example.com>",
          to: "ada@example.com",
          subject: "Hello",
          text: "Hello Ada",
          ...fields,
        });
      }
      transport.close();
    },

    /** A request to the interface, which needs no key from this machine. */
    async call(method: string, path: string, body?: object): Promise<unknown> {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${server.secretKey}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      return response.status === 204 ? null : response.json();
    },
  };
}

async function signIn(url: string, token: string): Promise<string> {
  const response = await fetch(`${url}/app/api/link`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      origin: url,
      "x-requested-with": "mailstead",
    },
    body: JSON.stringify({ token }),
  });
  const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";");
  if (!response.ok || cookie === "") throw new Error(await response.text());
  return cookie;
}

async function read(url: string, path: string, cookie: string): Promise<unknown> {
  return (await fetch(`${url}${path}`, { headers: { cookie } })).json();
}

type Options = { layout?: Layout; prepare?: (page: Page) => Promise<void> };

/** Opens the inbox, with a path such as `?q=to%3Aada` or `/signup-test` behind it. */
export function openInbox(browser: Browser, server: InboxServer, path = "", options: Options = {}) {
  const { prepare, layout = "light" } = options;
  const [name = "", value = ""] = server.cookie.split("=");
  return openPage(browser, `${server.url}/app/p/${server.project}/inboxes${path}`, {
    layout,
    prepare: async (page) => {
      await page.context().addCookies([{ name, value, url: server.url }]);
      await prepare?.(page);
    },
  });
}

/** The value of an inbox's member, such as `password`. */
export async function inboxValue(server: InboxServer, inbox: string, name: string) {
  return String(valueAt(await server.call("GET", `/inboxes/${inbox}`), `data.${name}`));
}
