/**
 * Keeps things as long as the settings say. Once an hour what is too old is looked for and removed
 * in small steps, so that nobody notices. Space that becomes free is used again by the database.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { createBodyPurge } from "./bodies.ts";
import { createDeliveryPurge } from "./deliveries.ts";
import { createEventPurge } from "./events.ts";
import { createExecutionPurge } from "./executions.ts";
import type { Purge } from "./purge.ts";
import { createRawPurge } from "./raw.ts";

/** Days; 0: for ever. */
export type RetentionDays = { bodies: number; raw: number; events: number; deliveries: number };

type Dated = { purge: Purge; days: number };

const DAY_MS = 24 * 60 * 60 * 1000;
const REST_MS = 60 * 60 * 1000;
/** The commit takes about as long again. */
const STEP_MS = 4;

export type Retention = ReturnType<typeof createRetention>;

export function createRetention(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  days: RetentionDays;
}) {
  const { db, writer, clock, days } = deps;
  /** Purges of this round that are not through yet. */
  let left: Dated[] = [];
  /** The earliest moment of the next round, by `Clock.elapsed`. */
  let restsUntil = -Infinity;

  function newRound(): Dated[] {
    return [
      { purge: createBodyPurge(db), days: days.bodies },
      { purge: createRawPurge(db), days: days.raw },
      { purge: createDeliveryPurge(db), days: days.deliveries },
      { purge: createEventPurge(db), days: days.events },
      { purge: createExecutionPurge(db), days: days.events },
    ].filter((dated) => dated.days > 0);
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
    restsUntil = clock.elapsed() + REST_MS;
  }

  return {
    /** One step of at most about 10 ms; false if nothing is left to do until the next hour. */
    async step(): Promise<boolean> {
      if (left.length === 0 && clock.elapsed() >= restsUntil) left = newRound();
      const [current] = left;
      if (current === undefined) return false;
      try {
        if (!(await run(current))) left.shift();
      } catch (error) {
        endRound(); // What a purge remembers of its way may not be true any more.
        throw error;
      }
      if (left.length === 0) endRound();
      return left.length > 0;
    },
  };
}
