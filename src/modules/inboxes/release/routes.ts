/** POST /inboxes/{id}/messages/{messageId}/release */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import { BODY_LIMITS, limited } from "../../../http/body-limits.ts";
import { Envelope, envelope, withErrors } from "../../../http/envelope.ts";
import { allowIdle } from "../../../http/long-requests.ts";
import { MessageParams } from "../model.ts";
import { inboxOperations } from "../operations.ts";
import { Release, ReleaseInput } from "./model.ts";
import type { App } from "../../../core/app.ts";
import { admissionOf } from "../../admission.ts";
import { inboxReading } from "../reading.ts";
import { messageReleases } from "./service.ts";

export function releaseRoutes(app: App) {
  const admission = admissionOf(app);
  const reading = inboxReading(app);
  const releases = messageReleases(app);
  return new Elysia({ name: "inbox-release-routes", prefix: "/inboxes/:id/messages/:messageId" })
    .use(admission.inboxKey)
    .post(
      "/release",
      async ({ project, params, body, request, server }) => {
        const message = await reading.message(project.seq, params);
        // A conversation with a slow server may take minutes (RFC 5321 §4.5.3.2).
        allowIdle({ request, server }, 0);
        return envelope(await releases.release(project.seq, message, body.to));
      },
      {
        params: MessageParams,
        body: limited(ReleaseInput, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Type.Array(Release)) }),
        detail: inboxOperations.releaseInboxMessage,
      },
    );
}
