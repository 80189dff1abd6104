/** GET /app/api/live?project=ID    server-sent events of one project, for the dashboard */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { undocumented } from "../../http/documented.ts";
import { EVENT_STREAM_HEADERS } from "../../http/event-stream.ts";
import { connectionOwnerOf } from "../../http/live-connections.ts";
import { allowIdle } from "../../http/long-requests.ts";
import type { LiveFeed } from "./feed.ts";

export function liveFeedRoutes({ admission, feed }: { admission: Admission; feed: LiveFeed }) {
  return new Elysia({ name: "live-feed-routes" }).use(admission.secretKey).get(
    "/app/api/live",
    ({ project, user, watchAdmission, request, server }) => {
      const reader = {
        projectSeq: project.seq,
        owner: connectionOwnerOf({ user, project }),
        isAdmitted: watchAdmission(),
      };
      const stream = feed.open(reader, request.headers.get("last-event-id"));
      allowIdle({ request, server }, 0);
      return new Response(stream, { headers: EVENT_STREAM_HEADERS });
    },
    { detail: undocumented("VIEWER") },
  );
}
