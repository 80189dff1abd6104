/** An application with Mailpit's interface, and a caller with the credentials of its inbox. */

import { type TestOptions, testApp } from "./app.ts";
import { readResponse, type TestResponse } from "./app.ts";
import { localEnvelope } from "../../src/modules/inboxes/envelope.ts";
import { inboxParts } from "./inbox-parts.ts";

type MailpitCall = { body?: unknown; raw?: string; headers?: Record<string, string> };

export async function mailpitApp(options: TestOptions = {}) {
  const test = await testApp({
    ...options,
    config: { mailpitApi: true, captureMaxMessages: 0, ...options.config },
  });
  const { inboxes, intake, indexer, store } = inboxParts(test.app.app);
  const inbox = await test.app.writer.write(() => inboxes.defaultOf(test.project.seq));
  const credentials = basic(inbox.name, inboxes.passwordOf(inbox));

  return {
    ...test,
    inbox,
    store,
    credentials,

    async mailpit(
      method: string,
      path: string,
      { body, raw, headers = {} }: MailpitCall = {},
    ): Promise<TestResponse> {
      const content = raw ?? (body === undefined ? null : JSON.stringify(body));
      const request = new Request(`http://localhost${path}`, {
        method,
        headers: { authorization: credentials, ...headers },
        body: content,
      });
      return readResponse(await test.app.handle(request));
    },

    /** Stores a raw message, and returns its id. */
    async deliver(
      raw: string,
      from = "ada@example.com",
      to = ["bob@example.com"],
    ): Promise<string> {
      const arrived = {
        inboxSeq: inbox.seq,
        envelope: localEnvelope(from, to),
        username: "",
        emailId: null,
      };
      const { id } = await intake.store(arrived, Buffer.from(raw.replace(/\r?\n/g, "\r\n")));
      await indexer.caughtUp();
      return id;
    },
  };
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}
