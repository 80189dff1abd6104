/** GET /inboxes/{id}/events    server-sent events */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import { IdParams, withErrors } from "../../../http/envelope.ts";
import { EVENT_STREAM_HEADERS } from "../../../http/event-stream.ts";
import { connectionOwnerOf } from "../../../http/live-connections.ts";
import { allowIdle } from "../../../http/long-requests.ts";
import { inboxOperations } from "../operations.ts";
import type { App } from "../../../core/app.ts";
import { admissionOf } from "../../admission.ts";
import { inboxReading } from "../reading.ts";
import { inboxLive } from "./stream.ts";

const EventStream = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "text/event-stream",
    description: "Server-sent events: message, updated, deleted, cleared, reload and stats",
    examples: ['id: 4f1c.7\nevent: deleted\ndata: {"id":"3nVqX2cYb8"}\n\n'],
  }),
);

export function liveRoutes(app: App) {
  const admission = admissionOf(app);
  const reading = inboxReading(app);
  const live = inboxLive(app);
  return new Elysia({ name: "inbox-live-routes", prefix: "/inboxes" }).use(admission.inboxKey).get(
    "/:id/events",
    async ({ project, user, watchAdmission, params, request, server }) => {
      const inbox = await reading.inbox(project.seq, params.id);
      const reader = {
        inbox,
        counted: await live.count(inbox),
        owner: connectionOwnerOf({ user, project }),
        isAdmitted: watchAdmission(),
      };
      const stream = live.open(reader, request.headers.get("last-event-id"));
      allowIdle({ request, server }, 0);
      return new Response(stream, { headers: EVENT_STREAM_HEADERS });
    },
    {
      params: IdParams,
      response: withErrors({ 200: EventStream }),
      detail: inboxOperations.streamInboxEvents,
    },
  );
}
