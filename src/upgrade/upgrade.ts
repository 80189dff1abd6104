/**
 * Installs another version of this program. The steps, and the state that an interruption of each
 * leaves:
 *
 * 1. The release is read and its signature verified (release.ts); an older version is refused.
 * 2. The executable is downloaded beside the installed one, and its digest compared (download.ts).
 * 3. A backup is made and verified (copies.ts).
 * 4. The new version applies its migrations to a copy of the database, and checks it (copies.ts).
 *    Up to here nothing has changed: an interruption leaves files that the next upgrade removes.
 * 5. The server is stopped (service.ts). If there are migrations, the database is copied once more.
 * 6. The old executable gets a second name, and the new one takes its first one. Both are changes of one
 *    name, so that there is a complete executable at every moment.
 * 7. The server is started. If it does not become ready, the old executable comes back, and the copy
 *    of step 5 if the database was migrated (rollback.ts), and the old server is started.
 *    From step 5 on, an interruption leaves an installation that starts, with the old or the new version.
 */

import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncPath } from "../backup/files.ts";
import { freeBytes, tryLockDataFolder } from "../db/folder.ts";
import type { Clock } from "../lib/clock.ts";
import { isNewerVersion } from "../lib/release-names.ts";
import {
  appliedMigrations,
  type BackupBefore,
  copyStopped,
  makeVerifiedBackup,
  type CopyTrial,
  tryOnCopy,
} from "./copies.ts";
import { downloadExecutable, type OnProgress } from "./download.ts";
import { asOwner, type Programs, requireSuccess, runVersion } from "./programs.ts";
import { UpgradeError } from "./refusal.ts";
import { readRelease, type SignedRelease } from "./release.ts";
import {
  readRollbackResult,
  requestRollback,
  type RollbackResult,
  STOPPED_FOLDER,
  UPGRADE_FOLDER,
} from "./rollback.ts";
import { awaitReady, type Service, stopAndLock, whyUnreachable } from "./service.ts";
import { readerOf, type ReleaseSource } from "./source.ts";

export type UpgradeOptions = {
  /** The installed executable, without links. */
  executable: string;
  version: string;
  /** The platform of the executable, such as linux-x64. */
  platform: string;
  source: ReleaseSource;
  publicKey: string;
  /** The version that must be found; null for any. */
  wanted: string | null;
  /** Installs also the same version or an older one. */
  isForced: boolean;
  /** Ends after step 4. */
  isTrial: boolean;
  /** Absolute path of the data folder. */
  data: string;
  programs: Programs;
  backup: BackupBefore;
  /** The way in which the server is stopped and started; null if it is not known. */
  service: Service | null;
  readyUrl: string;
  clock: Clock;
  /** Describes the upgrade in a sentence. */
  tell: (line: string) => void;
  onProgress: OnProgress;
  /** Called before the server is stopped: from then on, the upgrade should not be interrupted. */
  onSwitch: () => void;
};

export type Upgraded =
  | { kind: "current"; version: string }
  | { kind: "tried"; version: string; migrations: string[] }
  | { kind: "installed"; version: string; migrations: string[]; isRunning: boolean; old: string };

const READY_LIMIT_MS = 30_000;
/** A migration of the database itself may take longer than that of the copy. */
const MIGRATION_FACTOR = 3;
const SPARE_BYTES = 512 * 1024 * 1024;
/** The backup, the copy on which the new version is tried, and the space that its migrations need. */
const MAX_COPIES = 3;

const oldName = (executable: string): string => `${executable}.old`;

export async function upgrade(options: UpgradeOptions): Promise<Upgraded> {
  const { data, isTrial, source, publicKey, tell, version: installed } = options;
  const release = await readRelease(readerOf(source), publicKey);
  const { version } = release;
  tell(`Version ${version} is offered, signed by the key of releases; ${installed} is installed.`);
  if (!isWanted(options, version)) return { kind: "current", version };
  if (!isTrial) await requireService(options);
  const unlock = asOwner(options.programs, () => lockWork(data));
  try {
    requireSpace(data);
    const next = `${isTrial ? trialFile(options) : options.executable}.new`;
    try {
      await bring(options, release, next);
      const trial = await prepare(options, version, next);
      if (isTrial) return { kind: "tried", version, migrations: trial.migrations };
      const isRunning = await install(options, version, { next, ...trial });
      const { migrations } = trial;
      const old = oldName(options.executable);
      return { kind: "installed", version, migrations, isRunning, old };
    } finally {
      rmSync(next, { force: true });
    }
  } finally {
    unlock();
  }
}

/** Root does not write into a folder of another user. That user may write there only. */
function trialFile({ data, executable }: UpgradeOptions): string {
  return process.getuid?.() === 0 ? executable : join(workOf(data), "mailstead");
}

/** False if this version is installed already. Throws UpgradeError if it is not the wanted one. */
function isWanted(
  { wanted, isForced, version: installed }: UpgradeOptions,
  offered: string,
): boolean {
  if (wanted !== null && wanted !== offered) {
    throw new UpgradeError(
      `The release is version ${offered}, and --version says ${wanted}.`,
      "Name the folder of that version with --from.",
    );
  }
  if (isForced || isNewerVersion(offered, installed)) return true;
  if (offered === installed) return false;
  throw new UpgradeError(
    `Version ${offered} is older than ${installed}, which is installed.`,
    "Write --force to install it nevertheless. It refuses a database that is newer than itself.",
  );
}

/** A server that runs must be one that can be stopped and started, and whose readiness can be asked. */
async function requireService(options: UpgradeOptions): Promise<void> {
  const { service, data, readyUrl } = options;
  if (!isServed(options)) return;
  if (service === null) {
    throw new UpgradeError(
      `A server uses ${data}, and how it is stopped and started is not known.`,
      "Name both with --stop-command and --start-command, or its systemd unit with --unit. Or stop the " +
        "server, run this command, and start the server.",
    );
  }
  const reason = await whyUnreachable(readyUrl);
  if (reason === null) return;
  throw new UpgradeError(
    `A server uses ${data}, but ${reason}, so it would not be known whether the new version is ready.`,
    "Name its --host and --port. If it does not work, stop it, run this command, and start it.",
  );
}

const workOf = (data: string): string => join(data, UPGRADE_FOLDER);

/** Whether a server, or another process that must be alone, uses the data folder. */
function isServed(options: UpgradeOptions): boolean {
  const unlock = lockData(options);
  unlock?.();
  return unlock === null;
}

function lockData({ data, programs }: UpgradeOptions): (() => void) | null {
  return asOwner(programs, () => tryLockDataFolder(data));
}

/** Prevents two upgrades at once, and removes the files that an interrupted upgrade has left. */
function lockWork(data: string): () => void {
  const work = workOf(data);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  const unlock = tryLockDataFolder(work);
  if (unlock === null) throw new UpgradeError("Another upgrade of this installation runs.");
  for (const name of ["trial", STOPPED_FOLDER]) {
    rmSync(join(work, name), { recursive: true, force: true });
  }
  return unlock;
}

function requireSpace(data: string): void {
  const bytes = ["mailstead.db", "mailstead.db-wal"]
    .map((name) => statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
  const needed = MAX_COPIES * bytes + SPARE_BYTES;
  const free = freeBytes(data);
  if (free === null || free >= needed) return;
  throw new UpgradeError(
    `${data} has ${free} free bytes, and the upgrade needs up to ${needed} for copies of the database.`,
    "Free some space. Without it, make a backup elsewhere and replace the executable by hand.",
  );
}

/** Downloads the executable, which must say that it is the version that was signed. */
async function bring(options: UpgradeOptions, release: SignedRelease, next: string): Promise<void> {
  const { platform, source, programs, onProgress, tell } = options;
  const name = `mailstead-${platform}`;
  requireWritable(dirname(next));
  const { bytes } = await downloadExecutable({ source, release, name, to: next, onProgress });
  const ran = await runVersion(next, ["version", "--json"], programs);
  requireSuccess(ran, `${name} does not run on this machine`, "Nothing was changed.");
  if (!ran.stdout.includes(`"version":${JSON.stringify(release.version)}`)) {
    throw new UpgradeError(
      `${name} says that it is ${ran.stdout.trim()}, and the signed list says ${release.version}.`,
      "Nothing was changed. Tell the publisher of the release.",
    );
  }
  tell(`${name} was downloaded, ${bytes} bytes, and has the signed digest.`);
}

function requireWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new UpgradeError(
      `The folder ${folder} of the executable cannot be written.`,
      "Run this command as root.",
      error,
    );
  }
}

async function prepare(options: UpgradeOptions, version: string, next: string): Promise<CopyTrial> {
  const { data, executable, programs, clock, tell, isTrial } = options;
  const places = { data, work: workOf(data), executable, programs };
  if (!isTrial) tell(await makeVerifiedBackup(places, options.backup, version));
  const trial = await tryOnCopy(places, { next, version, clock });
  const { length } = trial.migrations;
  const seconds = (trial.migratedInMs / 1_000).toFixed(1);
  const migrated =
    length === 0
      ? "no migrations"
      : `${length} migration${length === 1 ? "" : "s"} in ${seconds} s`;
  tell(`Version ${version} was tried on a copy of the database: ${migrated}, all checks passed.`);
  return trial;
}

/** Steps 5 to 7. Resolves to false if no server runs, so that none was started. */
async function install(
  options: UpgradeOptions,
  version: string,
  trial: CopyTrial & { next: string },
): Promise<boolean> {
  const { service, data, tell } = options;
  if (service === null || !isServed(options)) {
    const unlock = lockData(options);
    if (unlock === null) throw stillServed(data);
    try {
      swapIn(options.executable, trial.next);
    } finally {
      unlock();
    }
    return false;
  }
  const before = appliedMigrations(data, options.programs);
  const limitMs = READY_LIMIT_MS + MIGRATION_FACTOR * trial.migratedInMs;
  options.onSwitch();
  tell(`Now: ${service.stopText}`);
  const stoppedAt = options.clock.elapsed();
  await replaceStopped(options, service, trial);
  tell(`Now: ${service.startText}`);
  const reason = await startReady(options, service, limitMs);
  const downMs = options.clock.elapsed() - stoppedAt;
  if (reason === null) {
    const stopped = join(workOf(data), STOPPED_FOLDER);
    asOwner(options.programs, () => rmSync(stopped, { recursive: true, force: true }));
    tell(`Version ${version} is ready. The server was away for ${(downMs / 1_000).toFixed(1)} s.`);
    return true;
  }
  tell(
    `Version ${version} did not become ready within ${Math.round(limitMs / 1_000)} s: ${reason}`,
  );
  throw await goBack(options, service, { version, before, limitMs, reason });
}

/** Stops the server and puts the new executable in place. If that fails, the old server is started again. */
async function replaceStopped(
  options: UpgradeOptions,
  service: Service,
  { next, migrations }: CopyTrial & { next: string },
): Promise<void> {
  const { data, executable, programs, clock } = options;
  let unlock: (() => void) | null = null;
  try {
    unlock = await stopAndLock(service, () => lockData(options), clock);
    if (unlock === null) throw stillServed(data);
    if (migrations.length > 0) {
      await copyStopped({ data, work: workOf(data), executable, programs });
    }
    swapIn(executable, next);
    unlock();
  } catch (error) {
    unlock?.();
    await startAgain(options, service);
    throw error;
  }
}

/** Nothing was changed, so the old server goes on. */
async function startAgain({ tell }: UpgradeOptions, service: Service): Promise<void> {
  try {
    await service.start();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    tell(`The server could not be started again. Start it with ${service.startText}. ${why}`);
  }
}

function stillServed(data: string): UpgradeError {
  return new UpgradeError(
    `A server still uses ${data} after it was stopped.`,
    "Nothing was changed. Look which process it is, and name how it is stopped with --stop-command.",
  );
}

/** Returns the reason why the server is not ready; null if it is. */
async function startReady(
  { readyUrl, clock }: UpgradeOptions,
  service: Service,
  limitMs: number,
): Promise<string | null> {
  try {
    await service.start();
  } catch (error) {
    if (error instanceof UpgradeError) return error.message;
    throw error;
  }
  return awaitReady(readyUrl, limitMs, clock);
}

/** The old executable keeps a second name. Each change of a name is one step. */
function swapIn(executable: string, next: string): void {
  const old = oldName(executable);
  rmSync(old, { force: true });
  linkSync(executable, old);
  renameSync(next, executable);
  syncPath(dirname(executable));
}

/** Step 7 after a failure. Returns the error of the failure. */
async function goBack(
  options: UpgradeOptions,
  service: Service,
  failed: { version: string; before: readonly string[]; limitMs: number; reason: string },
): Promise<UpgradeError> {
  const { data, executable, programs, clock, version: installed } = options;
  let unlock: (() => void) | null = null;
  let why = "its data folder is still in use";
  try {
    unlock = await stopAndLock(service, () => lockData(options), clock);
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  }
  if (unlock === null) {
    return new UpgradeError(
      `Version ${failed.version} did not become ready: ${failed.reason}. It did not stop either: ${why}`,
      "Stop it and go back by hand, as docs/operations.md, “Upgrade”, says.",
    );
  }
  let isMigrated: boolean;
  try {
    isMigrated = hasMigrated(options, failed.before);
    if (isMigrated) {
      asOwner(programs, () => requestRollback(data, failed.version, clock.now()));
    }
    renameSync(oldName(executable), executable);
    syncPath(dirname(executable));
  } finally {
    unlock();
  }
  const reason = await startReady(options, service, failed.limitMs);
  const state =
    reason === null
      ? `Version ${installed} runs again.`
      : `Version ${installed} is installed again, and it is not ready either: ${reason}`;
  return new UpgradeError(
    [
      `Version ${failed.version} did not become ready: ${failed.reason}.`,
      state,
      ...(isMigrated ? rollbackText(readRollbackResult(data)) : []),
    ].join("\n"),
    `Look into the log of the server (journalctl -u ${basename(executable)}) for the reason.`,
  );
}

/** A database that the new version has damaged must be put back as well. Without the copy nothing was migrated. */
function hasMigrated({ data, programs }: UpgradeOptions, before: readonly string[]): boolean {
  if (!existsSync(join(workOf(data), STOPPED_FOLDER))) return false;
  try {
    return appliedMigrations(data, programs).length !== before.length;
  } catch {
    return true;
  }
}

function rollbackText(result: RollbackResult | null): string[] {
  if (result === null) return ["The next start of the server puts the database of before back."];
  const { keptAt, acceptedMails, isHeld } = result;
  const kept = `The database was put back as it was at the stop. The newer one is kept in ${keptAt}.`;
  if (!isHeld) return [kept, "No mail was accepted or sent in between."];
  const mails =
    acceptedMails === null
      ? "It is not known how many mails the new version accepted"
      : `Mails that the new version accepted: ${acceptedMails}`;
  return [
    kept,
    `${mails}. They are only there, and it may have sent mail.`,
    "So the queue is held. Look at it with mailstead queue list, and then run mailstead queue release.",
  ];
}
