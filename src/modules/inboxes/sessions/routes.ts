/**
 * GET /inboxes/{id}/sessions
 * GET /inboxes/{id}/sessions/{sessionId}
 */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import { Envelope, envelope, IdParams, withErrors } from "../../../http/envelope.ts";
import { inboxOperations } from "../operations.ts";
import { SessionDetail, SessionParams, SessionQuery, SmtpSession } from "./model.ts";
import type { App } from "../../../core/app.ts";
import { admissionOf } from "../../admission.ts";
import { inboxReading } from "../reading.ts";
import { smtpSessions } from "./service.ts";

const DEFAULT_LIMIT = 50;

export function sessionRoutes(app: App) {
  const admission = admissionOf(app);
  const reading = inboxReading(app);
  const sessions = smtpSessions(app);

  return new Elysia({ name: "inbox-session-routes", prefix: "/inboxes/:id/sessions" })
    .use(admission.inboxKey)
    .get(
      "",
      async ({ project, params, query }) => {
        const { seq } = await reading.inbox(project.seq, params.id);
        const { refused } = query;
        const isRefused = refused === undefined ? null : refused === "true";
        const limit = Number(query.limit ?? DEFAULT_LIMIT);
        return envelope(await sessions.list(seq, { limit, isRefused }));
      },
      {
        params: IdParams,
        query: SessionQuery,
        response: withErrors({ 200: Envelope(Type.Array(SmtpSession)) }),
        detail: inboxOperations.listInboxSessions,
      },
    )
    .get(
      "/:sessionId",
      async ({ project, params }) => {
        const { seq } = await reading.inbox(project.seq, params.id);
        return envelope(await sessions.get(seq, params.sessionId));
      },
      {
        params: SessionParams,
        response: withErrors({ 200: Envelope(SessionDetail) }),
        detail: inboxOperations.getInboxSession,
      },
    );
}
