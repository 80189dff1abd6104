/**
 * Checks of the machine: clock, free storage, permissions of the data folder, secret, write-ahead
 * log, event loop.
 */

import { join } from "node:path";
import { UnreadableKeyError } from "../modules/domains/keys.ts";
import { isoTime } from "../lib/clock.ts";
import { describeError } from "../lib/log.ts";
import { HELD_MS } from "../lib/loop-watch.ts";
import { metricValue, RECENT_HOLD } from "../lib/metrics.ts";
import { VERSION } from "../lib/version.ts";
import { UPGRADE_COMMAND } from "../modules/updates.ts";
import { type BackupsFound, type Check, fail, type Finding, ok, warn } from "./check.ts";

const WARN_CLOCK_MS = 5_000;
const FAIL_CLOCK_MS = 60_000;
const GIB = 1024 ** 3;
const WARN_FREE_BYTES = GIB;
const FAIL_FREE_BYTES = 64 * 1024 ** 2;

export const checkClock: Check = async ({ clockAheadMs }) => {
  const what = "clock";
  const aheadMs = await clockAheadMs();
  if (aheadMs === null) {
    return [
      warn(what, "no time server answered (UDP port 123)", "check that the clock is synchronised"),
    ];
  }
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  const finding = `${seconds} s ${aheadMs < 0 ? "behind" : "ahead"}`;
  const fix = "let the system synchronise it: timedatectl set-ntp true";
  if (Math.abs(aheadMs) >= FAIL_CLOCK_MS) return [fail(what, finding, fix)];
  if (Math.abs(aheadMs) >= WARN_CLOCK_MS) return [warn(what, finding, fix)];
  return [ok(what, "is correct")];
};

export const checkStorage: Check = async ({ folder, freeBytes }) => {
  const what = "storage";
  if (folder === null) return [];
  const free = freeBytes(folder);
  if (free === null) {
    return [fail(what, `the free space of ${folder} is unknown`, "check that the folder exists")];
  }
  const finding = `${(free / GIB).toFixed(1)} GiB free for ${folder}`;
  const fix = "free some space, or move the data folder to a larger disk";
  if (free < FAIL_FREE_BYTES) return [fail(what, finding, fix)];
  if (free < WARN_FREE_BYTES) return [warn(what, finding, fix)];
  return [ok(what, finding)];
};

/** Only the owner may read the database and the secret, which decrypts keys and signs links. */
export const checkFolder: Check = async ({ folder, modeOf }) => {
  const what = "data folder";
  if (folder === null) return [ok(what, "does not exist yet; the first start creates it")];
  const open = ["secret", "mailstead.db", "dev-keys.json"].filter((file) =>
    isOpenToOthers(modeOf(join(folder, file))),
  );
  const isFolderOpen = isOpenToOthers(modeOf(folder));
  if (open.length > 0 && isFolderOpen) return [exposed(what, folder, open)];
  if (isFolderOpen) {
    return [warn(what, `other users may list ${folder}`, `chmod 700 ${folder}`)];
  }
  return [ok(what, `only its owner may read ${folder}`)];
};

/**
 * Without the secret that encrypted the DKIM keys, no mail is signed. A correct one is not
 * reported.
 */
export const checkSecret: Check = async ({ folder, requireReadableKeys, isSameSecret }) => {
  if (folder === null) return [];
  try {
    await requireReadableKeys();
    if (await isSameSecret()) return [];
    const finding = "it is not the one that this database was used with";
    const fix = "restore the old secret; links in mails that were sent do not work without it";
    return [fail("secret", finding, fix)];
  } catch (error) {
    if (!(error instanceof UnreadableKeyError)) throw error;
    return [fail("secret", error.message, error.suggestion)];
  }
};

/**
 * Reports that a running server has noticed another process that holds the write-ahead log. Without
 * one, nothing is reported.
 */
export const checkLog: Check = async ({ folder, logHeldSince, logBytes }) => {
  const what = "write-ahead log";
  if (folder === null) return [];
  const since = await logHeldSince();
  if (since === null) return [];
  const mib = ((logBytes(folder) ?? 0) / 1024 ** 2).toFixed(1);
  const fix =
    "start the server with --durability sqlite beside a replication tool, or end the program that " +
    "has the database open";
  return [warn(what, `${mib} MiB, held by another process since ${since}`, fix)];
};

/** Reports that the queue is held, as after a restore. Otherwise nothing is reported. */
export const checkQueueHold: Check = async ({ folder, queueHeldSince }) => {
  if (folder === null) return [];
  const since = await queueHeldSince();
  if (since === null) return [];
  const finding = `held since ${isoTime(since)}, so no mail and no webhook leaves`;
  const fix =
    "look at what waits with mailstead queue list, cancel what had left before, and then run " +
    "mailstead queue release";
  return [fail("queue", finding, fix)];
};

const MAX_BACKUP_AGE_MS = 36 * 3_600_000;

/** Whether the scheduled backups are made. Without --backup-to, nothing is reported. */
export const checkBackups: Check = async ({ config, folder, backups, now }) => {
  const what = "backups";
  if (folder === null || config.backupTo === null) return [];
  let state: BackupsFound | null;
  try {
    state = await backups();
  } catch (error) {
    const fix = `let the user of the server read and write ${config.backupTo}`;
    return [fail(what, describeError(error), fix)];
  }
  if (state === null) return [];
  if (!state.hasKey)
    return [fail(what, "there is no recovery key", "make one with mailstead backup init")];
  const { newestAt } = state;
  const finding =
    newestAt === null ? "there is none yet" : `the newest one is of ${isoTime(newestAt)}`;
  if (newestAt !== null && now() - newestAt <= MAX_BACKUP_AGE_MS) return [ok(what, finding)];
  const fix = `search the log for "a backup failed", and run mailstead backup run ${config.backupTo}`;
  return [newestAt === null ? warn(what, finding, fix) : fail(what, finding, fix)];
};

/** Reports a newer version that a server has found. Otherwise nothing is reported. */
export const checkUpdate: Check = async ({ folder, knownUpdate }) => {
  if (folder === null) return [];
  const update = await knownUpdate();
  if (update === null) return [];
  const finding = `${update.version} is available, and ${VERSION} is installed`;
  const fix = `read ${update.changesUrl}, and run ${UPGRADE_COMMAND} on the server as root`;
  return [warn("version", finding, fix)];
};

/** Reads how long the event loop was blocked from the metrics of the running server. */
export const checkEventLoop: Check = async ({ config, metrics }) => {
  const what = "event loop";
  if (config.metrics === null) return [];
  const text = await metrics();
  const heldSeconds = text === null ? null : metricValue(text, RECENT_HOLD);
  if (heldSeconds === null) {
    const { host, port } = config.metrics;
    const fix = "start the server with the same --metrics, or omit the flag here";
    return [warn(what, `no server shows its metrics on ${host}:${port}`, fix)];
  }
  const finding = `held for at most ${Math.round(heldSeconds * 1000)} ms in the last ten minutes`;
  if (heldSeconds * 1000 <= HELD_MS) return [ok(what, finding)];
  const fix = 'search the server\'s log for "event loop held": it names the work that took so long';
  return [warn(what, finding, fix)];
};

/** Reports which work a running server repeats, and how often. */
export const checkRecurringWork: Check = async ({ recurring }) => {
  const works = (await recurring()).map(
    ({ name, everySeconds }) => `${name} every ${everySeconds} s`,
  );
  return [ok("recurring work", works.join(", "))];
};

function exposed(what: string, folder: string, files: readonly string[]): Finding {
  const finding = `other users may read ${files.join(", ")} in ${folder}`;
  const fix = `chmod 700 ${folder}; chmod 600 ${files.map((file) => join(folder, file)).join(" ")}`;
  return files.includes("secret") ? fail(what, finding, fix) : warn(what, finding, fix);
}

function isOpenToOthers(mode: number | null): boolean {
  return mode !== null && (mode & 0o077) !== 0;
}
