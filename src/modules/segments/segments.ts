/** The segments as a part of the server: their routes, and the work on their members. */

import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import type { Module } from "../module.ts";
import { contactSegmentRoutes } from "./contact-routes.ts";
import { segmentRoutes } from "./routes.ts";
import { segmentService } from "./service.ts";

export const segmentModule = perApp((app: App): Module => {
  const segments = segmentService(app);
  const deps = { admission: admissionOf(app), segments, writer: app.writer };
  return {
    name: "segments",
    routes: [segmentRoutes(deps), contactSegmentRoutes(deps)],
    recurring: [{ name: "segment membership", pattern: "*/10 * * * * *", run: segments.recompute }],
    stop: segments.stop,
  };
});
