/**
 * Helper: an SMTP server that accepts every mail. Prints `{port}`, and `{count, arrivals}` when its
 * standard input is closed.
 */

import { Type } from "@sinclair/typebox";
import { startSink } from "../../test/support/smtp-sink.ts";
import { parse } from "./children.ts";

/** `withTimes`: whether to record the arrival time of each message, in epoch milliseconds. */
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
