/**
 * The state of the installation for its owners: version, storage, queue, paused sites and the findings
 * of its checks (checks.ts). While the relay refuses our account, this stands before the findings.
 *
 * GET  /system                  the state of the installation
 * GET  /system/backups          lists the backups that are kept
 * POST /system/backups          makes a backup now
 * POST /system/queue/release    ends the hold of the queue
 */

import { Type } from "@sinclair/typebox";
import { sum } from "drizzle-orm";
import { Elysia, status } from "elysia";
import { backupState } from "../../backup/state.ts";
import type { App } from "../../core/app.ts";
import { freeBytes, usedBytes } from "../../db/folder.ts";
import { projectUsage } from "../../db/schema/projects.ts";
import { describeOperations } from "../../http/documented.ts";
import { Envelope, envelope, NoContent, withErrors } from "../../http/envelope.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { REVISION, VERSION } from "../../lib/version.ts";
import type { Hold } from "../../outbox/outcome.ts";
import type { Module } from "../module.ts";
import { createSystemChecks } from "./checks.ts";
import { queueHold, releaseQueue } from "../../outbox/queue-hold.ts";
import { KeptBackup, System } from "./model.ts";
import { transportOf } from "../../outbox/transports/create-transport.ts";
import { admissionOf } from "../admission.ts";
import { backupRunner, listBackups } from "../backups.ts";
import { mailLane } from "../sending.ts";
import { readKnownUpdate, UPGRADE_COMMAND } from "../updates.ts";

const DETAILS = describeOperations(
  { tag: "System" },
  {
    getSystem: {
      role: "OWNER",
      access: "SESSION",
      summary: "The state of the installation",
      description:
        "Version, storage, queue, paused sites, and the findings of the checks that `mailstead " +
        "doctor` also runs. The checks run at most once a minute; the first response waits for " +
        "them for three seconds.",
    },
    listBackups: {
      role: "OWNER",
      access: "SESSION",
      summary: "List the backups that are kept",
      description:
        "Reads the folder or bucket of --backup-to, the newest backup first; damaged ones come last. " +
        "Empty without --backup-to. 503 if the folder or bucket cannot be read.",
    },
    startBackup: {
      role: "OWNER",
      access: "SESSION",
      summary: "Make a backup now",
      description:
        "Starts a backup in the place of the scheduled ones and answers at once; `backup` of GET " +
        "/system shows how far it is, and its end. 409 if one is being made, without --backup-to, or " +
        "if there is no recovery key yet.",
    },
    releaseQueue: {
      role: "OWNER",
      access: "SESSION",
      summary: "Release the queue that is held",
      description:
        "Ends the hold of the queue that a restored installation begins with: mails that are due " +
        "leave, and webhooks, workflows and campaigns go on. Without a hold it changes nothing.",
    },
  },
);

/** `runChecks` checks everything that delivery depends on. */
export function systemModule(
  app: App,
  runChecks: () => Promise<System["checks"]["findings"]>,
): Module {
  const startedAt = app.clock.now();
  const readChecks = createSystemChecks({ clock: app.clock, log: app.log, run: runChecks });

  async function readSystem(): Promise<System> {
    const checks = await readChecks();
    const findings = [...findingsOfHold(transportOf(app).holdOf?.("") ?? null), ...checks.findings];
    const backup = await readBackups(app);
    return { ...readState(app, startedAt), backup, checks: { ...checks, findings } };
  }

  const routes = new Elysia({ name: "system-routes" })
    .use(admissionOf(app).session)
    .get("/system", async () => envelope(await readSystem()), {
      response: withErrors({ 200: Envelope(System) }),
      detail: DETAILS.getSystem,
    })
    .get("/system/backups", async () => envelope(await readKept(app)), {
      response: withErrors({ 200: Envelope(Type.Array(KeptBackup)) }),
      detail: DETAILS.listBackups,
    })
    .post(
      "/system/backups",
      async ({ recordOnly }) => {
        void backupRunner(app).begin();
        await recordOnly();
        return status(204, undefined);
      },
      { response: withErrors({ 204: NoContent }), detail: DETAILS.startBackup },
    )
    .post(
      "/system/queue/release",
      async ({ storeWithoutQuota }) => {
        await storeWithoutQuota(() => releaseQueue(app.db));
        await queueHold(app).refresh();
        return status(204, undefined);
      },
      { response: withErrors({ 204: NoContent }), detail: DETAILS.releaseQueue },
    );
  return { name: "system", routes: [routes] };
}

const MAX_SITES = 100;

function readState(app: App, startedAt: number): Omit<System, "checks" | "backup"> {
  const { config, db, folder, url } = app;
  const lane = mailLane(app);
  const inProgress = lane.underWay();
  const known = readKnownUpdate(db);
  const queued = db
    .select({ sum: sum(projectUsage.queuedMails) })
    .from(projectUsage)
    .get();
  return {
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
    queue: {
      waiting: Math.max(0, Number(queued?.sum) - inProgress),
      inProgress,
      oldestDueAt: isoTimeOrNull(lane.nextDueAt()),
      stalledSeconds: Math.floor(lane.stalledMs() / 1000),
      heldSince: isoTimeOrNull(queueHold(app).since()),
    },
    pausedSites: pausedSites(app),
    update: known && { ...known, command: UPGRADE_COMMAND },
  };
}

async function readBackups(app: App): Promise<System["backup"]> {
  const { backupTo: target, backupKeep: keep } = app.config;
  if (target === null || app.folder === null) return null;
  const runner = backupRunner(app);
  const { last, failure } = backupState(app.db, target);
  const running = runner.running();
  return {
    target,
    keep,
    running: running && {
      startedAt: isoTime(running.startedAt),
      phase: running.progress?.phase ?? null,
      bytes: running.progress?.bytes ?? 0,
      totalBytes: running.progress?.totalBytes ?? null,
    },
    nextAt: isoTime(await runner.nextAt()),
    last: last && {
      ...last,
      createdAt: isoTime(last.createdAt),
      verifiedAt: isoTime(last.verifiedAt),
    },
    failure: failure && { ...failure, at: isoTime(failure.at) },
  };
}

async function readKept(app: App): Promise<KeptBackup[]> {
  const { complete, damaged } = await listBackups(app);
  return [
    ...complete.map(({ name, path, manifest: { bytes, contents, verifiedAt } }) => ({
      name,
      path,
      contents: { createdAt: contents.createdAt, version: contents.version, verifiedAt, bytes },
      fault: null,
    })),
    ...damaged.map((backup) => ({ ...backup, contents: null })),
  ];
}

function pausedSites({ clock, db }: App): System["pausedSites"] {
  return db.sqlite
    .query<{ name: string; until: number }, [number, number]>(
      `SELECT name, paused_until AS until FROM direct_sites
       WHERE paused_until > +? ORDER BY paused_until DESC, name LIMIT +?`,
    )
    .all(clock.now(), MAX_SITES)
    .map(({ name, until }) => ({ name, until: isoTime(until) }));
}

/** The checks themselves report a relay that cannot be reached. */
function findingsOfHold(hold: Hold | null): System["checks"]["findings"] {
  if (hold?.at !== "account") return [];
  return [
    {
      level: "fail",
      what: `relay ${hold.name}`,
      finding: `refuses the mail of this account, so all mail waits: ${hold.reason}`,
      fix: "look at the quota and the state of the account at the relay",
      page: null,
    },
  ];
}
