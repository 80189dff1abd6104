/**
 * Removes old data as the settings say. Once an hour, a round of purges starts: addresses of deleted
 * contacts in messages that have left since, bodies of mail, captured messages, webhook deliveries, events, workflow executions; then the data of projects that keep it for a shorter time. Each purge runs in steps of a
 * few milliseconds, one a second, so that it does not delay other work. The database reuses the free
 * space.
 */

import type { App } from "../core/app.ts";
import type { ProjectScope, Purge } from "../db/purge.ts";
import { createEventPurges } from "../events/purge.ts";
import { systemClock } from "../lib/clock.ts";
import { perApp } from "../lib/per-app.ts";
import { createBodyPurges } from "../outbox/purge-bodies.ts";
import { createRawPurges } from "../outbox/purge-captured.ts";
import { createRecipientsPurge } from "../outbox/purge-recipients.ts";
import type { Noun } from "./module.ts";
import { projectPeriods, type RetentionField } from "./project-retention.ts";
import { hasPendingDelivery, purgeDeliveries } from "./webhooks/purge.ts";
import { createExecutionPurges } from "./workflows/purge.ts";

export const retentionNoun: Noun = {
  name: "retention",
  recurring: [{ name: "retention", pattern: "* * * * * *", run: (app) => removeOldData(app) }],
};

/** Retention periods in days; 0 keeps the data for ever. */
export type RetentionDays = { bodies: number; raw: number; events: number; deliveries: number };

type DatedPurge = { purge: Purge; days: number };

const DELIVERY_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const ROUND_INTERVAL_MS = 60 * 60 * 1000;
/** Duration of a step before its commit, which takes about as long again. */
const STEP_MS = 4;

/** The purges of this round that are not finished, and the next round's earliest `Clock.elapsed`. */
const round = perApp((): { left: DatedPurge[]; nextAt: number } => ({
  left: [],
  nextAt: -Infinity,
}));

/** Runs one step of at most about 10 ms. Returns false if nothing is left to do until the next round. */
export async function removeOldData(app: App, days = daysIn(app)): Promise<boolean> {
  const { clock } = app;
  const current = round(app);
  if (current.left.length === 0 && clock.elapsed() >= current.nextAt) {
    current.left = newRound(app, days);
  }
  if (current.left.length === 0) return false;
  try {
    await runStep(app, current.left);
  } catch (error) {
    current.left = []; // The position of a purge in memory may no longer match the database.
    throw error;
  } finally {
    if (current.left.length === 0) current.nextAt = clock.elapsed() + ROUND_INTERVAL_MS;
  }
  return current.left.length > 0;
}

function daysIn({ config }: App): RetentionDays {
  const { retainBodies, retainRaw, retainEvents } = config;
  return { bodies: retainBodies, raw: retainRaw, events: retainEvents, deliveries: DELIVERY_DAYS };
}

function newRound(app: App, days: RetentionDays): DatedPurge[] {
  const isEventPending = (eventSeq: number) => hasPendingDelivery(app, eventSeq);
  const bodies = createBodyPurges(app.db);
  const raw = createRawPurges(app.db);
  const events = createEventPurges(app.db, isEventPending);
  const executions = createExecutionPurges(app.db);
  const all: DatedPurge[] = [
    { purge: bodies(null), days: days.bodies },
    { purge: raw(null), days: days.raw },
    {
      purge: (before, hasTime) => purgeDeliveries(app, before, hasTime),
      days: days.deliveries,
    },
    { purge: events(null), days: days.events },
    { purge: executions(null), days: days.events },
  ];
  const ofProjects = (field: RetentionField, create: (scope: ProjectScope) => Purge) =>
    projectPeriods(app, field).map(({ projectSeq, days: own }) => ({
      purge: create(projectSeq),
      days: own,
    }));
  return [
    { purge: createRecipientsPurge(app.db), days: 0 },
    ...all.filter((each) => each.days > 0),
    ...ofProjects("retainBodies", bodies),
    ...ofProjects("retainRaw", raw),
    ...ofProjects("retainEvents", events),
    ...ofProjects("retainEvents", executions),
  ];
}

/** Runs the first purges of the list, and removes those that are finished, while there is time. */
function runStep({ clock, writer }: App, left: DatedPurge[]): Promise<void> {
  const now = clock.now();
  return writer.write(() => {
    const endsAt = systemClock.elapsed() + STEP_MS;
    const hasTime = () => systemClock.elapsed() < endsAt;
    for (let [first] = left; first !== undefined && hasTime(); [first] = left) {
      if (!first.purge(now - first.days * DAY_MS, hasTime)) left.shift();
    }
  });
}
