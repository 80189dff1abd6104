/** The module of retention: it removes old data, one short step a second. */

import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Module } from "../module.ts";
import { createRetention } from "./service.ts";

const DELIVERY_DAYS = 30;

export function createRetentionModule(deps: {
  clock: Clock;
  config: Pick<Config, "retainBodies" | "retainRaw" | "retainEvents">;
  db: Db;
  writer: Writer;
}): Module {
  const { retainBodies, retainRaw, retainEvents } = deps.config;
  const retention = createRetention({
    ...deps,
    days: {
      bodies: retainBodies,
      raw: retainRaw,
      events: retainEvents,
      deliveries: DELIVERY_DAYS,
    },
  });
  return {
    name: "retention",
    recurring: [{ name: "retention", pattern: "* * * * * *", run: retention.step }],
  };
}
