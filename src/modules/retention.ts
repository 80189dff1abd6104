/**
 * Removes old data as the settings say. Once an hour, a round of purges starts: addresses of deleted
 * contacts in messages that have left since, bodies of mail, captured messages, webhook deliveries, events, workflow executions. Each purge runs in steps of a
 * few milliseconds, one a second, so that it does not delay other work. The database reuses the free
 * space.
 */

import type { App } from "../core/app.ts";
import type { Purge } from "../db/purge.ts";
import { createEventPurge } from "../events/purge.ts";
import { systemClock } from "../lib/clock.ts";
import { perApp } from "../lib/per-app.ts";
import { createBodyPurge } from "../outbox/purge-bodies.ts";
import { createRawPurge } from "../outbox/purge-captured.ts";
import { createRecipientsPurge } from "../outbox/purge-recipients.ts";
import type { Noun } from "./module.ts";
import { hasPendingDelivery, purgeDeliveries } from "./webhooks/purge.ts";
import { createExecutionPurge } from "./workflows/purge.ts";

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
  const [first] = current.left;
  if (first === undefined) return false;
  try {
    if (!(await runPurge(app, first))) current.left.shift();
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
  const all: DatedPurge[] = [
    { purge: createBodyPurge(app.db), days: days.bodies },
    { purge: createRawPurge(app.db), days: days.raw },
    {
      purge: (before, hasTime) => purgeDeliveries(app, before, hasTime),
      days: days.deliveries,
    },
    { purge: createEventPurge(app.db, isEventPending), days: days.events },
    { purge: createExecutionPurge(app.db), days: days.events },
  ];
  const dated = all.filter((each) => each.days > 0);
  return [{ purge: createRecipientsPurge(app.db), days: 0 }, ...dated];
}

function runPurge({ clock, writer }: App, { purge, days }: DatedPurge): Promise<boolean> {
  const before = clock.now() - days * DAY_MS;
  return writer.write(() => {
    const endsAt = systemClock.elapsed() + STEP_MS;
    return purge(before, () => systemClock.elapsed() < endsAt);
  });
}
