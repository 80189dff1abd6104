/** What reports and outcomes do with the suppression list of a project. */

import type { App } from "../../core/app.ts";
import { eventLog } from "../../events/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { createBounceSuppression } from "../../outbox/bounce-suppression.ts";
import { createLateReports } from "../../outbox/late-reports.ts";
import { addSuppression } from "../suppressions.ts";

export const suppressBounced = perApp((app: App) =>
  createBounceSuppression({
    db: app.db,
    limits: {
      bounces: app.config.softBounceLimit,
      withinDays: app.config.softBounceDays,
      forDays: app.config.softBounceSuppressDays,
    },
    suppress: (...entry) => addSuppression(app, ...entry),
  }),
);

export const lateReports = perApp((app: App) =>
  createLateReports({
    db: app.db,
    usage: app.usage,
    recordEvent: eventLog(app).record,
    suppressBounced: suppressBounced(app),
  }),
);
