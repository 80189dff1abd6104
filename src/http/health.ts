/** `GET /livez` and `GET /readyz`, without a key. */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import { AppError } from "../lib/errors.ts";
import { ErrorBody } from "./envelope.ts";

const Health = Type.Object({ status: Type.Literal("ok") });

export type Readiness = { isReady: true } | { isReady: false; reason: string };

export function healthRoutes(readiness: () => Promise<Readiness>) {
  let asking: Promise<Readiness> | null = null;

  /** Whoever asks at the same time gets the same answer: each costs a write. */
  function askTogether(): Promise<Readiness> {
    asking ??= readiness().finally(() => (asking = null));
    return asking;
  }

  return new Elysia({ name: "health-routes" })
    .get("/livez", () => ({ status: "ok" as const }), {
      response: { 200: Health },
      detail: { tags: ["Health"], summary: "The process is up", security: [] },
    })
    .get(
      "/readyz",
      async () => {
        const state = await askTogether();
        if (!state.isReady) throw new AppError(503, "SERVICE_UNAVAILABLE", state.reason);
        return { status: "ok" as const };
      },
      {
        response: { 200: Health, 503: ErrorBody },
        detail: {
          tags: ["Health"],
          summary: "The database takes writes and the queue runs",
          security: [],
        },
      },
    );
}
