/** A server as `mailstead dev` runs it, with callers of the send calls of other providers. */

import { type TestOptions, testApp, readResponse, type TestResponse } from "./app.ts";
import { inboxParts } from "./inbox-parts.ts";

export const BEARER = (key: string) => ({ authorization: `Bearer ${key}` });
export const TOKEN = (key: string) => ({ "x-postmark-server-token": key });
export const API_KEY = (key: string) => ({
  authorization: `Basic ${Buffer.from(`api:${key}`).toString("base64")}`,
});
export const SIGNATURE = (key: string) => ({
  authorization:
    `AWS4-HMAC-SHA256 Credential=${key}/20260101/eu-west-1/ses/aws4_request, ` +
    "SignedHeaders=host;x-amz-date, Signature=00",
});

type Call = { body: unknown; headers: Record<string, string> };
/** A message of an inbox: its source, its recipients, and the user who is shown with it. */
type Caught = { raw: string; to: unknown; username: string };

export async function providerApp(options: TestOptions = {}) {
  const test = await testApp({
    hasOpenInboxes: true,
    ...options,
    config: { port: 0, captureMaxMessages: 0, ...options.config },
  });
  const port = await test.app.listen();
  const { inboxes, store } = inboxParts(test.app.app);

  return {
    ...test,
    port,
    inboxes,

    /** Posts JSON, a form, or a text as it is, over a socket of this machine. */
    async post(path: string, { body, headers }: Call): Promise<TestResponse> {
      const isForm = body instanceof FormData || body instanceof URLSearchParams;
      const content = isForm || typeof body === "string" ? body : JSON.stringify(body);
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: "POST",
        headers: isForm ? headers : { "content-type": "application/json", ...headers },
        body: content,
      });
      return readResponse(response);
    },

    createInbox: (name: string) =>
      test.app.writer.write(inboxes.create(test.project.seq, { name })),

    /** The messages of an inbox, the oldest first. */
    caughtIn(name: string): Caught[] {
      const inbox = inboxes.find(test.project.seq, name);
      const page = inbox === null ? [] : store.page(inbox.seq, null, 1000);
      return page.toReversed().map(({ seq, envelope, username }) => {
        const parsed: unknown = JSON.parse(envelope);
        const to: unknown = Reflect.get(Object(parsed), "to");
        const addresses = Array.isArray(to)
          ? to.map((each) => Reflect.get(Object(each), "address"))
          : [];
        return { raw: Buffer.from(store.raw(seq)).toString(), to: addresses, username };
      });
    },
  };
}
