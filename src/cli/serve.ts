/** The command `mailstead serve`, and the server process that `mailstead dev` also uses. */

import { createApp, type Server } from "../app.ts";
import { withMailpitVariables } from "../config/mailpit-variables.ts";
import { cannotListen } from "../config/listen-error.ts";
import { readConfig } from "../config/read.ts";
import type { Config, SettingName } from "../config/settings.ts";
import { closeDatabase } from "../db/close.ts";
import { createDatabase } from "../db/create.ts";
import {
  awaitDataFolder,
  type DataFolder,
  hasInstallation,
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
import { rememberSettings } from "../stored-settings.ts";
import { isLoopbackHost, prepareOwner } from "./owner.ts";
import { type Command, UsageError } from "./command.ts";
import { startText } from "./start-text.ts";

export const SERVER_SETTINGS: readonly SettingName[] = [
  "data",
  "host",
  "port",
  "url",
  "trackingUrl",
  "transport",
  "captureSmtp",
  "submission",
  "submissions",
  "inbound",
  "smtpMaxBytes",
  "allowedHosts",
  "mailpitApi",
  "captureMaxMessages",
  "captureMaxDays",
  "captureMaxBytes",
  "smtpTlsCert",
  "smtpTlsKey",
  "relayUrl",
  "hostname",
  "dns",
  "directPort",
  "sourceAddresses",
  "allowPrivateAddresses",
  "sendRate",
  "apiRate",
  "publicKeyRate",
  "publicClientRate",
  "trustedProxies",
  "quotaStorage",
  "quotaQueuedMails",
  "quotaJobs",
  "quotaWebhookCalls",
  "requireVerifiedDomain",
  "retainBodies",
  "retainRaw",
  "retainEvents",
  "campaignBounceLimit",
  "campaignComplaintLimit",
  "campaignLimitAfter",
  "softBounceLimit",
  "softBounceDays",
  "softBounceSuppressDays",
  "systemFrom",
  "ownerEmail",
  "ownerPassword",
  "durability",
  "logLevel",
  "logFormat",
  "metrics",
  "secret",
];

export const serve: Command = {
  name: "serve",
  summary: "Run the server",
  positionals: [],
  flags: [],
  settings: SERVER_SETTINGS,
  run: async (input) => {
    const { environment, ignored } = withMailpitVariables(input.environment);
    const config = readConfig(input.settings, environment);
    let setUpPath: string | null = null;
    const onStarted = async ({ address, folder }: Running): Promise<void> => {
      const info = {
        version: VERSION,
        data: folder,
        url: address,
        publicUrl: config.url ?? address,
        transport: config.transport,
        setUpUrl: setUpPath === null ? null : `${config.url ?? address}${setUpPath}`,
        unsafe: unsafeChoices(config),
      };
      console.log(input.isJson ? JSON.stringify(info) : startText(info));
    };
    const prepare = async ({ app }: Pick<Running, "app">) => {
      setUpPath = await prepareOwner(app, config);
    };
    return runServer({
      config,
      hasOpenInboxes: false,
      ignoredVariables: ignored,
      prepare,
      onStarted,
    });
  },
};

/**
 * Ends the process after an error that nothing handled, because its state is unknown then. A storage
 * fault is different: it is logged once, all work is halted, and HTTP still answers health checks.
 */
function endOnUnexpectedErrors(log: Log): void {
  const end = (error: unknown): void => {
    if (error instanceof StorageFaultError) return;
    log.error("an unexpected error ends the process", { error: describeError(error) });
    process.exit(1);
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}

type Running = { app: Server; address: string; folder: string };

type ServerOptions = {
  config: Config;
  /** True in `mailstead dev`: inboxes need no key on this machine. */
  hasOpenInboxes: boolean;
  /** Variables of Mailpit that have no setting here. */
  ignoredVariables: readonly string[];
  /** Runs before the server listens. */
  prepare: (running: Pick<Running, "app" | "folder">) => Promise<void>;
  onStarted: (running: Running) => Promise<void>;
};

/** Runs a server until SIGTERM or SIGINT. Resolves to the exit code after an orderly stop. */
export async function runServer(options: ServerOptions): Promise<number> {
  const { config: given, hasOpenInboxes, ignoredVariables } = options;
  const log = createLog({ level: given.logLevel, format: given.logFormat });
  if (ignoredVariables.length > 0) {
    log.warn("these variables of Mailpit have no effect here", { variables: ignoredVariables });
  }
  const folder = openDataFolder(given.data, given.secret);
  const unlock = await awaitDataFolder(folder.path);
  const db = openLockedDatabase(folder, log);
  endOnUnexpectedErrors(log);
  // With a wrong secret the server would accept mail but could not sign it.
  requireReadableKeys(db, folder.secret);
  if (!isSameSecret(db, folder.secret)) log.warn(OTHER_SECRET);
  rememberSecret(db, folder.secret);
  const config = given.port === 0 ? { ...given, port: findFreePort(given.host) } : given;
  rememberSettings(db, config);
  const app = createApp({
    config,
    db,
    folder: folder.path,
    secret: folder.secret,
    clock: systemClock,
    log,
    hasOpenInboxes,
  });
  const stopped = stopOnSignal(async () => {
    log.info("stopping");
    await app.stop();
    if (!closeDatabase(db)) return endWithoutClosing(log);
    unlock();
    log.info("stopped");
  });
  await options.prepare({ app, folder: folder.path });
  await startListening(app, db, config);
  await options.onStarted({
    app,
    address: `http://${hostInUrl(config.host)}:${config.port}`,
    folder: folder.path,
  });
  // Collects the garbage of the start and releases the code that only the start ran, in about 10 ms. A
  // campaign then takes 30 MiB less. Later, code in use would be released too, and compiled again.
  Bun.shrink();
  try {
    await stopped;
    return 0;
  } catch (error) {
    log.error("the stop was not orderly", { error: describeError(error) });
    return 1;
  }
}

/** Opens the ports and starts the modules; stops the application again if a part does not start. */
async function startListening(app: Server, db: Db, config: Config): Promise<void> {
  try {
    await app.listen();
  } catch (error) {
    throw listenError(config, error);
  }
  try {
    await app.start();
    // The server does not start if a module has met a storage fault, even if it has handled it.
    db.fault.check();
  } catch (error) {
    // The process must end even if the application cannot stop in an orderly way.
    await app.stop().catch(() => {});
    throw error;
  }
}

/**
 * Opens the database of a locked data folder. Creates it if there is none, and applies migrations.
 */
function openLockedDatabase({ path, databaseFile }: DataFolder, log: Log): Db {
  if (!hasInstallation(path)) {
    log.info("database created", { applied: createDatabase(databaseFile) });
  }
  const db = openStoredDatabase(databaseFile);
  db.files.add(lockFileOf(path));
  refuseMissingPages(db);
  const applied = migrate(db.sqlite);
  if (applied.length > 0) log.info("migrations applied", { applied });
  return db;
}

/** Ends with SIGKILL, because the runtime closes its databases on every other end of a process. */
async function endWithoutClosing(log: Log): Promise<void> {
  log.warn("stopped; the database was not closed, so that its files do not change");
  await new Promise<void>((resolve) => process.stderr.write("", () => resolve()));
  process.kill(process.pid, "SIGKILL");
}

/** Stops on the first signal, and ends the process at once on the second. */
function stopOnSignal(stop: () => Promise<void>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) process.exit(130);
    isStopping = true;
    stop().then(resolve, reject);
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  return promise.then(
    () => process.exit(0),
    (error: unknown) => {
      throw error;
    },
  );
}

/** Finds a free port. It must be known before the server listens, because links contain it. */
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
    ...(config.requireVerifiedDomain ? [] : ["unverified sender domains are accepted"]),
    ...(!isLocal && !config.url?.startsWith("https:")
      ? ["API keys are sent without TLS: put a TLS proxy in front and set --url https://…"]
      : []),
    ...(config.allowPrivateAddresses ? ["mail and webhooks may go to private addresses"] : []),
    ...(config.trustedProxies.some(({ prefixBits }) => prefixBits === 0)
      ? ["every client can claim any address (--trusted-proxy)"]
      : []),
    ...(config.relayUrl?.tls === "none" ? ["mail goes to the relay without TLS"] : []),
  ];
}
