/** Measures the memory of a backup of a large database, besides that of a command that does little. */

import { fixed, type Outcome, whole } from "../bench/report.ts";
import type { Place } from "./kills.ts";
import { runCommand } from "./program.ts";
import { withBackupStore } from "./store.ts";

const MAX_MIB = 100;

export function measureMemory(
  place: Place,
  options: { binary: string | null; megabytes: number },
): Promise<Outcome> {
  return withBackupStore(options, async ({ binary, env }) => {
    const commands = { binary, env: { ...env, ...place.env } };
    const idle = await runCommand(commands, ["backup", "list", place.target]);
    const made = await runCommand(commands, ["backup", "run", place.target]);
    const above = made.peakMiB - idle.peakMiB;
    return {
      figures: [
        ["a backup of", `${options.megabytes} MiB in ${fixed(made.seconds, 1)} s`],
        [
          "peak memory",
          `${whole(made.peakMiB)} MiB, and ${whole(idle.peakMiB)} MiB of backup list`,
        ],
      ],
      aims: [
        { name: "exit code", isMet: made.code === 0, measured: `${made.code}`, wanted: "0" },
        {
          name: "peak memory above that of backup list",
          isMet: above < MAX_MIB,
          measured: `${whole(above)} MiB`,
          wanted: `< ${MAX_MIB} MiB`,
        },
      ],
    };
  });
}
