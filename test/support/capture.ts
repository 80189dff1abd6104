/** A server that catches mail over SMTP, for tests. */

import { type TestOptions, testApp } from "./app.ts";
import { rawSmtp } from "./smtp-client.ts";
import { inboxParts } from "./inbox-parts.ts";
import { capturePort } from "../../src/modules/accounts/state.ts";

export async function captureApp(options: TestOptions = {}) {
  const test = await testApp({
    ...options,
    config: {
      captureSmtp: { host: "127.0.0.1", port: 0 },
      captureMaxMessages: 0,
      ...options.config,
    },
  });
  await test.start();
  const inboxes = inboxParts(test.app.app);
  const port = capturePort(test.app.app).value;
  if (port === null) throw new Error("the SMTP listener has no port");
  return {
    ...test,
    port,
    inboxes,

    /** Opens an SMTP connection and says EHLO. */
    async connect() {
      const client = await rawSmtp(port);
      await client.say("EHLO client.test\r\n");
      return client;
    },

    /** Waits until all messages are parsed, and returns those of the default inbox, newest first. */
    async caught() {
      await inboxes.indexer.caughtUp();
      const projectSeq = inboxes.inboxes.firstProject();
      const inbox = projectSeq === null ? null : inboxes.inboxes.find(projectSeq, "default");
      return inbox === null ? [] : inboxes.store.page(inbox.seq, null, 100);
    },
  };
}
