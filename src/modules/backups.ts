/**
 * Scheduled backups of a server, with `--backup-to`. Every day at `--backup-at`, or when an owner asks, the
 * program starts itself as `mailstead backup run` (backup/make.ts) with a low priority: so neither the
 * event loop nor the memory of the server is used. A backup runs at most once at a time, also
 * beside a command. A start removes what an interrupted backup has left.
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { constants, setPriority } from "node:os";
import { cleanBackups } from "../backup/make.ts";
import { findNewestBackup, prefixOf, type StoredBackup } from "../backup/folder.ts";
import { type BackupState, backupState, recordBackupFailure } from "../backup/state.ts";
import type { App } from "../core/app.ts";
import { readInstallationValue } from "../db/installation-values.ts";
import { AppError } from "../lib/errors.ts";
import { describeError } from "../lib/log.ts";
import { perApp } from "../lib/per-app.ts";
import type { Module } from "./module.ts";

type Running = { startedAt: number; ended: Promise<void>; kill: () => void };
type Failure = NonNullable<BackupState["failure"]>;

/** The end of what a child has written to its standard error that is kept. */
const MAX_ERROR_CHARACTERS = 4_000;

export const backupRunner = perApp(createRunner);

function createRunner(app: App) {
  const { clock, config, folder, log, secret } = app;
  let running: Running | null = null;

  /** Starts a backup. Throws AppError if it is not possible now. */
  function begin(): Running {
    const { backupTo } = config;
    if (backupTo === null || folder === null) {
      throw new AppError(409, "CONFLICT", "This server makes no backups.", {
        suggestion: "Start it with --backup-to FOLDER.",
      });
    }
    if (running !== null) throw new AppError(409, "CONFLICT", "A backup is being made already.");
    if (readInstallationValue(app.db, "backup_recipient") === null) {
      throw new AppError(409, "CONFLICT", "There is no recovery key for backups yet.", {
        suggestion: "Make one on the server with mailstead backup init.",
      });
    }
    const child = startChild({ folder, secret, backupTo, keep: config.backupKeep });
    const begun: Running = {
      startedAt: clock.now(),
      kill: () => child.kill(),
      ended: settle(child).finally(() => (running = null)),
    };
    running = begun;
    lowerPriority(child.pid);
    return begun;
  }

  /** The command stores how it ended, unless it was killed or could not begin. */
  async function settle(child: Child): Promise<void> {
    const before = backupState(app.db).failure;
    const [code, , errors] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      readEnd(child.stderr),
    ]);
    if (code === 0) {
      log.info("a backup was made and verified", { folder: config.backupTo });
      return;
    }
    const { code: kind, error, suggestion } = child.signalCode === null ? errorIn(errors) : STOPPED;
    if (kind === "BACKUP_RUNS") {
      log.info("no backup was begun, because a command makes one", {});
      return;
    }
    log.error("a backup failed", { error });
    const isStored = !Bun.deepEquals(before, backupState(app.db).failure);
    if (!isStored) await recordFailure({ at: clock.now(), error, suggestion });
  }

  async function recordFailure(failure: Failure): Promise<void> {
    await app.writer.write(() => recordBackupFailure(app.db, failure));
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

    /** The newest backup in the folder; null if there is none, or if it cannot be read. */
    newest(): { backup: StoredBackup | null; failure: Failure | null } {
      if (config.backupTo === null) return { backup: null, failure: null };
      try {
        return { backup: findNewestBackup(config.backupTo, prefixOf(secret)), failure: null };
      } catch (error) {
        const suggestion = `Let the user of the server read ${config.backupTo}.`;
        return {
          backup: null,
          failure: { at: clock.now(), error: describeError(error), suggestion },
        };
      }
    },

    /** When the next scheduled backup is made. */
    async nextAt(): Promise<number | null> {
      const { Cron } = await import("croner");
      const next = new Cron(dailyPattern(config.backupAt)).nextRun(new Date(clock.now()));
      return next === null ? null : next.getTime();
    },

    /** The scheduled backup; a problem is logged. Resolves when it has ended. */
    async runScheduled(): Promise<void> {
      try {
        await begin().ended;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        log.error("a backup failed", { error: error.message });
        await recordFailure({
          at: clock.now(),
          error: error.message,
          suggestion: error.suggestion ?? null,
        });
      }
    },
  };
}

export function backupModule(app: App): Module {
  const { config, folder, log, secret } = app;
  const { backupTo } = config;
  if (backupTo === null || folder === null) return { name: "backups" };
  const runner = backupRunner(app);
  return {
    name: "backups",
    recurring: [
      { name: "backup", pattern: dailyPattern(config.backupAt), run: runner.runScheduled },
    ],
    async start() {
      try {
        cleanBackups({ path: folder, secret }, backupTo);
      } catch (error) {
        // The server must also start while the disk of the backups is missing. The doctor reports it.
        log.error("the folder of the backups cannot be used", { error: describeError(error) });
      }
    },
    async stop() {
      runner.running()?.kill();
      await runner.running()?.ended;
    },
  };
}

/** Returns the state of the backups for the doctor; null if none are scheduled. */
export function backupStateOf(
  { backupTo }: App["config"],
  db: Pick<App["db"], "sqlite">,
  secret: string,
): { hasKey: boolean; newestAt: number | null } | null {
  if (backupTo === null) return null;
  const newest = findNewestBackup(backupTo, prefixOf(secret));
  return {
    hasKey: readInstallationValue(db, "backup_recipient") !== null,
    newestAt: newest === null ? null : Date.parse(newest.manifest.contents.createdAt),
  };
}

/** The pattern of croner for a time of day, in the time zone of the system. */
function dailyPattern({ hour, minute }: App["config"]["backupAt"]): string {
  return `0 ${minute} ${hour} * * *`;
}

type Child = Bun.Subprocess<"ignore", "pipe", "pipe">;

function startChild(options: {
  folder: string;
  secret: string;
  backupTo: string;
  keep: number;
}): Child {
  const { folder, secret, backupTo, keep } = options;
  const words = ["backup", "run", backupTo, "--keep", String(keep), "--data", folder, "--json"];
  return Bun.spawn([...programWords(), ...words], {
    // Not on the command line, which every user of the machine can read.
    env: { MAILSTEAD_SECRET: secret },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** The words that start this program. */
function programWords(): string[] {
  const isExecutable = import.meta.url.includes("/$bunfs/") || import.meta.url.includes("/~BUN/");
  return isExecutable
    ? [process.execPath]
    : [process.execPath, Bun.fileURLToPath(new URL("../main.ts", import.meta.url))];
}

async function readEnd(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const piece of stream) {
    text = (text + Buffer.from(piece).toString("utf8")).slice(-MAX_ERROR_CHARACTERS);
  }
  return text;
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
function errorIn(text: string): Told {
  const last = text.trimEnd().split("\n").at(-1) ?? "";
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
