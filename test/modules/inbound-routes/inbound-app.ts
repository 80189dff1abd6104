/** A server that receives mail for `in.acme.test`, with a DNS server on loopback. */

import { systemClock } from "../../../src/lib/clock.ts";
import { createDns } from "../../../src/protocols/dns/client.ts";
import type { TestOptions } from "../../support/app.ts";
import { manualClock } from "../../support/clock.ts";
import { startDnsServer } from "../../support/dns-server.ts";
import { rawSmtp, sendRaw } from "../../support/smtp-client.ts";
import { bounceApp } from "../bounces/reports.ts";
import { inboundPort } from "../../../src/smtp/inbound-module.ts";

export type InboundApp = Awaited<ReturnType<typeof inboundApp>>;

export const MX = { MX: ["10 sender.test"] };
export const INBOUND = { inbound: { host: "127.0.0.1", port: 0 } };

export async function inboundApp(options: TestOptions = {}) {
  const server = await startDnsServer({
    records: { "in.acme.test": MX, "acme.test": { MX: ["10 elsewhere.test"] } },
  });
  const clock = options.clock ?? manualClock();
  const dns = createDns({ servers: [server.server], clock: systemClock, queryClock: clock });
  const t = await bounceApp({ clock, dns, ...options, config: { ...INBOUND, ...options.config } });

  return {
    ...t,
    server,

    start: () => t.deliver(),

    /** Adds a route and returns its id. */
    route: (address: string, forward?: string): Promise<string> =>
      t.create(
        "/inbound-routes",
        { address, action: forward === undefined ? { webhook: true } : { forward } },
        "data.id",
      ),

    /** Sends a message over SMTP, and returns the replies to each RCPT and to the final dot. */
    async submit(
      message: string | Uint8Array,
      { from = "ada@example.net", to }: { from?: string; to: readonly string[] },
    ): Promise<{ rcpt: string[]; dot: string }> {
      const bytes = Buffer.from(message);
      // The client adds the last line end.
      const body = bytes.subarray(0, bytes.length - (bytes.toString().endsWith("\r\n") ? 2 : 0));
      const client = await rawSmtp(inboundPort(t.app.app).value ?? 0);
      await client.say("EHLO mx.example.net\r\n");
      await client.say(`MAIL FROM:<${from}>\r\n`);
      const rcpt: string[] = [];
      for (const address of to) rcpt.push(await client.say(`RCPT TO:<${address}>\r\n`));
      client.write("RSET\r\n");
      await client.reply();
      const accepted = to.filter((_, i) => rcpt[i]?.startsWith("250") === true);
      const dot =
        accepted.length === 0 ? "" : await sendRaw(client, body, { from, to: [...accepted] });
      client.end();
      return { rcpt, dot };
    },

    /** The data of all events `email.received`, oldest first. */
    received: (): unknown[] =>
      t.db.sqlite
        .query<{ data: string }, []>(
          "SELECT data FROM events WHERE name = 'email.received' ORDER BY seq",
        )
        .all()
        .map(({ data }) => JSON.parse(data)),

    async close(): Promise<void> {
      await t.close();
      dns.close();
      await server.close();
    },
  };
}

/** A message with CRLF line ends. */
export function mail(lines: readonly string[], body = "Hello"): string {
  return [...lines, "", body, ""].join("\n").replace(/\r?\n/g, "\r\n");
}
