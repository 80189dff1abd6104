/**
 * A small internet on loopback: a name server, and mail servers on addresses of their own that share
 * one port, as port 25 is shared. A transport for it is made with `transport`.
 */

import { createDns, type Dns } from "../../src/lib/dns/client.ts";
import { silentLog } from "../../src/lib/log.ts";
import {
  directTransport,
  type DirectOptions,
  type DirectTransport,
} from "../../src/delivery/transports/direct.ts";
import { manualClock, type ManualClock } from "./clock.ts";
import { startDns, type TestDns, type TestDnsOptions } from "./dns-server.ts";
import { startScript, type ScriptOptions, type ScriptServer } from "./smtp-script.ts";
import { startSink, type Sink, type SinkOptions } from "./smtp-sink.ts";

export type MailNet = {
  /** The one port of all mail servers. */
  port: number;
  clock: ManualClock;
  server: TestDns;
  dns: Dns;
  /** Another client of the name server: an application closes its own when it stops. */
  resolver(): Dns;
  /** A mail server at 127.0.0.<host>. */
  script(host: number, options?: ScriptOptions): Promise<ScriptServer>;
  /** The same at any address of this machine. */
  scriptAt(address: string, options?: ScriptOptions): Promise<ScriptServer>;
  sink(host: number, options?: SinkOptions): Promise<Sink>;
  transport(options?: Partial<DirectOptions>): DirectTransport;
  close(): Promise<void>;
};

export type MailNetOptions = TestDnsOptions & {
  /** How long the name server is waited for: short where it is silent, long where it is only slow. */
  dnsTimeoutMs?: number;
};

export async function startMailNet(options: MailNetOptions = {}): Promise<MailNet> {
  const clock = manualClock();
  const server = await startDns(options);
  const resolver = (): Dns =>
    createDns({
      servers: [server.server],
      clock,
      timeoutMs: options.dnsTimeoutMs ?? 1_000,
      tries: 1,
    });
  const dns = resolver();
  // Holds the port, on an address that is nobody else's.
  const keeper = await startScript({ address: "127.0.0.253" });
  const { port } = keeper;
  const closers: (() => Promise<void>)[] = [];
  const keep = <Closable extends { close(): Promise<void> }>(part: Closable): Closable => {
    closers.push(() => part.close());
    return part;
  };
  return {
    port,
    clock,
    server,
    dns,
    resolver,
    script: async (host, script = {}) =>
      keep(await startScript({ ...script, address: `127.0.0.${host}`, port })),
    scriptAt: async (address, script = {}) => keep(await startScript({ ...script, address, port })),
    sink: async (host, sink = {}) =>
      keep(await startSink({ ...sink, address: `127.0.0.${host}`, port })),
    transport: (direct = {}) =>
      keep(
        directTransport({
          dns,
          hostname: "sender.test",
          clock,
          log: silentLog,
          port,
          allowPrivateAddresses: true,
          ...direct,
        }),
      ),
    close: async () => {
      for (const close of closers.toReversed()) await close();
      dns.close();
      await server.close();
      await keeper.close();
    },
  };
}
