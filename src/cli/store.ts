/**
 * Opens the database for a command, also beside a running server, and applies pending migrations.
 */

import { createReferences } from "../lib/references.ts";
import type { App } from "../core/app.ts";
import { type Config, type SettingName, SETTINGS } from "../config/settings.ts";
import type { SettingSources } from "../config/read.ts";
import { createDatabase } from "../db/create.ts";
import { StorageFaultError } from "../db/fault.ts";
import {
  type DataFolder,
  DataFolderError,
  hasInstallation,
  lockDataFolder,
  openDataFolder,
  requireInstallation,
  tryLockDataFolder,
} from "../db/folder.ts";
import { migrate, pendingMigrations } from "../db/migrate.ts";
import type { Db } from "../db/open.ts";
import { openStoredDatabase } from "../db/open-stored.ts";
import { createWriter } from "../db/writer.ts";
import { systemClock } from "../lib/clock.ts";
import { silentLog } from "../lib/log.ts";
import { generateDkimKeys } from "../protocols/dkim/keys.ts";
import { requireReadableKeys } from "../modules/domains/keys.ts";
import { type Accounts, createAccounts } from "../modules/accounts/service.ts";
import { type ProjectRow, resolveProject } from "../modules/projects.ts";
import { readStoredTexts } from "../modules/settings/stored.ts";
import { readStoredSettings, type StoredSettings, storedSettingsOf } from "../stored-settings.ts";
import {
  type Flag,
  type Input,
  readSettings,
  settingSources,
  type SettingsOptions,
} from "./command.ts";

/** The secret is needed as well: if the server got it as a setting, it is not in the folder. */
export const STORE_SETTINGS: readonly SettingName[] = ["data", "secret"];

/** The settings that a command reads itself. */
const OWN_SETTINGS: readonly SettingName[] = [...STORE_SETTINGS, "dns", "requireVerifiedDomain"];

/** The settings whose values the server has stored (stored-settings.ts). */
export const LINK_SETTINGS = ["url", "host", "port"] as const satisfies SettingName[];
export const RECORD_SETTINGS = [
  "transport",
  "relayUrl",
  "fallbackRelayUrl",
  "hostname",
  "sourceAddresses",
] as const satisfies SettingName[];

export const PROJECT_FLAG: Flag = {
  name: "project",
  placeholder: "ID|NAME",
  help: "Project; may be omitted if there is only one",
};

const PROJECT_USAGE = `--${PROJECT_FLAG.name} ${PROJECT_FLAG.placeholder}`;

/**
 * It is no App: a command reads few settings, so the others would have their defaults instead of the
 * values of the server.
 */
export type Store = Pick<
  App,
  "db" | "clock" | "writer" | "secret" | "makeDkimKeys" | "references"
> & {
  /** The settings that the command reads itself; the others have their defaults. */
  config: Config;
  /** Base of the links to the server. */
  url: string;
  folder: DataFolder;
  accounts: Accounts;
  /** The settings that the DNS records of domains depend on. */
  installation: StoredSettings["installation"];
  /** How long the server keeps data. */
  retention: StoredSettings["retention"];
  /** The project that `--project` names, or the only one. */
  project: () => ProjectRow;
  /** Throws if the secret is not the one that stored keys were sealed with. */
  requireReadableKeys: () => void;
};

/** Longest time that another process may take to create the database. */
const CREATION_LIMIT_MS = 10_000;
const CREATION_PAUSE_MS = 20;

type Use<T> = (store: Store) => Promise<T>;

/** Opens the store for one command and closes it afterwards. Throws if there is no installation. */
export async function withStore<T>(input: Input, use: Use<T>): Promise<T> {
  const config = readOwnSettings(input);
  requireInstallation(config.data);
  return useStore(input, config, use);
}

export const newInstallationText = (path: string): string =>
  `A new installation was created in ${path}.`;

/** The same, but creates the installation if there is none, and says so. */
export async function withNewStore<T>(input: Input, use: Use<T>): Promise<T> {
  return useStore(input, readOwnSettings(input), use);
}

function readOwnSettings(input: Input): Config {
  return readSettings(input, { names: OWN_SETTINGS });
}

/**
 * The settings that the server has stored, so that a command needs neither its flags nor the right
 * to read its files. With a flag for one of them, or if no server has run yet, they are those of the
 * flags and of the environment.
 */
function serverSettings(input: Input, store: { db: Db; secret: string }): StoredSettings {
  const isGiven = [...LINK_SETTINGS, ...RECORD_SETTINGS].some(
    (name) => input.settings[SETTINGS[name].flag] !== undefined,
  );
  const stored = isGiven ? null : readStoredSettings(store.db);
  return stored ?? storedSettingsOf(withDashboard(settingSources(input), store));
}

/** The settings with those of the dashboard. */
function withDashboard(
  { given, withStored }: SettingSources,
  store: { db: Db; secret: string },
): Config {
  return withStored(readStoredTexts(store, given));
}

/**
 * The settings of a command that works as the server does, with those of the dashboard. Without an
 * installation, or with one that cannot be opened, they are those of flags, variables and files.
 */
export async function readServerSettings(
  input: Input,
  options: SettingsOptions = {},
): Promise<Config> {
  const settings = settingSources(input, options);
  if (!hasInstallation(settings.withStored(null).data)) return settings.withStored({});
  try {
    return await withStore(input, async ({ db, secret }) =>
      withDashboard(settings, { db, secret }),
    );
  } catch (error) {
    // The command says what is wrong with the folder when it uses it.
    if (!(error instanceof DataFolderError || error instanceof StorageFaultError)) throw error;
    return settings.withStored({});
  }
}

async function useStore<T>(input: Input, config: Config, use: Use<T>): Promise<T> {
  const folder = openDataFolder(config.data, config.secret);
  const isNew = await ensureDatabase(folder);
  if (isNew && !input.isJson) input.io.stderr.line(newInstallationText(folder.path));
  const db = openStoredDatabase(folder.databaseFile);
  try {
    upgradeUnlessServed(db, folder.path);
    const { url, installation, retention } = serverSettings(input, { db, secret: folder.secret });
    const clock = systemClock;
    return await use({
      config,
      url,
      folder,
      db,
      clock,
      writer: createWriter(db, silentLog),
      accounts: openAccounts(db, folder.secret, url),
      secret: folder.secret,
      makeDkimKeys: generateDkimKeys,
      references: createReferences(),
      installation,
      retention,
      project: () => resolveProject({ db }, input.flags["project"] ?? null, PROJECT_USAGE),
      requireReadableKeys: () => requireReadableKeys(db, folder.secret),
    });
  } finally {
    db.sqlite.close();
  }
}

/** Commands send no mail: they show the links. */
export function openAccounts(db: Db, secret: string, url: string): Accounts {
  return createAccounts({
    db,
    clock: systemClock,
    secret,
    url,
    findSender: () => null,
    secondFactorPolicy: "none", // Commands begin no sessions.
  });
}

/**
 * Creates the database of a new installation, or waits for another process that is creating it.
 * Resolves to true if this process created it.
 */
export async function ensureDatabase({ path, databaseFile }: DataFolder): Promise<boolean> {
  const deadline = systemClock.elapsed() + CREATION_LIMIT_MS;
  while (!hasInstallation(path)) {
    const isLate = systemClock.elapsed() > deadline;
    const unlock = isLate ? lockDataFolder(path) : tryLockDataFolder(path);
    if (unlock === null) {
      await Bun.sleep(CREATION_PAUSE_MS);
      continue;
    }
    try {
      if (hasInstallation(path)) return false;
      createDatabase(databaseFile);
      return true;
    } finally {
      unlock();
    }
  }
  return false;
}

/**
 * Applies pending migrations and returns their names. Throws if there are some and a running server
 * uses the database.
 */
export function upgradeUnlessServed(db: Db, path: string): string[] {
  if (pendingMigrations(db.sqlite).length === 0) return [];
  let unlock: () => void;
  try {
    unlock = lockDataFolder(path);
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error;
    throw new DataFolderError(
      "A running server uses this database with an older schema. Restart it with this version first.",
    );
  }
  try {
    return migrate(db.sqlite);
  } finally {
    unlock();
  }
}

/** Prints a result as text or, with --json, as JSON. Returns exit code 0. */
export function print(input: Input, machine: unknown, human: string): number {
  input.io.stdout.line(input.isJson ? JSON.stringify(machine) : human);
  return 0;
}
