/** Shows how far a backup is: as a bar on a terminal, and as lines of JSON for programs. */

import type { BackupProgress } from "../backup/phases.ts";
import type { Clock } from "../lib/clock.ts";
import type { Input } from "./command.ts";

const INTERVAL_MS = 500;
const BAR_CHARACTERS = 30;
const MIB = 1024 * 1024;
const CLEAR_LINE = "\r\u001b[K";

/** `show` writes each phase, and its bytes at intervals; `end` leaves the cursor at a new line. */
export function backupProgress(
  { io: { stderr }, isJson }: Input,
  clock: Clock,
): { show(progress: BackupProgress): Promise<void>; end(): Promise<void> } {
  let nextAt = 0;
  const isShown = isJson || stderr.isTerminal;

  return {
    async show({ phase, bytes, totalBytes }) {
      const isNew = bytes === 0;
      if (!isShown || (!isNew && clock.elapsed() < nextAt)) return;
      nextAt = clock.elapsed() + INTERVAL_MS;
      if (!isJson) return stderr.write(`${CLEAR_LINE}${barOf({ phase, bytes, totalBytes })}`);
      const line = isNew ? { phase } : { phase, bytes, totalBytes };
      await stderr.write(`${JSON.stringify(line)}\n`);
    },
    async end() {
      if (!isJson && stderr.isTerminal) await stderr.write(CLEAR_LINE);
    },
  };
}

export function barOf({ phase, bytes, totalBytes }: BackupProgress): string {
  const name = phase.padEnd(8);
  if (totalBytes === null || totalBytes === 0) return `${name} …`;
  const done = Math.min(1, bytes / totalBytes);
  const full = Math.floor(done * BAR_CHARACTERS);
  const bar = "#".repeat(full) + "-".repeat(BAR_CHARACTERS - full);
  const percent = String(Math.floor(done * 100)).padStart(3);
  return `${name} [${bar}] ${percent} % of ${(totalBytes / MIB).toFixed(1)} MiB`;
}
