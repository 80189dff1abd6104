/**
 * Kills the server repeatedly while it works. The starts alternate between both settings of
 * `--durability`. At the end the database must be as `mailstead check` wants it.
 */

import { Database } from "bun:sqlite";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkSteps } from "../../src/cli/check/steps.ts";
import {
  freePort,
  logFileOf,
  removeFolder,
  type Server,
  startServer,
  temporaryFolder,
} from "../bench/children.ts";
import { type Aim, limitAim } from "../bench/report.ts";
import { prepareStore } from "../bench/store.ts";
import { createRandom, type Random } from "../seed/random.ts";

const HOUR_MS = 60 * 60_000;
const MIN_UPTIME_MS = 20;
const PROGRESS_LIMIT_MS = 5_000;
/** With an hourly clock, a server without progress for this time is started again. */
const RESTART_MS = 1_000;
const POLL_MS = 50;

export type CrashOptions = {
  kills: number;
  seed: number;
  /** Path of the executable; null runs the sources. */
  binary: string | null;
  /**
   * Whether the clock is an hour later at each start. Then all that was under way at a kill is due
   * at the next start; otherwise only after half a minute or more.
   */
  isHourly: boolean;
  /** Time limit for the work that is under way after the last kill, in milliseconds. */
  drainLimitMs: number;
  /** Receives the number of the kill, from 0, and the progress so far. */
  onKill?: (kill: number, progress: number) => void;
};

export type CrashStore = {
  data: string;
  key: string;
  port: number;
  /** Starts the server with these flags; `start` counts from 0. Resolves when it is ready. */
  launch(start: number, args: readonly string[]): Promise<Server>;
};

/** Makes a data folder with a project for the time of `work`. */
export async function withCrashStore<T>(
  { binary, isHourly }: Pick<CrashOptions, "binary" | "isHourly">,
  { isSigned = false }: { isSigned?: boolean },
  work: (store: CrashStore) => Promise<T>,
): Promise<T> {
  const data = temporaryFolder();
  const key = await prepareStore(data, 0, { isSigned });
  const port = freePort();
  const preload = join(import.meta.dir, "clock-ahead.ts");
  try {
    return await work({
      data,
      key,
      port,
      launch: (start, args) =>
        startServer({
          binary,
          data,
          port,
          args: [...args, "--durability", start % 2 === 0 ? "background" : "sqlite"],
          ...(isHourly ? { preload, env: { CLOCK_AHEAD_MS: String(start * HOUR_MS) } } : {}),
        }),
    });
  } finally {
    removeFolder(data);
  }
}

export type KilledWork = {
  /** Flags of the server. */
  args: readonly string[];
  maxUptimeMs: number;
  /** Is awaited after each start, before the time of the kill is chosen. */
  begin?: (kill: number) => Promise<void>;
  /** Works until the server is gone. */
  work?: (kill: number, isOver: () => boolean) => Promise<void>;
  progress: () => number;
  /** With this progress since its start, the server is killed before its time. */
  maxProgress?: number;
  /**
   * Whether a kill waits until there was progress since the start: on a busy machine the first answer
   * takes long, and a kill before it would prove nothing.
   */
  expectsProgress: (kill: number) => boolean;
  /** Ends the server; kills it if this is not given. */
  end?: (server: Server) => Promise<void>;
};

/** A generator for a small seed: the first numbers of such seeds would be small as well. */
export const randomOf = (seed: number): Random => createRandom(Math.imul(seed, 0x9e3779b1));

/** Starts the server and kills it after a random time, again and again. */
export async function killRepeatedly(
  { launch }: CrashStore,
  { kills, seed, onKill }: CrashOptions,
  load: KilledWork,
): Promise<void> {
  const { args, maxUptimeMs, progress, maxProgress = Infinity } = load;
  const random = randomOf(seed);
  for (let kill = 0; kill < kills; kill++) {
    const server = await launch(kill, args);
    const before = progress();
    await load.begin?.(kill);
    let isOver = false;
    const working = load.work?.(kill, () => isOver);
    await untilKill({
      uptimeMs: MIN_UPTIME_MS + random.integer(maxUptimeMs - MIN_UPTIME_MS),
      most: Math.ceil((maxProgress * (1 + random.integer(100))) / 100),
      expects: load.expectsProgress(kill),
      made: () => progress() - before,
    });
    isOver = true;
    await (load.end?.(server) ?? server.crash());
    await working;
    onKill?.(kill, progress());
  }
}

/** Waits until the uptime is over and there was progress, or until there was enough. */
async function untilKill(life: {
  uptimeMs: number;
  most: number;
  expects: boolean;
  made: () => number;
}): Promise<void> {
  const { uptimeMs, most, expects, made } = life;
  const startedAt = performance.now();
  for (;;) {
    const [progress, passedMs] = [made(), performance.now() - startedAt];
    if (progress >= most) return;
    if (passedMs >= uptimeMs && (progress > 0 || !expects)) return;
    if (passedMs >= uptimeMs + PROGRESS_LIMIT_MS) return;
    await Bun.sleep(1);
  }
}

/**
 * Starts the server until all is done. With an hourly clock, it is stopped and started again when there
 * is no progress, so that work for a later time becomes due. Resolves to the server, which runs,
 * and the number of the next start.
 */
export async function runUntilDone(
  { launch }: CrashStore,
  { isHourly, drainLimitMs }: CrashOptions,
  load: {
    args: readonly string[];
    start: number;
    begin?: () => Promise<void>;
    progress: () => number;
    /** So long there is no progress before the server is started again. */
    quietMs?: number;
    isDone: () => boolean | Promise<boolean>;
    /** Describes the work that is left, for the error after the time limit. */
    describeLeft?: () => string;
  },
): Promise<{ server: Server; nextStart: number }> {
  const deadline = performance.now() + drainLimitMs;
  for (let { start } = load; ; start++) {
    const server = await launch(start, load.args);
    await load.begin?.();
    let made = 0;
    const { quietMs = RESTART_MS } = load;
    let restartAt = performance.now() + quietMs;
    while (performance.now() < restartAt) {
      if (await load.isDone()) return { server, nextStart: start + 1 };
      if (performance.now() > deadline) {
        const left = load.describeLeft?.() ?? "";
        throw new Error(`some work is not done after the kills${left === "" ? "" : `: ${left}`}`);
      }
      await Bun.sleep(POLL_MS);
      const before = made;
      if (isHourly) made = load.progress();
      if (!isHourly || made !== before) restartAt = performance.now() + quietMs;
    }
    await server.stop();
  }
}

/** Stops the server, and returns the aims for its exit code and for the whole database. */
export async function stopAndCheck(server: Server, data: string): Promise<Aim[]> {
  const code = await server.stop();
  return [
    { name: "SIGTERM at the end", isMet: code === 0, measured: `exit code ${code}`, wanted: "0" },
    ...checkAims(data),
  ];
}

/** Runs the checks of `mailstead check`; each that found something is a missed aim. */
export function checkAims(data: string): Aim[] {
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const steps = checkSteps(sqlite);
  const failed = steps.flatMap(({ name, pieces }) => {
    const violations = pieces.flatMap((piece) => piece.find());
    const [first] = violations;
    if (first === undefined) return [];
    return [
      {
        name: `mailstead check, ${name}`,
        isMet: false,
        measured: `${violations.length}, such as ${first.id}: ${first.finding}`,
        wanted: "0",
      },
    ];
  });
  sqlite.close();
  return [...failed, limitAim("failed checks of mailstead check", failed.length)];
}

/** Returns how many mails were leased at each kill: the start after it logs that number. */
export function leasedAtStarts(data: string): number[] {
  const lines = readFileSync(logFileOf(data), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, returned] = /\bmails\b.*"returned":(\d+)/i.exec(line) ?? [];
    return returned === undefined ? [] : [Number(returned)];
  });
}

export const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);
