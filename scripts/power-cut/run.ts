/**
 * Runs the server under strace, which reports its writes and syncs, computes from them which contents
 * a disk may have at any moment (disk.ts), and opens the database as it would be after a power cut.
 *
 * A second disk lies: it ignores some of the syncs, as if the server had not requested them. Its cuts
 * must find damage, which shows that the checks work.
 */

import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linesOf, removeFolder, startServer, temporaryFolder } from "../bench/children.ts";
import { type Aim, limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { prepareStore } from "../bench/store.ts";
import { createRandom, type Random } from "../seed/random.ts";
import { createAcceptLoad } from "./accept.ts";
import { createCampaignLoad } from "./campaign.ts";
import { createDiskFile } from "./disk.ts";
import type { Findings, Load } from "./load.ts";
import { type Call, type Step, stepsOf, straceTo } from "./trace.ts";

const DATABASE = "mailstead.db";
const LOG = `${DATABASE}-wal`;
/** Steps after a restart of the log with many cuts, since errors in write order would show there. */
const STEPS_AFTER_RESTART = 60;

export const HAS_STRACE = Bun.which("strace") !== null;
export const LOADS = ["accept", "campaign"] as const;
export const DURABILITIES = ["background", "sqlite"] as const;
/** All syncs of the log, only the first sync after the log was restarted, or all of the database. */
export const LIES = ["nothing", "log", "begin", "database"] as const;
type Lie = (typeof LIES)[number];

export type PowerCutOptions = {
  load: (typeof LOADS)[number];
  mails: number;
  cuts: number;
  /** Searches that run meanwhile in threads; only with the load "accept". */
  searches: number;
  durability: (typeof DURABILITIES)[number];
  /**
   * The number of times that the log must be restarted, because the order of writes matters most there.
   */
  leastRestarts: number;
  seed: number;
  /** The syncs that the second disk ignores; there is none if it is "nothing". */
  lie: Lie;
  binary: string | null;
};

export async function runPowerCut(options: PowerCutOptions): Promise<Outcome> {
  if (!HAS_STRACE) {
    throw new Error("strace is missing; install it on Linux with: apt-get install strace");
  }
  const { binary, durability } = options;
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const load =
    options.load === "accept"
      ? createAcceptLoad(options.mails, options.searches)
      : await createCampaignLoad(data, options.mails);
  const pipe = join(data, "trace");
  Bun.spawnSync(["mkfifo", pipe]);
  const lines = linesOf(Bun.spawn(["cat", pipe]).stdout);
  const following = followTrace(data, lines, { ...options, load });
  const main = binary === null ? [process.execPath, "src/main.ts"] : [binary];
  const server = await startServer({
    binary: null,
    program: [...straceTo(pipe), ...main],
    data,
    args: [...load.args, "--durability", durability],
  });
  await load.run(server, key);
  await server.crash();
  const disks = await following;
  await load.close();
  removeFolder(data);
  return outcomeOf(disks, load, options);
}

/** Applies the traced calls to the simulated disks and cuts the power at random steps. */
async function followTrace(
  data: string,
  lines: AsyncIterable<string>,
  { load, cuts, seed, lie }: Omit<PowerCutOptions, "load"> & { load: Load },
): Promise<Disk[]> {
  const lies: readonly Lie[] = lie === "nothing" ? ["nothing"] : ["nothing", lie];
  const disks = lies.map((each) => createDisk(data, load, each));
  const [truthful] = disks;
  const random = createRandom(seed);
  const every = Math.ceil(load.steps / cuts);
  for await (const line of lines) {
    for (const step of stepsOf(line)) {
      for (const disk of disks) disk.apply(step);
      if ("begins" in step && step.begins.is === "send") {
        load.noteSend(step.begins.file, step.begins.text);
      }
      if (random.integer(truthful?.isNearRestart() === true ? 2 : every) !== 0) continue;
      for (const disk of disks) disk.cut(random);
    }
  }
  for (const disk of disks) disk.cut(random);
  return disks;
}

type Disk = ReturnType<typeof createDisk>;

/** A disk that ignores some syncs. */
function createDisk(data: string, load: Load, lie: Lie) {
  const files = new Map(
    [DATABASE, LOG].map((name) => [name, createDiskFile(contentOf(join(data, name)))]),
  );
  const endCallByThread = new Map<string, () => void>();
  const report = { cuts: 0, cutsAfterRestart: 0, restarts: 0 };
  /** Error messages of damaged databases. */
  const damaged: string[] = [];
  const findings: Findings[] = [];
  let stepsSinceRestart = Infinity;
  let ignoresNextSync = false;

  function begin(call: Call): (() => void) | undefined {
    const file = files.get(call.file);
    if (call.is === "send" || file === undefined) return undefined;
    stepsSinceRestart++;
    if (call.is === "resize") return file.resize(call.size);
    if (call.is === "sync") return isSyncIgnored(call.file) ? undefined : file.sync();
    if (call.file === LOG && call.offset === 0) noteRestart();
    return file.write(call.offset, call.bytes);
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

  const isAfterRestart = () => stepsSinceRestart <= STEPS_AFTER_RESTART;

  return {
    lie,
    report,
    damaged,
    findings,
    isNearRestart: () => isAfterRestart() && report.restarts > 1,

    apply(step: Step): void {
      if ("ends" in step) {
        endCallByThread.get(step.thread)?.();
        endCallByThread.delete(step.thread);
        return;
      }
      const end = begin(step.begins);
      if (end !== undefined) endCallByThread.set(step.thread, end);
    },

    /** Opens the database as a new start would find it, and checks it. */
    cut(random: Random): void {
      report.cuts++;
      if (isAfterRestart()) report.cutsAfterRestart++;
      const left = join(data, "left");
      mkdirSync(left);
      for (const [name, file] of files) writeFileSync(join(left, name), file.afterCut(random));
      const found = checkDatabase(left, load);
      if (typeof found === "string") damaged.push(found);
      else findings.push(found);
      rmSync(left, { recursive: true });
    },
  };
}

function contentOf(path: string): Uint8Array {
  return existsSync(path) ? readFileSync(path) : new Uint8Array();
}

/** Returns the damage, or the numbers that the load found in a sound database. */
function checkDatabase(folder: string, load: Load): string | Findings {
  try {
    const sqlite = new Database(join(folder, DATABASE));
    try {
      const [found] = sqlite.query("PRAGMA integrity_check(1)").values().flat();
      const orphans = sqlite.query("PRAGMA foreign_key_check").values().length;
      const isSound = found === "ok" && orphans === 0;
      return isSound ? load.check(sqlite) : `${String(found)}, ${orphans} orphans`;
    } finally {
      sqlite.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function outcomeOf(disks: readonly Disk[], load: Load, { lie, ...options }: PowerCutOptions) {
  const [truthful, lying] = disks;
  if (truthful === undefined) throw new Error("there is no disk");
  const { cuts, cutsAfterRestart, restarts } = truthful.report;
  const seen = load.report(truthful.findings);
  const aims: Aim[] = [
    limitAim("damaged databases", truthful.damaged.length),
    ...seen.aims,
    presenceAim("restarts of the log", restarts, options.leastRestarts),
  ];
  if (lying !== undefined) {
    const missed = load.report(lying.findings).aims.filter(({ isMet }) => !isMet).length;
    aims.push(
      presenceAim(`damage on a disk that ignores syncs: ${lie}`, lying.damaged.length + missed),
    );
  }
  const damages = [...new Set(truthful.damaged)].map((damage) => ["damage", damage] as const);
  const figures: Outcome["figures"] = [
    ["restarts of the log", whole(restarts)],
    ["cuts", `${whole(cuts)}, ${whole(cutsAfterRestart)} of them right after a restart`],
    ...damages,
    ...seen.figures,
  ];
  return { figures, aims };
}
