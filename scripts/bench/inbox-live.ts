/**
 * Helper: many clients that read the live events of an inbox while messages arrive at a fixed rate.
 * Prints `{received, seconds, p50, p99, max}`: the number of events that all clients got, the time in
 * which the messages were sent, and the times from
 * the 250 of a message to its event at each client, in milliseconds.
 */

import { Type } from "@sinclair/typebox";
import { messageOf, subjectOf } from "./capture-messages.ts";
import { parse } from "./children.ts";
import { quantile } from "./report.ts";
import { connectSmtp } from "./smtp-client.ts";

const Settings = Type.Object({
  port: Type.Number(),
  smtpPort: Type.Number(),
  authorization: Type.String(),
  clients: Type.Number(),
  perSecond: Type.Number(),
  messages: Type.Number(),
});

const SMTP_CONNECTIONS = 20;
const RUN = "live";
/** Longest wait for the last events. */
const LIMIT_MS = 10_000;
/** Longest part of a subject that is split between two reads. */
const MAX_SPLIT = 40;

const settings = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const { port, smtpPort, authorization, clients, perSecond, messages } = settings;
const SUBJECT = new RegExp(subjectOf(0, RUN).replace("0", String.raw`(\d+)`), "g");
const answeredAt = new Float64Array(messages);
const delays: number[] = [];

/** An event may be read before the 250, which another connection brings. */
function note(number: number, at: number): void {
  const since = answeredAt[number] ?? 0;
  delays.push(since === 0 ? 0 : Math.max(0, at - since));
}

const CONNECTED = Buffer.from(": connected");

async function openClient(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let kept = "";
  await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open(socket) {
        socket.write(
          `GET /inboxes/default/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`,
        );
      },
      data(_, chunk) {
        if (chunk.includes(CONNECTED)) resolve();
        const at = performance.now();
        const text = kept + chunk.toString("latin1");
        let end = 0;
        for (const match of text.matchAll(SUBJECT)) {
          note(Number(match[1]), at);
          end = match.index + match[0].length;
        }
        kept = text.slice(Math.max(end, text.length - MAX_SPLIT));
      },
      close: () => reject(new Error("an event stream was closed")),
      error: (_, error) => reject(error),
    },
  });
  await promise;
}

await Promise.all(Array.from({ length: clients }, openClient));
const senders = await Promise.all(
  Array.from({ length: SMTP_CONNECTIONS }, () => connectSmtp(smtpPort)),
);
const startedAt = performance.now();
let next = 0;
await Promise.all(
  senders.map(async (sender) => {
    while (next < messages) {
      const number = next++;
      const waitMs = startedAt + (number * 1000) / perSecond - performance.now();
      if (waitMs > 0) await Bun.sleep(waitMs);
      await sender.begin({ from: "orders@shop.test", to: `person-${number}@example.net` });
      await sender.finish(messageOf("text", number, RUN));
      answeredAt[number] = performance.now();
    }
  }),
);
const seconds = (performance.now() - startedAt) / 1000;
const deadline = performance.now() + LIMIT_MS;
while (delays.length < clients * messages && performance.now() < deadline) await Bun.sleep(20);
const [p50, p99, max] = [0.5, 0.99, 1].map((q) => quantile(delays, q));
console.log(JSON.stringify({ received: delays.length, seconds, p50, p99, max }));
process.exit(0);
