/**
 * The start on a full disk. Instead of ending, the server waits for space. Meanwhile `/livez` answers
 * 200, and `/readyz` and all other paths answer 503 with the reason.
 */

import { SQLiteError } from "bun:sqlite";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/settings.ts";
import { freeBytes } from "../db/folder.ts";
import { openSubstitute } from "../http/substitute.ts";
import type { Clock } from "../lib/clock.ts";
import { describeError, type Log } from "../lib/log.ts";
import { hostInUrl } from "../installation.ts";

/** A start writes less than this, unless a migration rebuilds a large table. */
const NEEDED_BYTES = 1024 * 1024;
const POLL_MS = 100;
/** Added to the wait with each start that failed, because a migration may need more space. */
const LONGER_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const MAX_CAUSES = 5;

/** Codes of the system for a full disk and a used-up quota of the file system. */
const FULL_CODES: readonly unknown[] = ["ENOSPC", "EDQUOT", "SQLITE_FULL"];

/** Whether a start failed because nothing can be written to the folder, and may succeed later. */
export function isOutOfSpace(error: unknown, folder: string): boolean {
  const causes = causesOf(error);
  if (causes.some((cause) => FULL_CODES.includes(Reflect.get(cause, "code")))) return true;
  // SQLite names no reason if it cannot create or extend one of its files.
  const free = freeBytes(folder);
  return free !== null && free < NEEDED_BYTES && causes.some((c) => c instanceof SQLiteError);
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && causes.length < MAX_CAUSES; at = at.cause) {
    causes.push(at);
  }
  return causes;
}

/**
 * Resolves to true as soon as the folder has space, and to false if the process is asked to stop.
 * `failures` is the number of starts that failed for want of space.
 */
export async function waitForSpace(
  { host, port }: Pick<Config, "host" | "port">,
  context: {
    folder: string;
    error: unknown;
    failures: number;
    stopped: Promise<void>;
    clock: Clock;
    log: Log;
  },
): Promise<boolean> {
  const { folder, error, failures, clock, log } = context;
  log.warn("the disk is full: the server waits, and starts as soon as there is space", {
    folder,
    freeBytes: freeBytes(folder),
    livez: `http://${hostInUrl(host)}:${port}/livez`,
    error: describeError(error),
  });
  const substitute = openSubstitute({
    hostname: host,
    port,
    clock,
    message: "The storage is full: the server starts as soon as there is space.",
  });
  try {
    const pauseMs = Math.min(POLL_MS + LONGER_MS * (failures - 1), LONGEST_WAIT_MS);
    const stopped = context.stopped.then(() => "stopped");
    for (;;) {
      if ((await Promise.race([Bun.sleep(pauseMs), stopped])) === "stopped") return false;
      if (hasSpace(folder)) break;
    }
    log.info("there is space again");
    return true;
  } finally {
    substitute.close();
  }
}

/** Writes as much as a start needs, because a quota is not shown by the free bytes. */
function hasSpace(folder: string): boolean {
  if ((freeBytes(folder) ?? 0) < NEEDED_BYTES) return false;
  const file = join(folder, "space-check");
  try {
    writeFileSync(file, new Uint8Array(NEEDED_BYTES), { flush: true });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(file, { force: true });
  }
}
