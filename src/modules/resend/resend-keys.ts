/**
 * GET    /api-keys
 * POST   /api-keys        refused: no key can make another key
 * DELETE /api-keys/{id}   refused for the same reason
 */

import { and, eq, isNull } from "drizzle-orm";
import { apiKeys } from "../../db/schema/projects.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { resendRoute, type ResendRoute } from "./call.ts";
import { resendPage, ResendPageQuery } from "./pages.ts";

export const resendKeyRoutes: readonly ResendRoute[] = [
  resendRoute(
    "GET /api-keys",
    { role: "ADMIN", query: ResendPageQuery },
    (app, { project, query }) =>
      resendPage(app, query, {
        table: apiKeys,
        filter: and(eq(apiKeys.projectSeq, project.seq), isNull(apiKeys.revokedAt)),
        present: ({ id, name, createdAt, lastUsedAt }) => ({
          id,
          name,
          created_at: isoTime(createdAt),
          last_used_at: isoTimeOrNull(lastUsedAt),
        }),
      }),
  ),
  resendRoute("POST /api-keys", { role: "ADMIN" }, refuseKeys),
  resendRoute("DELETE /api-keys/:id", { role: "ADMIN" }, refuseKeys),
];

/** A leaked key could otherwise outlive its revocation (docs/security.md). */
function refuseKeys(): never {
  throw new AppError(403, "FORBIDDEN", "No API key can make or revoke an API key.", {
    suggestion: "Use the dashboard, or mailstead key create and mailstead key revoke.",
  });
}
