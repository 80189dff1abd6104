/** Looks at the machine: clock, storage, who may read the data folder. */

import { join } from "node:path";
import { UnreadableKeyError } from "../../modules/domains/keys.ts";
import { HELD_MS } from "../../lib/loop-watch.ts";
import { metricValue, RECENT_HOLD } from "../../lib/metrics.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";

const WARN_CLOCK_MS = 5_000;
const FAIL_CLOCK_MS = 60_000;
const GIB = 1024 ** 3;
const WARN_FREE_BYTES = GIB;
const FAIL_FREE_BYTES = 64 * 1024 ** 2;

export const checkClock: Check = async ({ clockAheadMs }) => {
  const what = "clock";
  const aheadMs = await clockAheadMs();
  if (aheadMs === null) {
    return [warn(what, "no time server answered (UDP port 123)", "check that it is kept in time")];
  }
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  const finding = `${seconds} s ${aheadMs < 0 ? "behind" : "ahead"}`;
  const mend = "let the system keep it in time: timedatectl set-ntp true";
  if (Math.abs(aheadMs) >= FAIL_CLOCK_MS) return [fail(what, finding, mend)];
  if (Math.abs(aheadMs) >= WARN_CLOCK_MS) return [warn(what, finding, mend)];
  return [ok(what, "in time")];
};

export const checkStorage: Check = async ({ folder, freeBytes }) => {
  const what = "storage";
  if (folder === null) return [];
  const free = freeBytes(folder);
  if (free === null) {
    return [fail(what, `the free space of ${folder} is unknown`, "check that it is there")];
  }
  const finding = `${(free / GIB).toFixed(1)} GiB free for ${folder}`;
  const mend = "make room, or move the data folder to a larger disk";
  if (free < FAIL_FREE_BYTES) return [fail(what, finding, mend)];
  if (free < WARN_FREE_BYTES) return [warn(what, finding, mend)];
  return [ok(what, finding)];
};

/** The secret opens keys and signs links: nobody else may read it, nor the database. */
export const checkFolder: Check = async ({ folder, modeOf }) => {
  const what = "data folder";
  if (folder === null) return [ok(what, "not there yet; it is made at the first start")];
  const open = ["secret", "mailstead.db", "dev-keys.json"].filter((file) =>
    isOpenToOthers(modeOf(join(folder, file))),
  );
  const isFolderOpen = isOpenToOthers(modeOf(folder));
  if (open.length > 0 && isFolderOpen) return [exposed(what, folder, open)];
  if (isFolderOpen) {
    return [warn(what, `others may look into ${folder}`, `chmod 700 ${folder}`)];
  }
  return [ok(what, `${folder} is for its owner only`)];
};

/** Without the secret that sealed the keys, no mail is signed. Told only where it is wrong. */
export const checkSecret: Check = async ({ folder, requireReadableKeys }) => {
  if (folder === null) return [];
  try {
    await requireReadableKeys();
    return [];
  } catch (error) {
    if (!(error instanceof UnreadableKeyError)) throw error;
    return [fail("secret", error.message, error.suggestion)];
  }
};

/** Reads the running server's metrics, where they are served. */
export const checkEventLoop: Check = async ({ config, metrics }) => {
  const what = "event loop";
  if (config.metrics === null) return [];
  const text = await metrics();
  const heldSeconds = text === null ? null : metricValue(text, RECENT_HOLD);
  if (heldSeconds === null) {
    const { host, port } = config.metrics;
    const mend = "start the server with the same --metrics, or leave the flag out here";
    return [warn(what, `no server shows its metrics on ${host}:${port}`, mend)];
  }
  const finding = `held for at most ${Math.round(heldSeconds * 1000)} ms in the last ten minutes`;
  if (heldSeconds * 1000 <= HELD_MS) return [ok(what, finding)];
  const mend =
    'search the server\'s log for "event loop held": it names the work that took so long';
  return [warn(what, finding, mend)];
};

function exposed(what: string, folder: string, files: readonly string[]): Finding {
  const finding = `others may read ${files.join(", ")} in ${folder}`;
  const mend = `chmod 700 ${folder}; chmod 600 ${files.map((file) => join(folder, file)).join(" ")}`;
  return files.includes("secret") ? fail(what, finding, mend) : warn(what, finding, mend);
}

function isOpenToOthers(mode: number | null): boolean {
  return mode !== null && (mode & 0o077) !== 0;
}
