/**
 * A temporary folder of this process, which is removed after the process has ended in any way:
 * `bun test --parallel` ends its workers without an event, and an interrupted run kills them. So a
 * shell in the background, which ignores signals, looks every second whether this process runs.
 *
 * Servers (BUN_FEATURE_FLAG_NO_ORPHANS) and Chromium (its pipe) end with the process. They may
 * write for a moment, so the folder is removed twice.
 */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The outer shell ends at once: a test that takes too long would end children of the tests. */
const REMOVE_AT_END = `(
  trap "" INT TERM HUP
  while kill -0 "$1"; do sleep 1; done
  rm -rf -- "$0"
  sleep 2
  rm -rf -- "$0"
) >/dev/null 2>&1 &`;

let folder: string | undefined;

/** Returns the folder, which is made at the first call. */
export function processFolder(): string {
  if (folder !== undefined) return folder;
  folder = mkdtempSync(join(tmpdir(), "mailstead-tests-"));
  Bun.spawnSync(["sh", "-c", REMOVE_AT_END, folder, String(process.pid)]);
  return folder;
}
