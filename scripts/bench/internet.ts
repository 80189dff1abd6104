/**
 * Helper: a name server, and mail servers on different addresses that all listen on one port, as
 * real ones do on port 25. Prints `{port, dns}`, and `{counts, arrivals}` by host when its standard
 * input is closed.
 */

import { Type } from "@sinclair/typebox";
import { startDnsServer, type TestRecords } from "../../test/support/dns-server.ts";
import { type Sink, startSink } from "../../test/support/smtp-sink.ts";
import { parse } from "./children.ts";

const Settings = Type.Object({
  /** Name of the mail host of each domain. */
  domains: Type.Record(Type.String(), Type.String()),
  hosts: Type.Record(
    Type.String(),
    Type.Object({ address: Type.String(), answerAfterMs: Type.Number() }),
  ),
  /** Whether to record the arrival time of each message, in epoch milliseconds, or only to count. */
  withTimes: Type.Boolean(),
});

const { domains, hosts, withTimes } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const records: Record<string, TestRecords> = {};
for (const [domain, host] of Object.entries(domains)) records[domain] = { MX: [`10 ${host}`] };
const sinks: Sink[] = [];
const arrivals: number[][] = [];
for (const [name, { address, answerAfterMs }] of Object.entries(hosts)) {
  records[name] = { A: [address] };
  const arrivalTimes: number[] = [];
  arrivals.push(arrivalTimes);
  const [first] = sinks;
  sinks.push(
    await startSink({
      address,
      answerAfterMs,
      countOnly: !withTimes,
      onMessage: () => void arrivalTimes.push(performance.timeOrigin + performance.now()),
      ...(first === undefined ? {} : { port: first.port }),
    }),
  );
}
const dns = await startDnsServer({ records });
const [first] = sinks;
console.log(JSON.stringify({ port: first?.port, dns: `127.0.0.1:${dns.server.port}` }));
for await (const _ of process.stdin);
console.log(JSON.stringify({ counts: sinks.map(({ counts }) => counts.messages), arrivals }));
process.exit(0);
