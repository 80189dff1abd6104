/**
 * POST /mcp                the Model Context Protocol over streamable HTTP, for agents
 * GET  /mcp/permissions    whether the scope of a key includes the operation of a tool
 *
 * A request needs a secret key, as all others do; in `mailstead dev` on this machine, the tools for
 * inboxes need none. In order: the request is admitted; a page of another origin is refused; the
 * package speaks the protocol; a tool calls operations of the HTTP interface with the key of the
 * request. No session is kept between requests.
 */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { undocumented } from "../../http/documented.ts";
import { allowIdle } from "../../http/long-requests.ts";
import { ownRequests } from "../../http/own-requests.ts";
import { routeRulesOf } from "../../http/route-rules.ts";
import { requireScope } from "../../http/scopes.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { MAX_WAIT_SECONDS } from "../inboxes/wait/model.ts";
import type { Noun } from "../module.ts";
import { CHANGES } from "./change-tools.ts";
import { createConfirmations } from "./confirmations.ts";

export const mcpNoun: Noun = {
  name: "mcp",
  routes: (app, admission) => [mcpRoutes(app, admission), permissionRoutes(app, admission)],
};

const confirmationsOf = perApp(({ clock }: App) => createConfirmations(clock));

/** A message of JSON-RPC. The versions of the protocol from June 2025 on have no batches. */
const Message = Input({ jsonrpc: Type.Literal("2.0") });

function mcpRoutes(app: App, admission: Admission) {
  const { config, log } = app;
  return new Elysia({ name: "mcp-routes" }).use(admission.inboxKey).post(
    "/mcp",
    async (incoming) => {
      const { project, request, server, body } = incoming;
      refuseOtherOrigins(app, request);
      const { serveMcp } = await import("./mcp-server.ts");
      allowIdle({ request, server }, 2 * MAX_WAIT_SECONDS);
      return serveMcp(request, body, {
        send: (path, init) => ownRequests(app).send(incoming, path, init),
        confirmations: confirmationsOf(app)(project.id),
        hasKey: request.headers.has("authorization"),
        mayChange: config.mcpChanges,
        onFault: (error) => log.error("a tool failed", { error: describeError(error) }),
      });
    },
    {
      body: limited(Message, BODY_LIMITS.data),
      // Each tool calls operations with the key, which ask for the scope that they need.
      detail: undocumented("VIEWER", "KEY", ["READ"]),
    },
  );
}

/** A dry run asks here first, so that it promises no change that the key may not make. */
function permissionRoutes(app: App, admission: Admission) {
  return new Elysia({ name: "mcp-permissions" }).use(admission.secretKey).get(
    "/mcp/permissions",
    ({ query, scope }) => {
      const [method = "", path = ""] = query.operation.split(" ");
      if (scope !== null) requireScope(scope, routeRulesOf(app).ruleOf(method, path).scopes);
      return { isAllowed: true };
    },
    {
      query: Type.Object({ operation: OneOf(CHANGES) }),
      detail: undocumented("VIEWER", "KEY", ["SEND", "READ", "CONTACTS"]),
    },
  );
}

/** Browsers send Origin, and agents do not; only pages of this server itself may call it. */
function refuseOtherOrigins({ url }: App, { headers }: Request): void {
  const origin = headers.get("origin");
  if (origin === null || origin === new URL(url).origin) return;
  throw new AppError(403, "FORBIDDEN", "Pages of other origins may not use /mcp.", {
    suggestion: "Send the request from a program, without the header Origin.",
  });
}
