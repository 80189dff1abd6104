/**
 * Alerts of the installation. Once a minute:
 *
 * 1. The conditions are read (conditions.ts), and a sample of the disk is stored (disk.ts).
 * 2. A condition that holds for long enough raises an alert, and one that is over for long enough clears
 *    it: each once, in one change that also queues a notice for each target (alert-rows.ts).
 * 3. The notices are sent to the targets (notices.ts, targets.ts), which do not wait for each other.
 *
 * Beside it are the heartbeat of a healthy server (heartbeat.ts) and the weekly digest
 * (digest-schedule.ts). How long a condition holds is measured in memory, so a restart begins anew.
 */

import type { App } from "../../core/app.ts";
import { diskSpace } from "../../db/folder.ts";
import { isEndOfReads } from "../../db/reader.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import type { Module } from "../module.ts";
import { alertRoutes } from "./alert-routes.ts";
import {
  type AlertRow,
  clearAlert,
  openAlerts,
  raiseAlert,
  removeOldAlerts,
} from "./alert-rows.ts";
import { type AlertSources, type AlertCondition, CONDITIONS } from "./conditions.ts";
import { queueDigest } from "./digest-schedule.ts";
import { sampleDisk } from "./disk.ts";
import { addNotices, moveNotices, noticeSender, removeOldDigests } from "./notices.ts";

const HISTORY_MS = 90 * 24 * 60 * 60_000;
/** Old alerts are removed once an hour. */
const PURGE_MS = 60 * 60_000;

type Found = Awaited<ReturnType<AlertCondition["read"]>>[number];

/** Monotonic times by condition and subject. */
const timers = perApp(() => ({
  /** Since when the condition holds, for alerts that are not open. */
  holds: new Map<string, number>(),
  /** Since when it is over, for alerts that are open. */
  over: new Map<string, number>(),
  unreadable: new Set<string>(),
  purgedAt: -Infinity,
}));

type Changes = { raised: { condition: AlertCondition; found: Found }[]; cleared: AlertRow[] };

/** Reads all conditions, and stores the alerts that are raised and cleared. */
export async function examineConditions(app: App, sources: AlertSources): Promise<void> {
  await sampleDisk(app, sources.diskSpace);
  const open = openAlerts(app);
  // A condition of an earlier version may be gone.
  const known = new Set(CONDITIONS.map(({ name }) => name));
  const cleared = open.filter(({ condition }) => !known.has(condition));
  const changes: Changes = { raised: [], cleared };
  for (const condition of CONDITIONS) {
    const ofCondition = open.filter((alert) => alert.condition === condition.name);
    const found = await readCondition(app, sources, { condition, open: ofCondition });
    // A condition that cannot be read neither raises nor clears its alerts.
    if (found !== null) addChanges(app, { condition, open: ofCondition, found }, changes);
  }
  await storeChanges(app, changes);
}

async function readCondition(
  app: App,
  sources: AlertSources,
  { condition, open }: { condition: AlertCondition; open: readonly AlertRow[] },
): Promise<Found[] | null> {
  const { unreadable } = timers(app);
  const { name } = condition;
  try {
    const isOpen = (subject: string) => open.some((alert) => alert.subject === subject);
    const found = await condition.read(app, sources, isOpen);
    unreadable.delete(name);
    return found;
  } catch (error) {
    if (isEndOfReads(error)) throw error;
    const isNew = !unreadable.has(name);
    unreadable.add(name);
    if (isNew) {
      app.log.error("a condition of alerts cannot be read", {
        condition: name,
        error: describeError(error),
      });
    }
    return null;
  }
}

/** Adds the alerts whose time has come to be raised or cleared. */
function addChanges(
  app: App,
  read: { condition: AlertCondition; open: readonly AlertRow[]; found: readonly Found[] },
  { raised, cleared }: Changes,
): void {
  const { condition, open, found } = read;
  const { holds, over } = timers(app);
  const now = app.clock.elapsed();
  const keyOf = (subject: string) => `${condition.name} ${subject}`;
  const lasts = (times: Map<string, number>, subject: string, ms: number) => {
    const since = times.get(keyOf(subject)) ?? now;
    times.set(keyOf(subject), since);
    return now - since >= ms;
  };
  const subjects = new Set(found.map(({ subject }) => subject));
  for (const key of holds.keys()) {
    const isOfCondition = key.startsWith(`${condition.name} `);
    if (isOfCondition && !subjects.has(key.slice(condition.name.length + 1))) holds.delete(key);
  }
  for (const alert of open) {
    if (subjects.has(alert.subject)) over.delete(keyOf(alert.subject));
    else if (lasts(over, alert.subject, condition.overMs)) cleared.push(alert);
  }
  const openSubjects = new Set(open.map(({ subject }) => subject));
  for (const each of found) {
    if (openSubjects.has(each.subject)) holds.delete(keyOf(each.subject));
    else if (lasts(holds, each.subject, condition.holdMs)) raised.push({ condition, found: each });
  }
}

async function storeChanges(app: App, { raised, cleared }: Changes): Promise<void> {
  const { clock, log, writer } = app;
  const known = timers(app);
  const isPurgeDue = clock.elapsed() - known.purgedAt >= PURGE_MS;
  if (raised.length + cleared.length === 0 && !isPurgeDue) return;
  await writer.write(() => {
    for (const { condition, found } of raised) raise(app, condition, found);
    for (const { seq } of cleared) {
      if (clearAlert(app, seq)) addNotices(app, "CLEARED", { alertSeq: seq });
    }
    if (!isPurgeDue) return;
    removeOldAlerts(app, clock.now() - HISTORY_MS);
    removeOldDigests(app);
  });
  if (isPurgeDue) known.purgedAt = clock.elapsed();
  for (const { condition, found } of raised) {
    log.warn("an alert is raised", { condition: condition.name, finding: found.finding });
  }
  for (const { condition, subject, title } of cleared) {
    known.over.delete(`${condition} ${subject}`);
    log.info("an alert is cleared", { condition, title });
  }
  noticeSender(app).wake();
}

/** Part of a change. */
function raise(app: App, condition: AlertCondition, { subject, name, finding }: Found): void {
  const { title, severity, fix } = condition;
  const alert = { condition: condition.name, subject, severity, title: title(name), finding, fix };
  const alertSeq = raiseAlert(app, alert);
  if (alertSeq !== null) addNotices(app, "RAISED", { alertSeq });
}

/** The number of open alerts of each condition, for the metrics. */
export function countOpenAlerts(app: App): Map<string, number> {
  const counts = new Map(CONDITIONS.map(({ name }) => [name, 0]));
  for (const { condition } of openAlerts(app)) {
    counts.set(condition, (counts.get(condition) ?? 0) + 1);
  }
  return counts;
}

export function alertModule(
  app: App,
  { certificates }: Pick<AlertSources, "certificates">,
): Module {
  const sender = noticeSender(app);
  const sources = { certificates, diskSpace, startedAt: app.clock.elapsed() };
  return {
    name: "alerts",
    routes: [alertRoutes(app)],
    recurring: [
      { name: "alerts", pattern: "23 * * * * *", run: () => examineConditions(app, sources) },
      { name: "weekly digest", pattern: "31 * * * * *", run: () => queueDigest(app) },
    ],
    dueTimes: [(shift) => moveNotices(app, shift)],
    wake: () => sender.wake(),
    start: async () => sender.start(),
    stop: () => sender.stop(),
    close: () => sender.close(),
  };
}
