/**
 * Helper: a name server, and mail servers that share one port, as they share port 25. Says
 * `{port, dns}`; at the end of its input `{counts, arrivals}`, host by host.
 */

import { Type } from "@sinclair/typebox";
import { startDns, type TestRecords } from "../../test/support/dns-server.ts";
import { type Sink, startSink } from "../../test/support/smtp-sink.ts";
import { parse } from "./children.ts";

const Settings = Type.Object({
  /** Domain → its mail hosts' addresses by name. */
  domains: Type.Record(Type.String(), Type.String()),
  hosts: Type.Record(
    Type.String(),
    Type.Object({ address: Type.String(), answerAfterMs: Type.Number() }),
  ),
  /** When each message came, in milliseconds; else only how many. */
  withTimes: Type.Boolean(),
});

const { domains, hosts, withTimes } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const records: Record<string, TestRecords> = {};
for (const [domain, host] of Object.entries(domains)) records[domain] = { MX: [`10 ${host}`] };
const sinks: Sink[] = [];
const arrivals: number[][] = [];
for (const [name, { address, answerAfterMs }] of Object.entries(hosts)) {
  records[name] = { A: [address] };
  const moments: number[] = [];
  arrivals.push(moments);
  const [first] = sinks;
  sinks.push(
    await startSink({
      address,
      answerAfterMs,
      countOnly: !withTimes,
      onMessage: () => void moments.push(performance.timeOrigin + performance.now()),
      ...(first === undefined ? {} : { port: first.port }),
    }),
  );
}
const dns = await startDns({ records });
const [first] = sinks;
console.log(JSON.stringify({ port: first?.port, dns: `127.0.0.1:${dns.server.port}` }));
for await (const _ of process.stdin);
console.log(JSON.stringify({ counts: sinks.map(({ counts }) => counts.messages), arrivals }));
process.exit(0);
