/**
 * Helper: sends messages over SMTP on kept-open connections, one at a time on each. Prints
 * `{startedAt, endedAt, p50, p99, max}`: the times in epoch milliseconds, and the milliseconds from
 * the final dot to its 250.
 */

import { Type } from "@sinclair/typebox";
import { messageOf } from "./capture-messages.ts";
import { parse } from "./children.ts";
import { quantile } from "./report.ts";
import { connectSmtp } from "./smtp-client.ts";

const Settings = Type.Object({
  port: Type.Number(),
  connections: Type.Number(),
  messages: Type.Number(),
  kind: Type.Union([Type.Literal("text"), Type.Literal("mix")]),
  run: Type.String(),
  /** As fast as possible without it. */
  perSecond: Type.Optional(Type.Number()),
  /** Password of AUTH; without one the client does not authenticate. */
  password: Type.Optional(Type.String()),
});

const settings = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const { port, messages, kind, run, perSecond = Infinity } = settings;
const now = () => performance.timeOrigin + performance.now();
const answers: number[] = [];
let next = 0;

const clients = await Promise.all(
  Array.from({ length: settings.connections }, () => connectSmtp(port, settings.password)),
);
const startedAt = now();
await Promise.all(
  clients.map(async (client) => {
    while (next < messages) {
      const number = next++;
      const message = messageOf(kind, number, run);
      const waitMs = startedAt + (number * 1000) / perSecond - now();
      if (waitMs > 0) await Bun.sleep(waitMs);
      await client.begin({ from: "orders@shop.test", to: `person-${number}@example.net` });
      const dotAt = performance.now();
      await client.finish(message);
      answers.push(performance.now() - dotAt);
    }
  }),
);
const endedAt = now();
const [p50, p99, max] = [0.5, 0.99, 1].map((q) => quantile(answers, q));
console.log(JSON.stringify({ startedAt, endedAt, p50, p99, max }));
process.exit(0);
