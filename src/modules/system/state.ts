/** Reads the state of the installation, without the checks. */

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config/settings.ts";
import { freeBytes } from "../../db/folder.ts";
import type { Db } from "../../db/open.ts";
import { type Clock, isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { REVISION, VERSION } from "../../lib/version.ts";
import type { Dispatcher } from "../../outbox/dispatcher.ts";
import type { System } from "./model.ts";

const MAX_SITES = 100;
/** Files whose lengths are added. A data folder has about ten. */
const MAX_FILES = 1_000;

export function createSystemState(deps: {
  clock: Clock;
  config: Pick<Config, "transport" | "hostname">;
  db: Db;
  dispatcher: Pick<Dispatcher, "nextDueAt" | "stalledMs" | "underWay">;
  /** Null if the database is in memory. */
  folder: string | null;
  url: string;
}): () => Omit<System, "checks"> {
  const { clock, config, dispatcher, folder, url } = deps;
  const { sqlite } = deps.db;
  const startedAt = clock.now();
  const countQueued = sqlite.prepare<{ queued: number }, []>(
    "SELECT coalesce(sum(queued_mails), 0) AS queued FROM project_usage",
  );
  const findPaused = sqlite.prepare<{ name: string; until: number }, [number, number]>(`
    SELECT name, paused_until AS until FROM direct_sites
    WHERE paused_until > +? ORDER BY paused_until DESC, name LIMIT +?`);

  function queue(): System["queue"] {
    const inProgress = dispatcher.underWay();
    const queued = countQueued.get()?.queued ?? 0;
    return {
      waiting: Math.max(0, queued - inProgress),
      inProgress,
      oldestDueAt: isoTimeOrNull(dispatcher.nextDueAt()),
      stalledSeconds: Math.floor(dispatcher.stalledMs() / 1000),
    };
  }

  return () => ({
    version: VERSION,
    revision: REVISION,
    startedAt: isoTime(startedAt),
    transport: config.transport,
    hostname: config.hostname,
    url,
    storage: {
      folder,
      usedBytes: folder === null ? null : usedBytes(folder),
      freeBytes: folder === null ? null : freeBytes(folder),
    },
    queue: queue(),
    pausedSites: findPaused
      .all(clock.now(), MAX_SITES)
      .map(({ name, until }) => ({ name, until: isoTime(until) })),
  });
}

/** The lengths of the files in the folder, which has no folders of its own. */
function usedBytes(folder: string): number {
  return readdirSync(folder)
    .slice(0, MAX_FILES)
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}
