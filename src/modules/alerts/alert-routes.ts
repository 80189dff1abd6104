/**
 * GET  /system/alerts       the open alerts, those of the last 30 days, and the targets
 * POST /system/alerts/test  sends a test to each target
 */

import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { describeOperations } from "../../http/documented.ts";
import { Envelope, envelope, withErrors } from "../../http/envelope.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import { type AlertRow, clearedAlerts, openAlerts } from "./alert-rows.ts";
import { heartbeatState } from "./heartbeat.ts";
import { type Alert, Alerts, AlertTests } from "./model.ts";
import { noticeState } from "./notices.ts";
import { alertTargets } from "./targets.ts";
import { testTargets } from "./test-alert.ts";

const HISTORY_MS = 30 * 24 * 60 * 60_000;
const MAX_HISTORY = 100;

const DETAILS = describeOperations(
  { tag: "System" },
  {
    getAlerts: {
      role: "OWNER",
      access: "SESSION",
      summary: "The alerts of the installation",
      description:
        "The alerts that are open, those of the last 30 days, and the targets that are told of them " +
        "with the latest outcome of each.",
    },
    testAlerts: {
      role: "OWNER",
      access: "SESSION",
      summary: "Send a test to each target of alerts",
      description:
        "Sends a test to all targets at once, and answers with the reply of each, after 45 seconds at " +
        "the latest. 409 while a test is under way.",
    },
  },
);

/** True while a test is under way, because each uses connections to other servers. */
const testState = perApp(() => ({ isRunning: false }));

export function alertRoutes(app: App) {
  return new Elysia({ name: "alert-routes" })
    .use(admissionOf(app).session)
    .get("/system/alerts", () => envelope(readAlerts(app)), {
      response: withErrors({ 200: Envelope(Alerts) }),
      detail: DETAILS.getAlerts,
    })
    .post(
      "/system/alerts/test",
      async ({ recordOnly }) => {
        const tests = await testOnce(app);
        await recordOnly();
        return envelope(tests);
      },
      { response: withErrors({ 200: Envelope(AlertTests) }), detail: DETAILS.testAlerts },
    );
}

async function testOnce(app: App): Promise<AlertTests> {
  const state = testState(app);
  if (alertTargets(app).length === 0) {
    throw new AppError(409, "CONFLICT", "This server has no targets of alerts.", {
      suggestion:
        "Set one on the page Server settings, or start the server with --operator-email, " +
        "--alert-webhook, --alert-ntfy or --alert-slack.",
    });
  }
  if (state.isRunning) throw new AppError(409, "CONFLICT", "A test is under way already.");
  state.isRunning = true;
  return testTargets(app).finally(() => (state.isRunning = false));
}

function readAlerts(app: App): Alerts {
  const { heartbeatUrl, heartbeatMinutes } = app.config;
  const beat = heartbeatState(app);
  const since = app.clock.now() - HISTORY_MS;
  return {
    open: openAlerts(app)
      .toSorted((one, other) => other.raisedAt - one.raisedAt)
      .map(present),
    history: clearedAlerts(app, since, MAX_HISTORY).map(present),
    targets: alertTargets(app).map(({ name, kind, label }) => {
      const { last, waiting } = noticeState(app, name);
      return {
        kind,
        label,
        waiting,
        last: last && {
          at: isoTime(last.at),
          isDelivered: last.isDelivered === 1,
          reply: last.reply,
        },
      };
    }),
    heartbeat:
      heartbeatUrl === null
        ? null
        : {
            label: new URL(heartbeatUrl).host,
            everyMinutes: heartbeatMinutes,
            at: isoTimeOrNull(beat?.at ?? null),
            failure: beat?.failure ?? null,
          },
  };
}

const present = ({ id, condition, severity, title, finding, fix, ...times }: AlertRow): Alert => ({
  id,
  condition,
  severity,
  title,
  finding,
  fix,
  raisedAt: isoTime(times.raisedAt),
  clearedAt: isoTimeOrNull(times.clearedAt),
});
