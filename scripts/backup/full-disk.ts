/** A disk that is too small, and one that becomes full while a backup is made. */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fillDisk, mountSmallDisk, unmountDisk } from "../../test/support/small-disk.ts";
import { temporaryFolder } from "../bench/children.ts";
import { type Aim, type Outcome } from "../bench/report.ts";
import { type Ended, runCommand, startCommand } from "./program.ts";
import { withBackupStore } from "./store.ts";

const DISK_MIB = 500;
const DATABASE_MIB = 100;

/** Null if no disk may be mounted here. */
export async function fillDiskDuringBackup(options: {
  binary: string | null;
}): Promise<Outcome | null> {
  const disk = mountSmallDisk(DISK_MIB);
  if (disk === null) return null;
  try {
    const given = { ...options, megabytes: DATABASE_MIB, folder: disk };
    return await withBackupStore(given, async (commands) => {
      const target = join(temporaryFolder(), "backups");
      const filler = join(disk, "filler");
      const backup = startCommand(commands, ["backup", "run", target]);
      await backup.untilPhase("verify");
      fillDisk(filler);
      const filled = await backup.end();
      const isClean = readdirSync(join(disk, "backup")).join() === "lock";
      const isEmpty = readdirSync(target).length === 0;
      const refused = await runCommand(commands, ["backup", "run", target]);
      rmSync(filler);
      const made = await runCommand(commands, ["backup", "run", target]);
      return {
        figures: [],
        aims: [
          textAim("a disk that becomes full", filled, /became full|free, and the backup needs/),
          textAim("a full disk", refused, /free, and the backup needs up to/),
          flagAim("the work folder is empty afterwards", isClean),
          flagAim("the target is empty afterwards", isEmpty),
          flagAim("with free space it is made", made.code === 0),
        ],
      };
    });
  } finally {
    unmountDisk(disk);
  }
}

/** The aim that a command fails with this text. */
export function textAim(name: string, { code, stderr }: Ended, wanted: RegExp): Aim {
  const last = stderr.trimEnd().split("\n").at(-1) ?? "";
  const measured = /"message":"([^"]*)/.exec(last)?.[1] ?? `exit code ${code}`;
  return { name, isMet: code === 1 && wanted.test(stderr), measured, wanted: wanted.source };
}

export const flagAim = (name: string, isMet: boolean): Aim => ({
  name,
  isMet,
  measured: isMet ? "yes" : "no",
  wanted: "yes",
});
