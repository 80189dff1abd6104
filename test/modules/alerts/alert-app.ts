/** An application whose operators get alerts by mail, webhook, ntfy and Slack, all on loopback. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../../src/config/settings.ts";
import type { Db } from "../../../src/db/open.ts";
import { examineConditions } from "../../../src/modules/alerts/alerts.ts";
import type { AlertSources, CertificateState } from "../../../src/modules/alerts/conditions.ts";
import { noticeSender } from "../../../src/modules/alerts/notices.ts";
import type { Hold, Transport } from "../../../src/outbox/outcome.ts";
import type { Dns } from "../../../src/protocols/dns/client.ts";
import { createFetchGuarded } from "../../../src/protocols/fetch-guarded/fetch-guarded.ts";
import { parseRelayUrl, type Relay } from "../../../src/protocols/smtp/relay-url.ts";
import { testApp } from "../../support/app.ts";
import { type ManualClock, manualClock } from "../../support/clock.ts";
import { FAILING_DNS } from "../../support/dns.ts";
import { type Sink, startSink } from "../../support/smtp-sink.ts";
import { testTransport } from "../../support/transport.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";

export const MINUTE_MS = 60_000;
export const OPERATOR = "ops@operators.test";

export type AlertApp = Awaited<ReturnType<typeof alertApp>>;

/** Values that a test sets: the state of the environment of the server. */
export type World = {
  hold: Hold | null;
  replaced: Hold | null;
  holdOfProject: (seq: number) => Hold | null;
  certificates: CertificateState[];
  space: { freeBytes: number; totalBytes: number };
};

export function relayAt(port: number): Relay {
  const parsed = parseRelayUrl(`smtp://127.0.0.1:${port}?tls=none`);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.relay;
}

/** The targets outlive an application, so that a test can start another one on its database. */
export async function alertTargetServers() {
  const sink = await startSink();
  const web = await startWebServer();
  return {
    sink,
    web,
    close: () => Promise.all([sink.close(), web.close()]),
  };
}

export async function alertApp(
  servers: { sink: Sink; web: WebServer },
  options: { db?: Db; dns?: Dns; clock?: ManualClock; config?: Partial<Config> } = {},
) {
  const { sink, web } = servers;
  const { clock = manualClock() } = options;
  const folder = mkdtempSync(join(tmpdir(), "alerts-"));
  const world: World = {
    hold: null,
    replaced: null,
    holdOfProject: () => null,
    certificates: [],
    space: { freeBytes: 50e9, totalBytes: 100e9 },
  };
  const transport: Transport = {
    ...testTransport(),
    name: "relay",
    holdOf: (_, project) => (project === undefined ? world.hold : world.holdOfProject(project)),
    replacedHold: () => world.replaced,
  };
  const t = await testApp({
    ...(options.db !== undefined && { db: options.db }),
    ...(options.dns !== undefined && { dns: options.dns }),
    clock,
    folder,
    transport,
    fetchGuarded: createFetchGuarded({ dns: FAILING_DNS, allowPrivateAddresses: true, clock }),
    config: {
      backupTo: join(folder, "backups"),
      operatorEmail: [OPERATOR],
      alertRelayUrl: relayAt(sink.port),
      alertWebhook: `${web.origin}/hook`,
      alertNtfy: `${web.origin}/topic`,
      alertSlack: `${web.origin}/slack`,
      ...options.config,
    },
  });
  const { app } = t.app;
  const sources: AlertSources = {
    certificates: () => world.certificates,
    diskSpace: () => world.space,
    startedAt: clock.elapsed(),
  };
  const sender = noticeSender(app);

  return {
    t,
    app,
    clock,
    world,
    sender,

    /** Lets the time pass, and examines the conditions once a minute as the server does. */
    async minutes(count: number): Promise<void> {
      for (let i = 0; i < count; i++) {
        clock.advance(MINUTE_MS);
        await examineConditions(app, sources);
      }
    },

    /** The alerts as `condition` or `condition cleared`, in their order. */
    alerts: (): string[] =>
      t.db.sqlite
        .query<{ condition: string; clearedAt: number | null }, []>(
          "SELECT condition, cleared_at AS clearedAt FROM alerts ORDER BY seq",
        )
        .all()
        .map(({ condition, clearedAt }) =>
          clearedAt === null ? condition : `${condition} cleared`,
        ),

    async close(): Promise<void> {
      await sender.stop();
      await sender.close();
      await t.close();
      rmSync(folder, { recursive: true });
    },
  };
}
