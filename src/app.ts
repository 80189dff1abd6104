/**
 * The server around an application: the modules of one list (modules.ts), and the parts that work on
 * all of them: clock steps, recurring work, the HTTP server, start and stop.
 */

import { type ClockSteps, createClockSteps } from "./clock-steps.ts";
import { type AppOptions, createApp } from "./core.ts";
import type { App } from "./core/app.ts";
import { createHttpServer } from "./http-server.ts";
import { createHoldReport } from "./db/durability/hold-report.ts";
import { defineFormats } from "./http/formats.ts";
import { createSignInPath } from "./http/sign-in-path.ts";
import { localAccessOf } from "./http/local-access.ts";
import { isLoopbackHost } from "./lib/loopback-host.ts";
import type { RecurringWork } from "./lib/recurring.ts";
import { createSteadyClock, type SteadyClock } from "./lib/steady-clock.ts";
import { createAppLifecycle } from "./lifecycle.ts";
import { modulesOf } from "./modules.ts";
import { developerToken } from "./modules/accounts/developer.ts";
import { sessionAccessOf } from "./modules/admission.ts";
import type { Module } from "./modules/module.ts";
import { createMetrics, createReadiness, heartbeatOf } from "./readiness.ts";
import { accountService } from "./modules/accounts/service.ts";
import { campaignRunner } from "./modules/campaigns/runner.ts";
import { segmentService } from "./modules/segments/service.ts";
import { mailLane } from "./modules/sending.ts";
import { workflowRunner } from "./modules/workflows/workflows.ts";
import { substituteTransport } from "./outbox/transports/create-transport.ts";

export type Server = ReturnType<typeof createServer>;

export function createServer(options: AppOptions) {
  defineFormats();
  const clock = createSteadyClock(options.clock);
  const app = createApp({ ...options, clock });
  if (options.transport !== undefined) substituteTransport(app, options.transport);
  const modules = modulesOf(app);
  const lane = mailLane(app);
  const clockSteps = stepsOf(app, clock, modules);
  const readiness = createReadiness(app, { lane, clockSteps });
  const recurring = [...recurringWorkOf(app, clockSteps, modules), ...heartbeatOf(app, readiness)];
  const server = createHttpServer(app, {
    modules,
    signInPath: createSignInPath({
      localAccess: localAccessOf(app),
      isSigningIn: sessionAccessOf(app).isSigningIn,
      makeToken:
        app.hasOpenInboxes && isLoopbackHost(app.config.host)
          ? () => developerToken({ accounts: accountService(app), writer: app.writer })
          : null,
    }),
    readiness,
    readMetrics: createMetrics(app, lane),
  });
  const { http, listen } = server;
  const lifecycle = createAppLifecycle(app, {
    modules,
    recurring,
    clockSteps,
    server,
    faultLog: options.log,
  });

  return {
    ...lifecycle,
    app,
    listen,
    http,
    url: app.url,
    modules,
    recurring,
    writer: app.writer,
    accounts: accountService(app),
    segments: segmentService(app),
    campaigns: campaignRunner(app),
    automation: workflowRunner(app).runner,
    entries: workflowRunner(app).entries,
    clockSteps,

    /** Answers a request like the server, for tests. */
    handle: (request: Request): Promise<Response> => http.handle(request),
  };
}

function stepsOf(
  { db, writer, log }: App,
  clock: SteadyClock,
  modules: readonly Module[],
): ClockSteps {
  return createClockSteps({
    db,
    writer,
    clock,
    log,
    dueTimes: modules.flatMap(({ dueTimes = [] }) => dueTimes),
    lifetimes: modules.flatMap(({ lifetimes = [] }) => lifetimes),
    wake() {
      for (const module of modules) module.wake?.();
    },
  });
}

/** The recurring work of the modules and of the storage. */
function recurringWorkOf(
  app: App,
  clockSteps: ClockSteps,
  modules: readonly Module[],
): readonly RecurringWork[] {
  const { writer } = app;
  const holdReport = createHoldReport(app);
  return [
    { name: "clock", pattern: "* * * * * *", run: clockSteps.check },
    ...modules.flatMap(({ recurring = [] }) => recurring),
    // This finds damaged or moved files also while nothing is written.
    { name: "database files", pattern: "* * * * * *", run: async () => void writer.verifyFiles() },
    { name: "write-ahead log", pattern: "* * * * * *", run: holdReport.check },
  ];
}
