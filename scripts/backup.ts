/**
 * Makes backups under load and kills them in each phase, in a folder and in a bucket of `moto`, a server with
 * the interface of S3; then makes them with a wrong key, without a bucket, with a connection that is cut or
 * slow, and on a full disk, and measures their memory.
 *
 * `bun scripts/backup.ts [--kills 3] [--megabytes 200] [--memory-megabytes 500] [--seed N] [--binary[=PATH]]`
 *
 * `moto` is installed with pip into `.bun/tools/moto`; without Python or PyPI the script says so, and proves only
 * what needs no bucket. The full disk needs the right to mount one (root). The exit code is 1 if an
 * aim was missed.
 */

import { reportOutcome } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { crashOptions } from "./crash/options.ts";
import { fillDiskDuringBackup } from "./backup/full-disk.ts";
import { killBackups } from "./backup/kills.ts";
import { measureMemory } from "./backup/memory.ts";
import { startMoto } from "./backup/moto.ts";
import { failBackups } from "./backup/network-faults.ts";
import { bucketPlace, folderPlace } from "./backup/places.ts";

async function run(): Promise<boolean> {
  const options = crashOptions("backup.ts", {
    kills: 3,
    megabytes: 200,
    "memory-megabytes": 500,
    seed: 1,
  });
  const { binary, kills, megabytes, seed } = options;
  const killing = { binary, kills, megabytes, seed, connections: 4, flips: 8, quietMs: 10_000 };
  console.log(`backup: ${kills} × kill -9 in each phase, ${megabytes} MiB, seed ${seed}`);
  const isMet: boolean[] = [];

  console.log("in a folder");
  isMet.push(reportOutcome(await killBackups(folderPlace(), killing)));
  const disk = await fillDiskDuringBackup({ binary });
  if (disk === null) console.log("a full disk was not tried: mounting one is not permitted here");
  else isMet.push(reportOutcome(disk));

  const moto = await startMoto();
  if (moto === null) return false;
  console.log("in a bucket");
  isMet.push(reportOutcome(await killBackups(bucketPlace(moto, "killed"), killing)));
  isMet.push(reportOutcome(await failBackups(moto, { binary })));
  const memory = { binary, megabytes: options["memory-megabytes"] };
  isMet.push(reportOutcome(await measureMemory(bucketPlace(moto, "memory"), memory)));
  moto.stop();
  return isMet.every(Boolean);
}

await runCheck(run, 60 * 60_000);
