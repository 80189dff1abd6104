/** The commands show the progress of a backup. */

import { expect, test } from "bun:test";
import { barOf } from "../../src/cli/backup-progress.ts";

const MIB = 1024 * 1024;

test.each([
  [{ phase: "copy", bytes: 0, totalBytes: null } as const, "copy     …"],
  [
    { phase: "upload", bytes: 5 * MIB, totalBytes: 20 * MIB } as const,
    `upload   [${"#".repeat(7)}${"-".repeat(23)}]  25 % of 20.0 MiB`,
  ],
  // The file grew meanwhile.
  [
    { phase: "check", bytes: 3 * MIB, totalBytes: 2 * MIB } as const,
    `check    [${"#".repeat(30)}] 100 % of 2.0 MiB`,
  ],
])("the bar of a terminal shows the phase and its share", (progress, bar) => {
  expect(barOf(progress)).toBe(bar);
});
