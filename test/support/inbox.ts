/** A server that catches mail, with functions that send mail to it by nodemailer. */

import { afterAll } from "bun:test";
import { createTransport } from "nodemailer";
import type Mail from "nodemailer/lib/mailer";
import { captureApp } from "./capture.ts";
import type { TestOptions } from "./app.ts";
import { listAt, stringAt } from "./json.ts";
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

/**
 * One server for all tests of a file. `next` returns it with an empty default inbox and no others. Its
 * clock goes on from test to test.
 */
export function emptyInboxes(options: TestOptions = {}) {
  let shared: InboxApp | null = null;

  afterAll(async () => {
    await shared?.close();
    shared = null;
  });

  return {
    async next(): Promise<InboxApp> {
      if (shared === null) {
        shared = await inboxApp(options);
        return shared;
      }
      await shared.caught();
      const { body } = await shared.call("GET", "/inboxes");
      for (const inbox of listAt(body, "data")) {
        const path = `/inboxes/${stringAt(inbox, "id")}`;
        if (stringAt(inbox, "name") !== "default") await shared.call("DELETE", path);
        else await shared.call("DELETE", `${path}/messages`, { all: true });
      }
      return shared;
    },
  };
}

/** The refusal of one field. */
export function invalid(field: string, code: string): ExpectedError {
  return { status: 422, code: "VALIDATION_ERROR", errors: [[field, code]] };
}
