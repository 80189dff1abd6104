/** The command `mailstead serve`, and the server process that `mailstead dev` also uses. */

import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createServer, type Server } from "../app.ts";
import { withMailpitVariables } from "../config/mailpit-variables.ts";
import { cannotListen } from "../config/listen-error.ts";
import type { SettingSources } from "../config/read.ts";
import { type Config, SETTING_NAMES } from "../config/settings.ts";
import { closeDatabase } from "../db/close.ts";
import { createDatabase } from "../db/create.ts";
import {
  awaitDataFolder,
  type DataFolder,
  hasInstallation,
  IMPORT_FOLDER,
  lockFileOf,
  openDataFolder,
} from "../db/folder.ts";
import { StorageFaultError } from "../db/fault.ts";
import { isSameSecret, OTHER_SECRET, rememberSecret } from "../db/installation-values.ts";
import { migrate } from "../db/migrate.ts";
import type { Db } from "../db/open.ts";
import { openStoredDatabase } from "../db/open-stored.ts";
import { refuseMissingPages } from "../db/missing-pages.ts";
import { systemClock } from "../lib/clock.ts";
import { createLog, describeError, type Log } from "../lib/log.ts";
import { MetricsAddressError } from "../lib/metrics.ts";
import { VERSION } from "../lib/version.ts";
import { hostInUrl } from "../installation.ts";
import { requireReadableKeys } from "../modules/domains/keys.ts";
import { findKnownRelay, whyUnsigned } from "../protocols/smtp/known-relays.ts";
import { finishRollback } from "../upgrade/rollback.ts";
import { readStoredTexts } from "../modules/settings/stored.ts";
import { rememberSettings } from "../stored-settings.ts";
import { isLoopbackHost } from "../lib/loopback-host.ts";
import { prepareOwner } from "./owner.ts";
import { type Command, settingSources, UsageError } from "./command.ts";
import type { Io } from "./io.ts";
import { isOutOfSpace, waitForSpace } from "./space.ts";
import { startText } from "./start-text.ts";

/** A server reads every setting. */
export const SERVER_SETTINGS = SETTING_NAMES;

export const serve: Command = {
  name: "serve",
  summary: "Run the server",
  positionals: [],
  flags: [],
  settings: SERVER_SETTINGS,
  run: async (input) => {
    const { environment, ignored } = withMailpitVariables(input.io.env);
    const settings = settingSources(input, { environment });
    let setUpPath: string | null = null;
    const onStarted = async ({ app, address, folder }: Running): Promise<void> => {
      const { config } = app.app;
      const info = {
        version: VERSION,
        data: folder,
        url: address,
        publicUrl: config.url ?? address,
        transport: config.transport,
        setUpUrl: setUpPath === null ? null : `${config.url ?? address}${setUpPath}`,
        unsafe: unsafeChoices(config),
      };
      input.io.stdout.line(input.isJson ? JSON.stringify(info) : startText(info));
    };
    const prepare = async ({ app }: Pick<Running, "app">) => {
      setUpPath = await prepareOwner(app, app.app.config);
    };
    return runServer(input.io, {
      settings,
      hasOpenInboxes: false,
      ignoredVariables: ignored,
      prepare,
      onStarted,
    });
  },
};

type Running = { app: Server; address: string; folder: string };

type ServerOptions = {
  settings: SettingSources;
  /** True in `mailstead dev`: inboxes need no key on this machine. */
  hasOpenInboxes: boolean;
  /** Variables of Mailpit and MailHog that have no setting here. */
  ignoredVariables: readonly string[];
  /** Runs before the server listens. */
  prepare: (running: Pick<Running, "app" | "folder">) => Promise<void>;
  onStarted: (running: Running) => Promise<void>;
};

/**
 * Runs a server until it is asked to stop. Resolves to the exit code after the stop. A start that fails
 * because the disk is full is repeated when there is space.
 */
export async function runServer(io: Io, options: ServerOptions): Promise<number> {
  const config = withPort(givenConfig(options.settings));
  const { logLevel: level, logFormat: format, data } = config;
  const log = createLog({ level, format, write: (line) => void io.stderr.write(`${line}\n`) });
  if (options.ignoredVariables.length > 0) {
    const variables = options.ignoredVariables;
    log.warn("these variables have no effect here", { variables });
  }
  endOnUnexpectedErrors(io, log);
  const serving: ServeOptions = { ...options, config, io, log, untilStopped: onlyOnce(io) };
  for (let failures = 1; ; failures++) {
    try {
      return await serveOnce(serving);
    } catch (error) {
      if (!isOutOfSpace(error, data)) throw error;
      const stopped = serving.untilStopped();
      const folder = resolve(data);
      const context = { folder, error, failures, stopped, clock: systemClock, log };
      if (!(await waitForSpace(config, context))) return 0;
    }
  }
}

/** The settings without those of the dashboard, which are in the database. */
function givenConfig({ withStored }: SettingSources): Config {
  const config = withStored(null);
  return hasInstallation(config.data) ? config : withStored({});
}

/** The process may be asked once only, because a second signal ends it at once. */
function onlyOnce(io: Io): Io["untilStopped"] {
  let asked: Promise<void> | null = null;
  return () => (asked ??= io.untilStopped());
}

/** A port must be known before the server listens, because links contain it. */
function withPort(config: Config): Config {
  return config.port === 0 ? { ...config, port: findFreePort(config.host) } : config;
}

async function serveOnce(options: ServeOptions): Promise<number> {
  const folder = openDataFolder(options.config.data, options.config.secret);
  const unlock = await awaitDataFolder(folder.path);
  try {
    // An import that was killed has left the secret of another installation there.
    rmSync(join(folder.path, IMPORT_FOLDER), { recursive: true, force: true });
    goBackIfAsked(folder.path, options.log);
    return await serveFolder(folder, options);
  } finally {
    unlock();
  }
}

/** After an upgrade that failed, the database of before is put back (upgrade/rollback.ts). */
function goBackIfAsked(path: string, log: Log): void {
  const result = finishRollback(path, systemClock.now());
  if (result !== null) log.warn("the database of before the upgrade was put back", result);
}

type ServeOptions = ServerOptions & {
  /** Without the settings of the dashboard. */
  config: Config;
  io: Io;
  log: Log;
  untilStopped: Io["untilStopped"];
};

/** Serves a locked data folder. */
async function serveFolder(folder: DataFolder, options: ServeOptions): Promise<number> {
  const { settings, log } = options;
  const db = openLockedDatabase(folder, log);
  try {
    upgradeDatabase(db, log);
    // With a wrong secret the server would accept mail but could not sign it.
    requireReadableKeys(db, folder.secret);
    if (!isSameSecret(db, folder.secret)) log.warn(OTHER_SECRET);
    rememberSecret(db, folder.secret);
    const stored = readStoredTexts({ db, ...folder }, settings.given);
    // The port may be a free one that was chosen.
    const config = { ...settings.withStored(stored), port: options.config.port };
    rememberSettings(db, config);
    return await serveDatabase(db, folder, { ...options, config });
  } catch (error) {
    closeDatabase(db);
    throw error;
  }
}

async function serveDatabase(db: Db, folder: DataFolder, options: ServeOptions): Promise<number> {
  const { config, settings, hasOpenInboxes, log } = options;
  const { path, secret } = folder;
  const app = createServer({
    config,
    settings,
    db,
    folder: path,
    secret,
    clock: systemClock,
    log,
    hasOpenInboxes,
  });
  let hasFailed = false;
  const endReloads = options.io.onReload(() => void reload(app, log));
  const stopped = options.untilStopped().then(() => (hasFailed ? 1 : stop(app, db, options)));
  try {
    // It may be asked to stop before it has started.
    await Promise.race([start(app, db, { ...options, path }), stopped]);
  } catch (error) {
    hasFailed = true;
    throw error;
  } finally {
    if (hasFailed) endReloads();
  }
  return stopped.finally(endReloads);
}

async function reload(app: Server, log: Log): Promise<void> {
  log.info("SIGHUP: the files of certificates are read again");
  try {
    await app.reload();
  } catch (error) {
    log.error("the files of certificates could not be read again", { error: describeError(error) });
  }
}

async function start(
  app: Server,
  db: Db,
  { config, io, path, ...options }: ServeOptions & { path: string },
): Promise<void> {
  try {
    await options.prepare({ app, folder: path });
    await startListening(app, db, config);
  } catch (error) {
    // The process must end even if the application cannot stop in an orderly way.
    await app.stop().catch(() => {});
    throw error;
  }
  const address = `http://${hostInUrl(config.host)}:${config.port}`;
  await options.onStarted({ app, address, folder: path });
  io.endStart();
}

async function stop(app: Server, db: Db, { io, log }: ServeOptions): Promise<number> {
  log.info("the server is stopping");
  try {
    await app.stop();
    if (closeDatabase(db)) {
      log.info("the server has stopped");
    } else {
      log.warn(
        "the server has stopped, and the database was not closed, so that its files do not change",
      );
      await io.kill();
    }
    return 0;
  } catch (error) {
    log.error("the stop was not orderly", { error: describeError(error) });
    return 1;
  }
}

/** A frame of the platform in the stack of an error that an event of a connection or a child raised. */
const CONNECTION_FRAME = /\((?:node:(?:net|tls|dgram|stream|child_process)|internal:streams)\b/;

/**
 * Ends the process after an error that nothing handled, because its state is unknown then. There are
 * two exceptions. A storage fault is logged once, all work is halted, and HTTP still answers health
 * checks. An error in an event of a connection affects only this connection, which its time limit
 * ends, so the process goes on: otherwise one peer could end it.
 */
function endOnUnexpectedErrors(io: Io, log: Log): void {
  io.onUnhandledError((error, kind) => {
    if (error instanceof StorageFaultError) return false;
    const stack = error instanceof Error ? (error.stack ?? "") : "";
    if (kind === "exception" && CONNECTION_FRAME.test(stack)) {
      log.error("an unexpected error ends a connection", { error: describeError(error) });
      return false;
    }
    log.error("an unexpected error ends the process", { error: describeError(error) });
    return true;
  });
}

/** Opens the ports and starts the modules. */
async function startListening(app: Server, db: Db, config: Config): Promise<void> {
  try {
    await app.listen();
  } catch (error) {
    throw listenError(config, error);
  }
  await app.start();
  // The server does not start if a module has met a storage fault, even if it has handled it.
  db.fault.check();
}

/** Opens the database of a locked data folder. Creates it if there is none. */
function openLockedDatabase({ path, databaseFile }: DataFolder, log: Log): Db {
  if (!hasInstallation(path)) {
    createDatabase(databaseFile);
    log.info(`a new database was created in ${path}`);
  }
  const db = openStoredDatabase(databaseFile);
  db.files.add(lockFileOf(path));
  return db;
}

function upgradeDatabase(db: Db, log: Log): void {
  refuseMissingPages(db);
  const applied = migrate(db.sqlite);
  if (applied.length > 0) log.info("the database was upgraded for this version", { applied });
}

function findFreePort(hostname: string): number {
  const probe = Bun.serve({ hostname, port: 0, fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  if (port === undefined) throw new Error("no free port");
  return port;
}

function listenError(config: Config, error: unknown): Error {
  if (error instanceof MetricsAddressError) {
    return new UsageError(`${error.message}; choose another address for --metrics`);
  }
  return cannotListen(config, "--port or --host", error);
}

/** Lists the settings that are unsafe on a server that sends real mail. */
export function unsafeChoices(config: Config): string[] {
  const isLocal = isLoopbackHost(config.host);
  return [
    ...(config.transport === "capture" ? ["mail is captured, not sent (--transport)"] : []),
    ...brokenSignatures(config),
    ...(config.requireVerifiedDomain ? [] : ["unverified sender domains are accepted"]),
    ...(!isLocal && !config.url?.startsWith("https:")
      ? [
          "API keys are sent without TLS: set --tls, or put a TLS proxy in front and set --url https://…",
        ]
      : []),
    ...(config.allowPrivateAddresses ? ["mail and webhooks may go to private addresses"] : []),
    ...(config.trustedProxies.some(({ prefixBits }) => prefixBits === 0)
      ? ["every client can claim any address (--trusted-proxy)"]
      : []),
    ...(config.relayUrl?.tls === "none" ? ["mail goes to the relay without TLS"] : []),
  ];
}

/** Our signatures are wanted at a relay that breaks them. */
function brokenSignatures({ transport, relayUrl }: Config): string[] {
  const known =
    transport === "relay" && relayUrl?.sign === true ? findKnownRelay(relayUrl.host) : null;
  const why = known === null ? null : whyUnsigned(known);
  return known === null || why === null
    ? []
    : [`${known.name} ${why}, which breaks our signatures: write sign=false into --relay-url`];
}
