/** Creates an application: settings, clock, log, writer, reader, DNS client and keys. */

import { buildConfig, type SettingSources } from "./config/read.ts";
import type { Config } from "./config/settings.ts";
import type { App } from "./core/app.ts";
import { linkKeysOf } from "./core/signed-ids.ts";
import type { Db } from "./db/open.ts";
import { createUsageCounter } from "./db/usage-counter.ts";
import { createDiskSync } from "./db/durability/disk-sync.ts";
import { createDatabaseReader, type DatabaseReader } from "./db/reader.ts";
import { createSqliteSync } from "./db/durability/sqlite-sync.ts";
import { createWriter } from "./db/writer.ts";
import { linkBase } from "./installation.ts";
import type { Clock } from "./lib/clock.ts";
import { type Log, withoutErrors } from "./lib/log.ts";
import { createLoopWatch, type LoopWatchDeps, platformWatch } from "./lib/loop-watch.ts";
import { createReferences } from "./lib/references.ts";
import type { Transport } from "./outbox/outcome.ts";
import { type DkimKeyPair, generateDkimKeys } from "./protocols/dkim/keys.ts";
import { createDns, type Dns } from "./protocols/dns/client.ts";
import { systemDnsServers } from "./protocols/dns/servers.ts";
import { createFetchGuarded, type FetchGuarded } from "./protocols/fetch-guarded/fetch-guarded.ts";

export type AppOptions = {
  config: Config;
  /** Without it, `config` is the default of all settings. */
  settings?: SettingSources;
  db: Db;
  /** Folder of the database; null if the database is in memory. */
  folder: string | null;
  secret: string;
  clock: Clock;
  log: Log;
  /** True in `mailstead dev`: inboxes need no key on this machine (http/local-access.ts). */
  hasOpenInboxes?: boolean;
  /** Replacements for tests. Without them, these are created from the configuration. */
  transport?: Transport;
  dns?: Dns;
  makeDkimKeys?: () => Promise<DkimKeyPair[]>;
  fetchGuarded?: FetchGuarded;
  /** Limits of the watchdog of the event loop. */
  loopWatch?: Pick<LoopWatchDeps, "heldMs" | "logIntervalMs">;
  /** Parameters of Argon2id for new passwords: memory in KiB, and passes over it. */
  passwordCost?: { memoryCost: number; timeCost: number };
};

export function createApp(options: AppOptions): App {
  const { config, db, folder, secret, clock } = options;
  const log = withoutErrors(options.log, () => db.fault.current() !== null);
  // On a developer's machine other programs take the processor, so holds there are no warnings.
  const holdLog = options.hasOpenInboxes === true ? { ...log, warn: log.debug } : log;
  const loopWatch = createLoopWatch({ ...platformWatch(holdLog), ...options.loopWatch });
  const reader: DatabaseReader = createDatabaseReader(db, {
    verify: () => writer.verifyFiles(),
  });
  const writer = createWriter(
    db,
    log,
    config.durability === "sqlite"
      ? createSqliteSync(db, reader)
      : createDiskSync(db, { readers: reader }),
    () => loopWatch.begin("write", "transaction"),
  );
  const usage = createUsageCounter(db, writer);
  const dns = options.dns ?? createDns({ servers: config.dns ?? systemDnsServers(), clock });
  const { allowPrivateAddresses } = config;
  const url = linkBase(config);

  return {
    isApp: true,
    config,
    settings: options.settings ?? {
      given: {},
      withStored: (stored) => buildConfig({}, { defaults: config, stored }),
    },
    folder,
    secret,
    clock,
    log,
    random: Math.random,
    db,
    reader,
    writer,
    usage,
    references: createReferences(),
    dns,
    fetchGuarded: options.fetchGuarded ?? createFetchGuarded({ dns, allowPrivateAddresses }),
    url,
    trackingUrl: config.trackingUrl ?? url,
    ...linkKeysOf(secret),
    loopWatch,
    hasOpenInboxes: options.hasOpenInboxes ?? false,
    makeDkimKeys: options.makeDkimKeys ?? generateDkimKeys,
    passwordCost: options.passwordCost,
  };
}
