/** A server that catches mail, and pages of its inbox for the signed-in developer. */

import { createTransport } from "nodemailer";
import type Mail from "nodemailer/lib/mailer";
import type { Page } from "playwright-core";
import { type Layout, openPage } from "../support/browser.ts";
import { startDashboard } from "../support/dashboard-server.ts";
import { stringAt, valueAt } from "../support/json.ts";

export type InboxServer = Awaited<ReturnType<typeof startInbox>>;

export async function startInbox(words: readonly string[] = []) {
  const server = await startDashboard(words);
  const smtp = new URL(`smtp://${stringAt(server.info, "smtp")}`);
  const address = { host: smtp.hostname, port: Number(smtp.port), ignoreTLS: true };

  return {
    ...server,
    smtp: address,

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
  };
}

type Options = { layout?: Layout; prepare?: (page: Page) => Promise<void> };

/** Opens the inbox, with a path such as `?q=to%3Aada` or `/signup-test` behind it. */
export function openInbox(server: InboxServer, path = "", options: Options = {}) {
  const { url, project, cookie } = server;
  return openPage(`${url}/app/p/${project}/inboxes${path}`, { ...options, cookie });
}

/** The value of an inbox's member, such as `password`. */
export async function inboxValue(server: InboxServer, inbox: string, name: string) {
  return String(valueAt(await server.call("GET", `/inboxes/${inbox}`), `data.${name}`));
}
