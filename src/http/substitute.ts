/**
 * Listens instead of the server while that cannot run: no file descriptors are free, or the disk is full
 * at the start. It answers at once and closes the connection: `/livez` gets 200, every other path 503.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import type { Closable } from "./descriptor-guard.ts";
import { errorBody } from "./errors.ts";
import { routePath } from "./route-path.ts";

const IDLE_SECONDS = 5;
const RETRY_SECONDS = 5;

export function openSubstitute(deps: {
  hostname: string;
  port: number;
  clock: Clock;
  /** The reason, for callers. */
  message: string;
}): Closable {
  const { hostname, port, clock, message } = deps;
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
      return Response.json(errorBody(refusal(message), { requestId, path, nowMs }), {
        status: 503,
        headers: { ...headers, "Retry-After": String(RETRY_SECONDS), "X-Request-Id": requestId },
      });
    },
  });
  return { close: () => void server.stop(true) };
}

function refusal(message: string): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", message);
}
