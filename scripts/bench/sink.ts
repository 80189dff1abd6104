/** Helper: an SMTP server that takes everything. Says `{port}`; at the end of its input `{arrivals}`. */

import { Type } from "@sinclair/typebox";
import { startSink } from "../../test/support/smtp-sink.ts";
import { parse } from "./children.ts";

/** With times: when each message came, in milliseconds; else only how many. */
const Settings = Type.Object({ withTimes: Type.Boolean() });

const { withTimes } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const arrivals: number[] = [];
const sink = await startSink({
  countOnly: !withTimes,
  onMessage: () => void arrivals.push(performance.timeOrigin + performance.now()),
});
console.log(JSON.stringify({ port: sink.port }));
for await (const _ of process.stdin);
console.log(JSON.stringify({ count: sink.counts.messages, arrivals }));
await sink.close();
process.exit(0);
