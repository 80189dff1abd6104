/** Refusals as real servers and relays give them, each over the whole application. */

import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import path from "node:path";
import { relayTransport } from "../../src/outbox/transports/relay.ts";
import { silentLog } from "../../src/lib/log.ts";
import { testApp } from "../support/app.ts";
import { manualClock } from "../support/clock.ts";
import { waitUntil } from "../support/eventually.ts";
import { type Action, type Script, startScript } from "../support/smtp-script.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** The last line of a file of this folder, as the server sends it. */
function replyIn(file: string): Action {
  const lines = readFileSync(path.join(import.meta.dir, file), "utf8").trim().split("\n");
  return { raw: `${lines.at(-1)}\r\n` };
}

/** An application that sends over a server with this behaviour. */
async function setUp(script: Script) {
  const server = await startScript({ script });
  closers.push(() => server.close());
  const clock = manualClock();
  const transport = relayTransport({
    relay: { host: "127.0.0.1", tls: "none", port: server.port },
    hostname: "sender.test",
    concurrency: 1,
    clock,
    log: silentLog,
  });
  const t = await testApp({ transport, clock });
  closers.push(() => t.close());
  await t.start();

  return {
    t,
    clock,
    server,
    async send(to: string): Promise<string> {
      const mail = { from: "hello@acme.test", subject: "Hi", body: "<p>Hello</p>" };
      return (await t.call("POST", "/v1/send", { ...mail, to })).text("data.emails.0.email");
    },
    status: async (id: string) => (await t.call("GET", `/emails/${id}`)).text("data.status"),
    /** Reason of the address's suppression; undefined if it is not suppressed. */
    suppression: async (email: string) =>
      (await t.call("GET", `/suppressions?email=${email}`)).at("data.items.0.reason"),
  };
}

describe("an address that does not exist is suppressed", () => {
  test.each([
    ["no-such-user-571", "rcpt"],
    ["no-user-found", "rcpt"],
    ["not-in-recipient-list", "rcpt"],
    ["dbeb-541", "rcpt"],
    ["validrcptto", "rcpt"],
    ["yahoo-no-longer-valid", "dot"],
  ] as const)("%s", async (name, step) => {
    const { t, send, status, suppression } = await setUp({
      [step]: replyIn(`${name}/reply.txt`),
    });
    const id = await send("user@q.example");
    await waitUntil(() => t.countRows("attempts") === 1);
    expect(await status(id)).toBe("BOUNCED");
    expect(await suppression("user@q.example")).toBe("HARD_BOUNCE");
  });
});

describe("an address is not suppressed for a refusal of the message or of the host", () => {
  test("content-521-at-dot", async () => {
    const { t, send, status, suppression } = await setUp({
      dot: replyIn("content-521-at-dot/reply.txt"),
    });
    const id = await send("user@q.example");
    await waitUntil(() => t.countRows("attempts") === 1);
    expect(await status(id)).toBe("BOUNCED");
    expect(await suppression("user@q.example")).toBeUndefined();
  });
});
