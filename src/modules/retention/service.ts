/**
 * Removes old data as the settings say. Once an hour, a round of purges starts: bodies of mail,
 * captured messages, webhook deliveries, events, workflow executions. Each purge runs in steps of a
 * few milliseconds, so that it does not delay other work. The database reuses the free space.
 */

import type { Db } from "../../db/open.ts";
import { hasPendingDelivery, purgeDeliveries } from "../webhooks/purge.ts";
import type { Writer } from "../../db/writer.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createBodyPurge } from "../../outbox/purge-bodies.ts";
import { createEventPurge } from "../../events/purge.ts";
import { createExecutionPurge } from "../workflows/purge.ts";
import type { Purge } from "../../db/purge.ts";
import { createRawPurge } from "../../outbox/purge-captured.ts";

/** Retention periods in days; 0 keeps the data for ever. */
export type RetentionDays = { bodies: number; raw: number; events: number; deliveries: number };

type Dated = { purge: Purge; days: number };

const DAY_MS = 24 * 60 * 60 * 1000;
const ROUND_INTERVAL_MS = 60 * 60 * 1000;
/** Duration of a step before its commit, which takes about as long again. */
const STEP_MS = 4;

export function createRetention(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  days: RetentionDays;
}) {
  const { db, writer, clock, days } = deps;
  const isEventPending = (eventSeq: number) => hasPendingDelivery({ db }, eventSeq);
  /** Purges of this round that are not finished. */
  let left: Dated[] = [];
  /** Earliest time of the next round, by `Clock.elapsed`. */
  let nextRoundAt = -Infinity;

  function newRound(): Dated[] {
    const all: Dated[] = [
      { purge: createBodyPurge(db), days: days.bodies },
      { purge: createRawPurge(db), days: days.raw },
      {
        purge: (before, hasTime) => purgeDeliveries({ db }, before, hasTime),
        days: days.deliveries,
      },
      { purge: createEventPurge(db, isEventPending), days: days.events },
      { purge: createExecutionPurge(db), days: days.events },
    ];
    return all.filter((dated) => dated.days > 0);
  }

  function run({ purge, days }: Dated): Promise<boolean> {
    const before = clock.now() - days * DAY_MS;
    return writer.write(() => {
      const endsAt = systemClock.elapsed() + STEP_MS;
      return purge(before, () => systemClock.elapsed() < endsAt);
    });
  }

  function endRound(): void {
    left = [];
    nextRoundAt = clock.elapsed() + ROUND_INTERVAL_MS;
  }

  return {
    /**
     * Runs one step of at most about 10 ms. False if nothing is left to do until the next round.
     */
    async step(): Promise<boolean> {
      if (left.length === 0 && clock.elapsed() >= nextRoundAt) left = newRound();
      const [current] = left;
      if (current === undefined) return false;
      try {
        if (!(await run(current))) left.shift();
      } catch (error) {
        endRound(); // The position of a purge in memory may no longer match the database.
        throw error;
      }
      if (left.length === 0) endRound();
      return left.length > 0;
    },
  };
}
