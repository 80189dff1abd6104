/** The module of segments: keeps the stored members of tracked segments up to date. */

import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { Module } from "../module.ts";
import { contactSegmentRoutes } from "./contact-routes.ts";
import { segmentRoutes } from "./routes.ts";
import type { Segments } from "./service.ts";

export function createSegmentModule(deps: {
  admission: Admission;
  segments: Segments;
  writer: Writer;
}): Module {
  const { recompute, stop } = deps.segments;
  return {
    name: "segments",
    routes: [segmentRoutes(deps), contactSegmentRoutes(deps)],
    recurring: [{ name: "segment membership", pattern: "*/10 * * * * *", run: recompute }],
    stop,
  };
}
