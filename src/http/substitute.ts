/**
 * Listens instead of the server while no file descriptors are free. It answers at once and closes
 * the connection: `/livez` gets 200, every other path 503.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import type { Closable } from "./descriptor-guard.ts";
import { errorBody } from "./errors.ts";
import { routePath } from "./route-path.ts";

const IDLE_SECONDS = 5;
const RETRY_SECONDS = 5;

export function openSubstitute(deps: { hostname: string; port: number; clock: Clock }): Closable {
  const { hostname, port, clock } = deps;
  const server = Bun.serve({
    hostname,
    port,
    reusePort: false,
    idleTimeout: IDLE_SECONDS,
    development: false,
    fetch({ url }) {
      const path = routePath(url);
      const nowMs = clock.now();
      const headers = { Connection: "close" };
      if (path === "/livez") return Response.json({ status: "ok" }, { headers });
      const requestId = newId(nowMs);
      return Response.json(errorBody(refusal(), { requestId, path, nowMs }), {
        status: 503,
        headers: { ...headers, "Retry-After": String(RETRY_SECONDS), "X-Request-Id": requestId },
      });
    },
  });
  return { close: () => void server.stop(true) };
}

function refusal(): AppError {
  const message =
    "All file descriptors of the process are in use, so it cannot accept more connections.";
  return new AppError(503, "SERVICE_UNAVAILABLE", message);
}
