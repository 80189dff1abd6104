/** Creates the HTTP server with the routes of all modules, and the server of the metrics. */

import { type AnyElysia, Elysia } from "elysia";
import type { App } from "./core/app.ts";
import { bodiesOf } from "./http/body.ts";
import { docsRoutes } from "./http/docs-routes.ts";
import { healthRoutes, type Readiness } from "./http/health.ts";
import type { SignInPath } from "./http/sign-in-path.ts";
import { keepRelayedPeer } from "./http/incoming.ts";
import { createListener } from "./http/listener.ts";
import { openApiRoutes } from "./http/openapi.ts";
import { ownRequests } from "./http/own-requests.ts";
import { createRoot } from "./http/server.ts";
import { uiRoutes } from "./http/ui.ts";
import { type Metric, serveMetrics } from "./lib/metrics.ts";
import { routeRulesOf } from "./http/route-rules.ts";
import { serverCertificate } from "./tls/server-certificate.ts";
import { createTlsListeners } from "./tls/listeners.ts";
import { unknownFieldsOf } from "./http/unknown-fields.ts";
import { admissionOf } from "./modules/admission.ts";
import type { Module } from "./modules/module.ts";

export type HttpServer = ReturnType<typeof createHttpServer>;

const IDLE_TIMEOUT_SECONDS = 60;
/**
 * Bun's own body limit is off, because Bun would answer 413 without an error body.
 * `http/body` limits the bytes that are read, and the rest is discarded.
 */
const BUN_MAX_BODY_BYTES = Number.MAX_SAFE_INTEGER;

export function createHttpServer(
  app: App,
  parts: {
    modules: readonly Module[];
    signInPath: SignInPath;
    readiness: () => Promise<Readiness>;
    readMetrics: (responses: ReadonlyMap<string, number>) => Metric[];
  },
) {
  const { config, clock, log, loopWatch } = app;
  const bodies = bodiesOf(app);
  const certificate = serverCertificate(app);
  let isHttpsOnly = certificate.isPublic();
  certificate.onChange(() => (isHttpsOnly = certificate.isPublic()));
  const { root, registerRoutes, responses } = createRoot({
    log,
    now: clock.now,
    elapsed: clock.elapsed,
    projectOf: admissionOf(app).projectOf,
    isHttpsOnly: () => isHttpsOnly,
    beginWork: (route) => loopWatch.begin("route", route),
    onAnswered: bodies.returnShares,
  });
  const http = new Elysia({
    // Normalisation is off: it rebuilds bodies before validation, and turns other values into
    // objects.
    normalize: false,
    // Otherwise a path is searched after the 11th character, although a host may have fewer than four.
    handler: { standardHostname: false },
    serve: {
      maxRequestBodySize: BUN_MAX_BODY_BYTES,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      reusePort: false,
    },
  }).use(root);
  addRoutes(http, parts);
  http
    .use(openApiRoutes(() => addRoutes(new Elysia({ name: "api" }), parts)))
    .use(docsRoutes())
    .use(uiRoutes(parts));
  registerRoutes(http.routes);
  routeRulesOf(app).registerRoutes(http.routes);
  bodies.registerRoutes(http.routes);
  unknownFieldsOf(app).registerRoutes(http.routes);
  ownRequests(app).setHandler((request) => http.handle(request));
  const listener = createListener({
    http,
    hostname: config.host,
    port: config.port,
    clock,
    log,
  });
  const tlsListeners = createTlsListeners(app, keepRelayedPeer);
  let metricsServer: ReturnType<typeof serveMetrics> | null = null;

  return {
    http,

    /** Starts the servers, and resolves to the port. */
    async listen(): Promise<number> {
      if (config.metrics !== null) {
        metricsServer = serveMetrics(config.metrics, () => parts.readMetrics(responses));
      }
      const port = await listener.open();
      await tlsListeners.open(port);
      return port;
    },

    /** Resolves after the requests under way were answered. */
    async close(): Promise<void> {
      await metricsServer?.stop();
      await tlsListeners.stop();
      await listener.close();
    },
  };
}

/** Adds the routes of the interface, without the documentation and the dashboard. */
function addRoutes(
  to: AnyElysia,
  { readiness, modules }: { readiness: () => Promise<Readiness>; modules: readonly Module[] },
): AnyElysia {
  to.use(healthRoutes(readiness));
  for (const { routes = [] } of modules) for (const route of routes) to.use(route);
  return to;
}
