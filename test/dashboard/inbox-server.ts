/** Mail that a project catches over SMTP, and pages of its inbox for the signed-in developer. */

import { createTransport } from "nodemailer";
import type Mail from "nodemailer/lib/mailer";
import { openPage, type PageOptions } from "../support/browser.ts";
import type { DashboardProject } from "../support/dashboard-server.ts";
import { stringAt, valueAt } from "../support/json.ts";

/** The user of an inbox, whose mail it catches. */
type Login = { user: string; pass: string };

export type InboxProject = DashboardProject & {
  smtp: { host: string; port: number };
  /** Sends mails on one connection, in their order, by default to the default inbox. */
  mail(mails: readonly Mail.Options[], auth?: Login): Promise<void>;
};

export async function withInbox(project: DashboardProject): Promise<InboxProject> {
  const { hostname, port } = new URL(`smtp://${stringAt(project.info, "smtp")}`);
  const smtp = { host: hostname, port: Number(port) };
  const login = await inboxLogin(project, "default");
  return {
    ...project,
    smtp,
    async mail(mails, auth = login) {
      const transport = createTransport({
        ...smtp,
        ignoreTLS: true,
        pool: true,
        maxConnections: 1,
        maxMessages: Infinity,
        auth,
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

/** Opens the inbox, with a path such as `?q=to%3Aada` or `/signup-test` behind it. */
export function openInbox(
  server: DashboardProject,
  path = "",
  options: Pick<PageOptions, "layout" | "prepare"> = {},
) {
  const { url, project, cookie } = server;
  return openPage(`${url}/app/p/${project}/inboxes${path}`, { ...options, cookie });
}

export async function inboxLogin(project: DashboardProject, inbox: string): Promise<Login> {
  const answer = await project.call("GET", `/inboxes/${inbox}`);
  return { user: stringAt(answer, "data.username"), pass: stringAt(answer, "data.password") };
}

/** The number of messages in the default inbox. */
export async function totalOf(project: DashboardProject): Promise<number> {
  return Number(
    valueAt(await project.call("GET", "/inboxes/default/messages?limit=1"), "data.total"),
  );
}
