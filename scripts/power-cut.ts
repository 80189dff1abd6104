/**
 * Simulates power cuts while the server works, and checks the database afterwards.
 *
 * `bun scripts/power-cut.ts [--load accept|campaign] [--mails 6000] [--cuts 150] [--seed N]
 * [--searches 2] [--durability background|sqlite] [--binary[=PATH]]`
 *
 * A process that is killed loses nothing that it wrote. A power cut may lose any write that no sync
 * has completed, in any order. The server runs under strace (Linux), which reports writes to the
 * database and its write-ahead log, and when each sync begins and ends; `power-cut/disk.ts` computes
 * from that which contents a disk may have. After each cut SQLite must open the database and find it
 * undamaged.
 *
 * With `--load accept` the server accepts mails and events, and the database must contain each whose
 * request was answered. As many searches as `--searches` says run meanwhile in threads. With `--load campaign` it sends a campaign, and no mail may have left without
 * a lease, or be SENT without having left.
 *
 * `--lie log|begin|database` ignores syncs, as if the server had not requested them: all syncs of the
 * log, only the first sync after the log was restarted, or all syncs of the database. With a lie the
 * cuts must find damage, which shows that the check works.
 */

import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linesOf, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { runCheck } from "./bench/run-check.ts";
import { reportAims, printValue, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { choiceOf, crashOptions } from "./crash/options.ts";
import { createAcceptLoad } from "./power-cut/accept.ts";
import { createCampaignLoad } from "./power-cut/campaign.ts";
import { createDiskFile } from "./power-cut/disk.ts";
import type { Load } from "./power-cut/load.ts";
import { type Step, stepsOf, straceTo } from "./power-cut/trace.ts";
import { createRandom } from "./seed/random.ts";

const DATABASE = "mailstead.db";
const LOG = `${DATABASE}-wal`;
/** Steps after a restart of the log with many cuts, since errors in write order would show there. */
const STEPS_AFTER_RESTART = 60;
const LIMIT_MS = 30 * 60_000;
const LIES = ["nothing", "log", "begin", "database"] as const;
const DURABILITIES = ["background", "sqlite"] as const;
const LOADS = ["accept", "campaign"] as const;

type Options = {
  load: (typeof LOADS)[number];
  mails: number;
  cuts: number;
  searches: number;
  durability: (typeof DURABILITIES)[number];
  seed: number;
  lie: (typeof LIES)[number];
  binary: string | null;
};

type Report = {
  cuts: number;
  /** Cuts shortly after the log was restarted. */
  cutsAfterRestart: number;
  /** How often the log was restarted. */
  restarts: number;
  /** Error messages of damaged databases. */
  damaged: string[];
};

async function run(): Promise<boolean> {
  const options = readOptions();
  if (Bun.which("strace") === null) {
    throw new Error("strace is missing; install it on Linux with: apt-get install strace");
  }
  console.log(`power-cut: ${options.load}, ${whole(options.mails)} mails, seed ${options.seed}`);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const load =
    options.load === "accept"
      ? createAcceptLoad(options.mails, options.searches)
      : await createCampaignLoad(data, options.mails);
  const pipe = join(data, "trace");
  Bun.spawnSync(["mkfifo", pipe]);
  const following = followTrace(data, linesOf(Bun.spawn(["cat", pipe]).stdout), {
    ...options,
    load,
  });
  const main = options.binary === null ? [process.execPath, "src/main.ts"] : [options.binary];
  const server = await startServer({
    binary: null,
    program: [...straceTo(pipe), ...main],
    data,
    args: [...load.args, "--durability", options.durability],
  });
  await load.run(server, key);
  await server.crash();
  const report = await following;
  const isKept = print(report, load, options);
  await load.close();
  removeFolder(data);
  return isKept;
}

function readOptions(): Options {
  const numbers = { mails: 6000, cuts: 150, searches: 2, seed: 1 };
  const words = { load: "accept", durability: "background", lie: "nothing" };
  const options = crashOptions("power-cut.ts", { ...words, ...numbers });
  return {
    ...options,
    load: choiceOf("load", options.load, LOADS),
    durability: choiceOf("durability", options.durability, DURABILITIES),
    lie: choiceOf("lie", options.lie, LIES),
  };
}

/** Applies the traced calls to the simulated disk and cuts the power at random steps. */
async function followTrace(
  data: string,
  lines: AsyncIterable<string>,
  { load, cuts, seed, lie }: Omit<Options, "load"> & { load: Load },
): Promise<Report> {
  const random = createRandom(seed);
  const files = new Map(
    [DATABASE, LOG].map((name) => [name, createDiskFile(contentOf(join(data, name)))]),
  );
  const endCallByThread = new Map<string, () => void>();
  const report: Report = {
    cuts: 0,
    cutsAfterRestart: 0,
    restarts: 0,
    damaged: [],
  };
  let stepsSinceRestart = Infinity;
  let ignoresNextSync = false;

  function applyStep(step: Step): void {
    if ("ends" in step) {
      endCallByThread.get(step.thread)?.();
      endCallByThread.delete(step.thread);
      return;
    }
    const call = step.begins;
    if (call.is === "send") {
      return load.noteSend(call.file, call.text);
    }
    const file = files.get(call.file);
    if (file === undefined) return;
    if (call.is === "write") {
      if (call.file === LOG && call.offset === 0) noteRestart();
      endCallByThread.set(step.thread, file.write(call.offset, call.bytes));
    } else if (call.is === "resize") {
      endCallByThread.set(step.thread, file.resize(call.size));
    } else if (!isSyncIgnored(call.file)) {
      endCallByThread.set(step.thread, file.sync());
    }
    stepsSinceRestart++;
  }

  function noteRestart(): void {
    report.restarts++;
    stepsSinceRestart = 0;
    ignoresNextSync = lie === "begin";
  }

  function isSyncIgnored(name: string): boolean {
    if (name === DATABASE) return lie === "database";
    const isFirstSync = ignoresNextSync;
    ignoresNextSync = false;
    return lie === "log" || isFirstSync;
  }

  function cut(): void {
    report.cuts++;
    if (stepsSinceRestart <= STEPS_AFTER_RESTART) report.cutsAfterRestart++;
    const left = join(data, "left");
    mkdirSync(left);
    for (const [name, file] of files) writeFileSync(join(left, name), file.afterCut(random));
    const damage = checkDatabase(left, load);
    if (damage !== null) report.damaged.push(damage);
    rmSync(left, { recursive: true });
  }

  const every = Math.ceil(load.steps / cuts);
  for await (const line of lines) {
    for (const step of stepsOf(line)) {
      applyStep(step);
      const isAfterRestart = stepsSinceRestart <= STEPS_AFTER_RESTART && report.restarts > 1;
      if (random.integer(isAfterRestart ? 2 : every) === 0) cut();
    }
  }
  cut();
  return report;
}

function contentOf(path: string): Uint8Array {
  return existsSync(path) ? readFileSync(path) : new Uint8Array();
}

/**
 * Checks a database folder as a new start would find it. Returns what is damaged; null if nothing is.
 */
function checkDatabase(folder: string, load: Load): string | null {
  try {
    const sqlite = new Database(join(folder, DATABASE));
    try {
      const [found] = sqlite.query("PRAGMA integrity_check(1)").values().flat();
      const orphans = sqlite.query("PRAGMA foreign_key_check").values().length;
      load.check(sqlite);
      return found === "ok" && orphans === 0 ? null : `${String(found)}, ${orphans} orphans`;
    } finally {
      sqlite.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function print(report: Report, load: Load, options: Options): boolean {
  const { cuts, cutsAfterRestart, restarts, damaged } = report;
  printValue("restarts of the log", whole(restarts));
  printValue("cuts", `${whole(cuts)}, ${whole(cutsAfterRestart)} of them right after a restart`);
  for (const damage of new Set(damaged)) printValue("damage", damage);
  const restartAim = {
    name: "restarts of the log",
    isMet: restarts > 2,
    measured: whole(restarts),
    wanted: "> 2",
  };
  return reportAims([
    {
      name: "damaged databases",
      isMet: damaged.length === 0,
      measured: whole(damaged.length),
      wanted: "0",
    },
    ...load.report(),
    // The mails of a campaign are too small to fill the log.
    ...(options.load === "accept" ? [restartAim] : []),
  ]);
}

await runCheck(run, LIMIT_MS);
