/** A server that takes mail for sending over SMTP, and what left it, for tests. */

import { type TestOptions, testApp } from "./app.ts";
import { waitUntil } from "./eventually.ts";
import { type RawSmtp, rawSmtp } from "./smtp-client.ts";
import { submissionPorts } from "../../src/smtp/submission-module.ts";

export async function submissionApp(options: TestOptions = {}) {
  const test = await testApp({
    ...options,
    config: { submission: { host: "127.0.0.1", port: 0 }, ...options.config },
  });
  await test.start();
  const port = submissionPorts(test.app.app).submission ?? 0;

  /** Opens a session and says EHLO. */
  async function connect(): Promise<RawSmtp> {
    const client = await rawSmtp(port);
    await client.say("EHLO client.test\r\n");
    return client;
  }

  return {
    ...test,
    port,
    ports: () => submissionPorts(test.app.app),
    connect,

    /** Opens a session with AUTH PLAIN. */
    async signIn(key: string = test.secretKey): Promise<RawSmtp> {
      const client = await connect();
      const reply = await client.say(`AUTH PLAIN ${plain(key)}\r\n`);
      if (!reply.startsWith("235 ")) throw new Error(reply);
      return client;
    },

    /** Waits until mail has left, and returns the bytes of the captured messages, oldest first. */
    async sent(count: number): Promise<string[]> {
      const select = test.db.sqlite.query<{ raw: Uint8Array }, []>(
        "SELECT raw FROM captured_messages ORDER BY email_seq",
      );
      await waitUntil(() => select.all().length >= count);
      return select.all().map(({ raw }) => Buffer.from(raw).toString("latin1"));
    },
  };
}

export function plain(key: string, user = "any"): string {
  return Buffer.from(`\0${user}\0${key}`).toString("base64");
}
