/**
 * A small mail network on loopback: a name server, and mail servers on different addresses that all
 * listen on one port, as real ones do on port 25. `transport` creates a transport for this network.
 */

import { createDns, type Dns } from "../../src/protocols/dns/client.ts";
import { silentLog } from "../../src/lib/log.ts";
import {
  directTransport,
  type DirectOptions,
  type DirectTransport,
} from "../../src/outbox/transports/direct.ts";
import { manualClock, type ManualClock } from "./clock.ts";
import { startDnsServer, type TestDns, type TestDnsOptions } from "./dns-server.ts";
import { startScript, type ScriptOptions, type ScriptServer } from "./smtp-script.ts";
import { startSink, type Sink, type SinkOptions } from "./smtp-sink.ts";

export type MailNet = {
  /** The port of all mail servers. */
  port: number;
  clock: ManualClock;
  server: TestDns;
  dns: Dns;
  /** Creates another DNS client, since an application closes its client when it stops. */
  resolver(): Dns;
  /** Starts a script server at 127.0.0.<host>. */
  script(host: number, options?: ScriptOptions): Promise<ScriptServer>;
  /** Starts a script server at any address of this machine. */
  scriptAt(address: string, options?: ScriptOptions): Promise<ScriptServer>;
  /** Starts a sink at 127.0.0.<host>. */
  sink(host: number, options?: SinkOptions): Promise<Sink>;
  transport(options?: Partial<DirectOptions>): DirectTransport;
  close(): Promise<void>;
};

export type MailNetOptions = TestDnsOptions & {
  /** Timeout of DNS queries: short if the name server is silent, long if it is only slow. */
  dnsTimeoutMs?: number;
  /** Measures that timeout; by default the clock of the system. */
  queryClock?: ManualClock;
};

export async function startMailNet(options: MailNetOptions = {}): Promise<MailNet> {
  const clock = manualClock();
  const server = await startDnsServer(options);
  const resolver = (): Dns =>
    createDns({
      servers: [server.server],
      clock,
      timeoutMs: options.dnsTimeoutMs ?? 1_000,
      queryClock: options.queryClock,
      tries: 1,
    });
  const dns = resolver();
  // Reserves the port, on an address that no other server uses.
  const portHolder = await startScript({ address: "127.0.0.253" });
  const { port } = portHolder;
  const closers: (() => Promise<void>)[] = [];
  const closeLater = <Closable extends { close(): Promise<void> }>(
    resource: Closable,
  ): Closable => {
    closers.push(() => resource.close());
    return resource;
  };
  return {
    port,
    clock,
    server,
    dns,
    resolver,
    script: async (host, script = {}) =>
      closeLater(await startScript({ ...script, address: `127.0.0.${host}`, port })),
    scriptAt: async (address, script = {}) =>
      closeLater(await startScript({ ...script, address, port })),
    sink: async (host, sink = {}) =>
      closeLater(await startSink({ ...sink, address: `127.0.0.${host}`, port })),
    transport: (direct = {}) =>
      closeLater(
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
      await portHolder.close();
    },
  };
}
