/** The routes `GET /livez` and `GET /readyz`, which need no API key. */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import { AppError } from "../lib/errors.ts";
import { described, describeOperations, named } from "./documented.ts";
import { ErrorBody } from "./envelope.ts";
import { OneOf } from "./validation.ts";

const Health = named(
  "Health",
  described(Type.Object({ status: Type.Literal("ok") }), { status: "Always ok" }),
  { description: "The process can do its work" },
);

const operations = describeOperations(
  { tag: "Health" },
  {
    getLiveness: {
      role: "ANYONE",
      summary: "Check that the process runs",
      description: "Answers without using the database. Needs no key.",
      security: [],
    },
    getReadiness: {
      role: "ANYONE",
      summary: "Check that the database accepts writes and the queue runs",
      description:
        "Answers 503 with the reason while the process cannot accept work. With `queue` `held`, mail " +
        "is accepted and nothing leaves, as after a restore. Needs no key.",
      security: [],
    },
  },
);

const Ready = named(
  "Ready",
  described(Type.Object({ status: Type.Literal("ok"), queue: OneOf(["running", "held"]) }), {
    status: "Always ok",
    queue: "held: mail is accepted and nothing leaves, until the queue is released",
  }),
  { description: "The process can accept work", example: { status: "ok", queue: "running" } },
);

export type Readiness =
  { isReady: true; isQueueHeld: boolean } | { isReady: false; reason: string };

export function healthRoutes(readiness: () => Promise<Readiness>) {
  let running: Promise<Readiness> | null = null;

  /** Concurrent requests share one check, because each check writes to the database. */
  function checkOnce(): Promise<Readiness> {
    running ??= readiness().finally(() => (running = null));
    return running;
  }

  return new Elysia({ name: "health-routes" })
    .get("/livez", () => ({ status: "ok" as const }), {
      response: { 200: Health, 400: ErrorBody },
      detail: operations.getLiveness,
    })
    .get(
      "/readyz",
      async () => {
        const state = await checkOnce();
        if (!state.isReady) throw new AppError(503, "SERVICE_UNAVAILABLE", state.reason);
        const queue = state.isQueueHeld ? ("held" as const) : ("running" as const);
        return { status: "ok" as const, queue };
      },
      {
        response: { 200: Ready, 400: ErrorBody, 503: ErrorBody },
        detail: operations.getReadiness,
      },
    );
}
