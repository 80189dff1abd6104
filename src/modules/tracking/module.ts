/**
 * The module of opens and clicks. A pixel or a link of a mail is requested (routes.ts); the hit is
 * collected in memory (collector.ts) and counted in a batch (service.ts), which records the events.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Module } from "../module.ts";
import type { Collector } from "./collector.ts";
import { trackingRoutes } from "./routes.ts";

export function createTrackingModule(deps: {
  clock: Clock;
  collector: Collector;
  trackingKey: Uint8Array;
}): Module {
  return { name: "tracking", routes: [trackingRoutes(deps)], flush: deps.collector.flush };
}
