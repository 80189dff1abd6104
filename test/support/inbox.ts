/** A server that catches mail, with functions that send mail to it by nodemailer. */

import { createTransport } from "nodemailer";
import type Mail from "nodemailer/lib/mailer";
import { captureApp } from "./capture.ts";
import type { TestOptions } from "./app.ts";
import type { ExpectedError } from "./refusal.ts";

export type InboxApp = Awaited<ReturnType<typeof inboxApp>>;

export async function inboxApp(options: TestOptions = {}) {
  const test = await captureApp(options);

  return {
    ...test,

    /** Sends one mail on a connection of its own. Rejects if the server refuses it. */
    async mail(fields: Mail.Options = {}, auth?: { user: string; pass: string }): Promise<void> {
      const transport = createTransport({
        host: "127.0.0.1",
        port: test.port,
        secure: false,
        ignoreTLS: true,
        ...(auth === undefined ? {} : { auth }),
      });
      await transport.sendMail({
        from: "Shop <shop@example.com>",
        to: "ada@example.com",
        subject: "Hello",
        text: "Hello Ada",
        ...fields,
      });
      transport.close();
    },

    /** Creates an inbox and returns its id. */
    createInbox: (name: string): Promise<string> => test.create("/inboxes", { name }, "data.id"),
  };
}

/** The refusal of one field. */
export function invalid(field: string, code: string): ExpectedError {
  return { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] };
}
