/**
 * The export of events with `--events-to`. Each hour the program starts itself as `mailstead events export`
 * (export.ts), because compressing takes longer than the event loop may be held. After a failure the next hour
 * writes what is missing.
 */

import { openTarget, type BackupTarget } from "../../backup/target.ts";
import type { Config } from "../../config/settings.ts";
import type { App } from "../../core/app.ts";
import { createReader, forgetReader } from "../../events/reader.ts";
import type { Clock } from "../../lib/clock.ts";
import { backupVariables, inheritedVariables, programWords, s3AccessOf } from "../backups.ts";
import type { Module } from "../module.ts";
import { EXPORT_READER } from "../../db/schema/readers.ts";

const MAX_CHARACTERS = 1_000;

export function eventExportModule(app: App): Module {
  const { config, folder } = app;
  const name = "event export";
  if (config.eventsTo === null || folder === null) {
    return { name, start: () => forgetPosition(app) };
  }
  const exporting = createExport(app, { path: folder, to: config.eventsTo });
  return {
    name,
    recurring: [{ name, pattern: "0 7 * * * *", run: exporting.run }],
    stop: exporting.stop,
  };
}

/** Without it, a position from an earlier start would keep all newer events. */
async function forgetPosition({ db, writer }: App): Promise<void> {
  if (createReader({ db, name: EXPORT_READER }).place() === 0) return;
  await writer.write(() => forgetReader(db, EXPORT_READER));
}

function createExport({ config, log, secret }: App, { path, to }: { path: string; to: string }) {
  let child: Bun.Subprocess | null = null;

  async function run(): Promise<void> {
    const started = Bun.spawn([...programWords(), "events", "export", "--json"], {
      env: {
        ...inheritedVariables(),
        ...backupVariables(config, { folder: path, secret }),
        MAILSTEAD_EVENTS_TO: to,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    child = started;
    const [code, output, error] = await Promise.all([
      started.exited,
      new Response(started.stdout).text(),
      new Response(started.stderr).text(),
    ]);
    child = null;
    if (code === 0) log.info("events were exported", { result: output.trim() });
    else log.error("events could not be exported", { error: error.trim().slice(-MAX_CHARACTERS) });
  }

  return {
    run,
    async stop(): Promise<void> {
      child?.kill();
      await child?.exited;
    },
  };
}

/** The place of the exported events; null without --events-to. */
export function eventsTargetOf(
  config: Parameters<typeof s3AccessOf>[0] & Pick<Config, "eventsTo">,
  clock: Clock,
): BackupTarget | null {
  return config.eventsTo === null ? null : openTarget(config.eventsTo, s3AccessOf(config, clock));
}
