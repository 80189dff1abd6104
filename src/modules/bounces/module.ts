/** The module of bounces: reports of other mail servers about mails that they had accepted. */

import type { App } from "../../core/app.ts";
import { bodiesOf } from "../../http/body.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import { contactRemoval } from "../contacts/remove.ts";
import type { Module } from "../module.ts";
import { lateReports } from "./reports.ts";
import { bounceRoutes } from "./routes.ts";
import { bounceService, reportParser } from "./service.ts";

export const bounceModule = perApp((app: App): Module => {
  contactRemoval(app).onRemove(lateReports(app).forget);
  const bounces = bounceService(app);
  return {
    name: "bounces",
    routes: [bounceRoutes({ admission: admissionOf(app), bodies: bodiesOf(app), bounces })],
    stop: () => reportParser(app).close(),
  };
});
