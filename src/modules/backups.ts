/**
 * Scheduled backups of a server, with `--backup-to`. Every day at `--backup-at`, or when an owner asks, the
 * program starts itself as `mailstead backup run` (backup/make.ts) with a low priority: so neither the
 * event loop nor the memory of the server is used. After a failure it is tried again every hour. A backup
 * runs at most once at a time, also beside a command. A start removes the files that an interrupted
 * backup has left. The result of the latest one is in the database (backup/state.ts).
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { constants, setPriority } from "node:os";
import { cleanBackups } from "../backup/make.ts";
import { BACKUP_PHASES, type BackupProgress } from "../backup/phases.ts";
import { BackupError } from "../backup/refusal.ts";
import type { S3Access } from "../backup/s3-target.ts";
import { type BackupState, backupState, recordBackupFailure } from "../backup/state.ts";
import {
  findNewestBackup,
  installationId,
  type Inventory,
  readInventory,
} from "../backup/stored.ts";
import { openTarget, type BackupTarget } from "../backup/target.ts";
import type { Config } from "../config/settings.ts";
import type { App } from "../core/app.ts";
import { readInstallationValue } from "../db/installation-values.ts";
import { backupKeepText } from "../lib/backup-keep.ts";
import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { describeError } from "../lib/log.ts";
import { isS3 } from "../lib/s3-location.ts";
import { systemTimeZone } from "../lib/time-zone.ts";
import { perApp } from "../lib/per-app.ts";
import type { Module } from "./module.ts";

type Running = {
  startedAt: number;
  /** Null until the command tells of it. */
  progress: BackupProgress | null;
  ended: Promise<void>;
  kill: () => void;
};
type Failure = NonNullable<BackupState["failure"]>;

/** The last line of a child's standard error is kept, up to this length. */
const MAX_LINE_CHARACTERS = 10_000;
/** After a failure, this many minutes after the minute of the scheduled backup, in each hour. */
const RETRY_MINUTES = 30;

export const backupRunner = perApp(createRunner);

function createRunner(app: App) {
  const { clock, config, folder, log, secret } = app;
  let running: Running | null = null;

  /** Starts a backup. Throws AppError if it is not possible now. */
  function begin(): Running {
    if (config.backupTo === null || folder === null) {
      throw new AppError(409, "CONFLICT", "This server makes no backups.", {
        suggestion:
          "Give --backup-to with a folder or s3://BUCKET/PREFIX, or set it on the page Server settings, and " +
          "start the server again.",
      });
    }
    if (running !== null) throw new AppError(409, "CONFLICT", "A backup is being made already.");
    if (!hasKey(app.db)) {
      throw new AppError(409, "CONFLICT", "There is no recovery key for backups yet.", {
        suggestion: "Make one on the server with mailstead backup init.",
      });
    }
    const child = startChild(config, { folder, secret });
    const begun: Running = {
      startedAt: clock.now(),
      progress: null,
      kill: () => child.kill(),
      ended: settle(child, (progress) => (begun.progress = progress)).finally(
        () => (running = null),
      ),
    };
    running = begun;
    lowerPriority(child.pid);
    return begun;
  }

  /** The command stores how it ended, unless it was killed or could not begin. */
  async function settle(
    child: Child,
    onProgress: (progress: BackupProgress) => void,
  ): Promise<void> {
    const before = backupState(app.db, config.backupTo).failure;
    const [code, , last] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      readLines(child.stderr, onProgress),
    ]);
    if (code === 0) {
      log.info("a backup was made and verified", { target: config.backupTo });
      return;
    }
    const { code: kind, error, suggestion } = child.signalCode === null ? errorIn(last) : STOPPED;
    if (kind === "BACKUP_RUNS") {
      log.info("no backup was begun, because a command makes one", {});
      return;
    }
    log.error("a backup failed", { error });
    const isStored = !Bun.deepEquals(before, backupState(app.db, config.backupTo).failure);
    if (!isStored) await recordFailure({ at: clock.now(), error, suggestion });
  }

  async function recordFailure(failure: Failure): Promise<void> {
    const { backupTo } = config;
    if (backupTo === null) return;
    await app.writer.write(() => recordBackupFailure(app.db, backupTo, failure));
  }

  function lowerPriority(pid: number): void {
    try {
      setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch (error) {
      log.debug("the priority of a backup stays", { error: describeError(error) });
    }
  }

  return {
    begin,
    running: () => running,

    /** The time of the next backup. */
    async nextAt(): Promise<number> {
      const { Cron } = await import("croner");
      const patterns = [dailyPattern(config.backupAt)];
      if (backupState(app.db, config.backupTo).failure !== null)
        patterns.push(retryPattern(config.backupAt));
      const now = new Date(clock.now());
      const timezone = systemTimeZone();
      return Math.min(
        ...patterns.map(
          (pattern) => new Cron(pattern, { timezone }).nextRun(now)?.getTime() ?? Infinity,
        ),
      );
    },

    /** The scheduled backup; a problem is logged. Resolves when it has ended. */
    async runScheduled(): Promise<void> {
      try {
        await begin().ended;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        log.error("a backup failed", { error: error.message });
        const { message, suggestion = null } = error;
        if (running === null) await recordFailure({ at: clock.now(), error: message, suggestion });
      }
    },

    /** Makes a backup if the latest try failed. */
    async runAgain(): Promise<void> {
      const isDue =
        backupState(app.db, config.backupTo).failure !== null && running === null && hasKey(app.db);
      if (isDue) await begin().ended;
    },
  };
}

const hasKey = (db: Pick<App["db"], "sqlite">): boolean =>
  readInstallationValue(db, "backup_recipient") !== null;

export function backupModule(app: App): Module {
  const { config, folder, log, secret } = app;
  const { backupAt, backupTo } = config;
  if (backupTo === null || folder === null) return { name: "backups" };
  const runner = backupRunner(app);

  /** The server must also start while the target is missing. The doctor reports it. */
  async function clean(path: string): Promise<void> {
    try {
      const target = backupTargetOf(config, app.clock);
      if (target !== null) await cleanBackups({ path, secret }, target);
    } catch (error) {
      const told = error instanceof BackupError ? error.message : describeError(error);
      log.error("the place of the backups cannot be used", { error: told });
    }
  }

  return {
    name: "backups",
    recurring: [
      {
        name: "backup",
        pattern: dailyPattern(backupAt),
        isLocal: true,
        run: runner.runScheduled,
      },
      {
        name: "backup after a failure",
        pattern: retryPattern(backupAt),
        isLocal: true,
        run: runner.runAgain,
      },
    ],
    async start() {
      const cleaning = clean(folder);
      // The start does not wait for a bucket.
      if (!isS3(backupTo)) await cleaning;
    },
    async stop() {
      runner.running()?.kill();
      await runner.running()?.ended;
    },
  };
}

type TargetConfig = Pick<
  Config,
  "backupTo" | "s3Endpoint" | "s3Region" | "s3AccessKeyId" | "s3SecretAccessKey"
>;

/** The place of the backups; null without --backup-to. Throws BackupError if settings are missing. */
function backupTargetOf(config: TargetConfig, clock: Clock): BackupTarget | null {
  return config.backupTo === null ? null : openTarget(config.backupTo, s3AccessOf(config, clock));
}

export function s3AccessOf(config: Omit<TargetConfig, "backupTo">, clock: Clock): S3Access {
  return {
    endpoint: config.s3Endpoint,
    region: config.s3Region,
    accessKeyId: config.s3AccessKeyId,
    secretAccessKey: config.s3SecretAccessKey,
    clock,
  };
}

/** Reads the state of the backups for the doctor; null if none are scheduled. */
export async function readBackupsFound(
  { config, clock }: { config: TargetConfig; clock: Clock },
  db: Pick<App["db"], "sqlite">,
  secret: string,
): Promise<{ hasKey: boolean; newestAt: number | null } | null> {
  const target = backupTargetOf(config, clock);
  if (target === null) return null;
  const newest = await findNewestBackup(target, installationId(secret));
  return {
    hasKey: hasKey(db),
    newestAt: newest === null ? null : Date.parse(newest.manifest.contents.createdAt),
  };
}

/** The backups in the target, also those that cannot be used. */
export async function listBackups(app: App): Promise<Pick<Inventory, "complete" | "damaged">> {
  try {
    const target = backupTargetOf(app.config, app.clock);
    if (target === null || app.folder === null) return { complete: [], damaged: [] };
    return await readInventory(target, installationId(app.secret));
  } catch (error) {
    const [message, suggestion] =
      error instanceof BackupError
        ? [error.message, error.suggestion ?? undefined]
        : [error instanceof Error ? error.message : String(error), undefined];
    throw new AppError(503, "SERVICE_UNAVAILABLE", message, { ...(suggestion && { suggestion }) });
  }
}

/** The pattern of croner for a time of day, in the time zone of the system. */
function dailyPattern({ hour, minute }: App["config"]["backupAt"]): string {
  return `0 ${minute} ${hour} * * *`;
}

function retryPattern({ minute }: App["config"]["backupAt"]): string {
  return `0 ${(minute + RETRY_MINUTES) % 60} * * * *`;
}

type Child = Bun.Subprocess<"ignore", "pipe", "pipe">;

export const BACKUP_SETTINGS = [
  "backupTo",
  "backupKeep",
  "s3Endpoint",
  "s3Region",
  "s3AccessKeyId",
  "s3SecretAccessKey",
] as const satisfies (keyof Config)[];
type BackupSetting = (typeof BACKUP_SETTINGS)[number];

/** The variables with which `mailstead backup run` makes the scheduled backup. */
export function backupVariables(
  config: Pick<Config, BackupSetting>,
  { folder, secret }: { folder: string; secret: string | null },
): Record<string, string> {
  const { backupKeep, backupTo, s3Endpoint, s3Region, s3AccessKeyId, s3SecretAccessKey } = config;
  const settings = {
    DATA: folder,
    SECRET: secret,
    BACKUP_TO: backupTo,
    BACKUP_KEEP: backupKeepText(backupKeep),
    S3_ENDPOINT: s3Endpoint,
    S3_REGION: s3Region,
    S3_ACCESS_KEY_ID: s3AccessKeyId,
    S3_SECRET_ACCESS_KEY: s3SecretAccessKey,
  };
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]) =>
      value === null ? [] : [[`MAILSTEAD_${name}`, value] as const],
    ),
  );
}

/**
 * The variables of this process that are no settings, such as the time zone and the certificates that are
 * trusted.
 */
export function inheritedVariables(): Record<string, string> {
  const inherited = Object.entries(process.env).flatMap(([name, value = ""]) =>
    /^(?:MAILSTEAD|MP)_/.test(name) ? [] : [[name, value] as const],
  );
  return { ...Object.fromEntries(inherited), TZ: systemTimeZone() };
}

function startChild(config: Config, place: { folder: string; secret: string }): Child {
  return Bun.spawn([...programWords(), "backup", "run", "--json"], {
    // Not on the command line, which every user of the machine can read.
    env: { ...inheritedVariables(), ...backupVariables(config, place) },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** The words that start this program. */
export function programWords(): string[] {
  const isExecutable = import.meta.url.includes("/$bunfs/") || import.meta.url.includes("/~BUN/");
  return isExecutable
    ? [process.execPath]
    : [process.execPath, Bun.fileURLToPath(new URL("../main.ts", import.meta.url))];
}

const ProgressLine = Type.Object({
  phase: Type.Union(BACKUP_PHASES.map((phase) => Type.Literal(phase))),
  bytes: Type.Optional(Type.Integer()),
  totalBytes: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
});

/** Reads the lines of a command, and returns the last one. */
async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onProgress: (progress: BackupProgress) => void,
): Promise<string> {
  let [last, rest] = ["", ""];
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(-MAX_LINE_CHARACTERS);
    for (const line of lines) {
      const told = readJson(line);
      if (line.trim() !== "") last = line;
      if (!Value.Check(ProgressLine, told)) continue;
      onProgress({
        phase: told.phase,
        bytes: told.bytes ?? 0,
        totalBytes: told.totalBytes ?? null,
      });
    }
  }
  return rest.trim() === "" ? last : rest;
}

type Told = { code: string; error: string; suggestion: string | null };

const STOPPED: Told = {
  code: "STOPPED",
  error: "It was stopped before its end.",
  suggestion: "It is made again at the usual time, or now with mailstead backup run.",
};

const ErrorLine = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    suggestion: Type.Union([Type.String(), Type.Null()]),
  }),
});

/** The error of a command, which is the last line that it writes. */
function errorIn(last: string): Told {
  const line = readJson(last);
  if (!Value.Check(ErrorLine, line)) return { code: "FAILED", error: last, suggestion: null };
  const { code, message, suggestion } = line.error;
  return { code, error: message, suggestion };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // A crash of the runtime writes other lines, which are told as they are.
  }
}
