/** The module of statistics: counters of a project by hour, which its events update. */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { EventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Module } from "../module.ts";
import { statsRoutes } from "./routes.ts";
import { createProjectStats } from "./service.ts";

export function createStatsModule(deps: {
  admission: Admission;
  clock: Clock;
  db: Db;
  events: Pick<EventLog, "onEvent">;
  writer: Pick<Writer, "tally">;
}): Module {
  const stats = createProjectStats(deps);
  deps.events.onEvent(stats.count);
  return { name: "stats", routes: [statsRoutes({ ...deps, stats })] };
}
