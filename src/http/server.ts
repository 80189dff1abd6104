/**
 * The root of all routes. For each request, in this order: it chooses the request id, refuses a
 * second Host header, adds the CORS headers of the public endpoint, and refuses a method that the
 * route does not have (405). Then the route answers: `admission.ts` checks the API key and the rate
 * limit, `body.ts` reads the body, `validation.ts` checks it against the schema, and
 * `idempotency.ts` commits the change once per key. An error becomes a response in `errors.ts`. The
 * response is counted and logged at the end.
 */

import { Elysia } from "elysia";
import { newId } from "../lib/id.ts";
import { hasTwoHosts } from "../lib/host-header.ts";
import { AppError } from "../lib/errors.ts";
import type { Log } from "../lib/log.ts";
import type { Project } from "./admission.ts";
import { errorBody, type ErrorContext, toAppError } from "./errors.ts";
import { asResendError, isResendPath, resendErrorBody } from "./resend-errors.ts";
import { createRefusalLog } from "./refusal-log.ts";
import { routePath, withoutImitation } from "./route-path.ts";
import { isLenient } from "./validation.ts";
import { createRouteTable, type Route } from "./route-table.ts";

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
/** A year, and not for other servers below the name (RFC 6797). */
const TRANSPORT_SECURITY = "max-age=31536000";
/** The route that browsers call from any origin. */
const PUBLIC_PATH = "/v1/track";
/** Headers of its responses that scripts in browsers may read. */
const EXPOSED_HEADERS = [
  "X-Request-Id",
  "Idempotency-Replayed",
  "Mailstead-Ignored",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "Retry-After",
].join(", ");

export function createRoot(options: {
  log: Log;
  now: () => number;
  /** Monotonic milliseconds. */
  elapsed: () => number;
  /** The project of an admitted request; null for other requests. */
  projectOf: (request: Request) => Project | null;
  /** Whether browsers may be told to use HTTPS only. */
  isHttpsOnly: () => boolean;
  /** Called when the validation and the handler of a request begin. */
  beginWork: (name: string) => void;
  /** Called once for each request, after its response was created. */
  onAnswered: (request: Request) => void;
}) {
  const { log, now, beginWork, onAnswered } = options;
  const logRefusal = createRefusalLog(options);
  const responses = new Map<string, number>();
  const requestIds = new WeakMap<Request, string>();
  let routes = createRouteTable([]);

  function contextOf(request: Request, route: string): ErrorContext {
    return {
      requestId: requestIds.get(request) ?? newId(now()),
      path: routePath(request.url),
      route: route === "" ? null : route,
      project: options.projectOf(request),
      isLenient: isLenient(request),
      nowMs: now(),
      log,
    };
  }

  const root = new Elysia({ name: "root" })
    .onRequest(({ request, set }) => {
      const given = request.headers.get("x-request-id");
      const requestId = given !== null && REQUEST_ID.test(given) ? given : newId(now());
      requestIds.set(request, requestId);
      set.headers["x-request-id"] = requestId;
      if (options.isHttpsOnly()) set.headers["strict-transport-security"] = TRANSPORT_SECURITY;
      requireOneHost(request);
      const path = routePath(request.url);
      if (withoutImitation(path) === PUBLIC_PATH) {
        set.headers["access-control-allow-origin"] = "*";
        set.headers["access-control-expose-headers"] = EXPOSED_HEADERS;
        if (request.method === "OPTIONS") return preflight(requestId);
      }
      requireMethod(request.method, routes.methodsAt(path));
    })
    .onError({ as: "global" }, ({ error, code, request, route, set }) => {
      const context = contextOf(request, route);
      const found = code === "NOT_FOUND" ? noRoute() : toAppError(error, context);
      const isOfResend = isResendPath(context.path);
      const refusal = isOfResend ? asResendError(found) : found;
      set.status = refusal.status;
      Object.assign(set.headers, refusal.headers, { "x-request-id": context.requestId });
      if (refusal.status === 503) logRefusal(context.requestId, refusal.message);
      return isOfResend ? resendErrorBody(refusal) : errorBody(refusal, context);
    })
    .onTransform({ as: "global" }, ({ request, route }) => beginWork(`${request.method} ${route}`))
    .onAfterResponse({ as: "global" }, ({ request, route, set }) => {
      onAnswered(request);
      const status = String(set.status ?? 200);
      responses.set(status, (responses.get(status) ?? 0) + 1);
      const requestId = requestIds.get(request);
      log.debug("request", {
        requestId,
        method: request.method,
        // The path is not logged: paths of the pages for recipients contain secret tokens.
        route: route === "" ? null : route,
        status: set.status ?? 200,
      });
    });

  return {
    root,
    /** Responses since the start, by status. */
    responses,
    /** Called once, after all routes were added. */
    registerRoutes(all: readonly Route[]) {
      routes = createRouteTable(all);
    },
  };
}

function requireOneHost(request: Request): void {
  // Without a valid host the URL is only a path, which the router would cut. HTTP/1.0 has no Host.
  const isInvalid = request.url.startsWith("/") && request.headers.has("host");
  if (!hasTwoHosts(request) && !isInvalid) return;
  throw new AppError(400, "BAD_REQUEST", "A request must have exactly one Host header.", {
    suggestion: "Send one Host header, with one host.",
  });
}

/** Runs before the router, which answers 404 for a path without a route. */
function requireMethod(method: string, methods: readonly string[] | null): void {
  if (methods === null || methods.includes(method)) return;
  throw new AppError(
    405,
    "METHOD_NOT_ALLOWED",
    `The method ${method} is not allowed for this path.`,
    {
      headers: { Allow: methods.join(", ") },
    },
  );
}

function noRoute(): AppError {
  return new AppError(404, "ROUTE_NOT_FOUND", "No route has this path.");
}

function preflight(requestId: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
      "Access-Control-Max-Age": "86400",
      "X-Request-Id": requestId,
    },
  });
}
