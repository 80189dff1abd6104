/**
 * POST   /segments        a segment whose members are listed; Resend has no others
 * GET    /segments
 * GET    /segments/{segment}
 * PATCH  /segments/{segment}
 * DELETE /segments/{segment}
 *
 * The same below /audiences, an older name.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq, isNull } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { segments as segmentTable } from "../../db/schema/segments.ts";
import { BODY_LIMITS } from "../../http/body-limits.ts";
import { isoTime } from "../../lib/clock.ts";
import { segmentService } from "../segments/service.ts";
import {
  CONTACTS,
  Fields,
  Maybe,
  refuseGiven,
  type ResendCall,
  resendRoute,
  type ResendRoute,
} from "./call.ts";
import { resendPage, ResendPageQuery } from "./pages.ts";

const NewSegment = Fields({
  name: Type.String({ minLength: 1, maxLength: 255 }),
  /** A condition in the form of Resend. */
  filter: Maybe(Type.Unknown()),
  audience_id: Maybe(Type.String()),
});
const SegmentName = Fields({ name: Type.String({ minLength: 1, maxLength: 255 }) });

const nouns = [
  ["/segments", "segment"],
  ["/audiences", "audience"],
] as const;

export const resendSegmentRoutes: readonly ResendRoute[] = nouns.flatMap(([path, object]) => [
  resendRoute(
    `POST ${path}`,
    {
      role: "EDITOR",
      scopes: CONTACTS,
      audit: ["createSegment", "segment"],
      body: NewSegment,
      limit: BODY_LIMITS.condition,
    },
    (app, call) => createSegment(app, call, object),
  ),
  resendRoute(
    `GET ${path}`,
    { role: "VIEWER", scopes: CONTACTS, query: ResendPageQuery },
    (app, { project, query }) =>
      resendPage(app, query, {
        table: segmentTable,
        filter: and(eq(segmentTable.projectSeq, project.seq), isNull(segmentTable.deletedAt)),
        present: ({ id, name, createdAt }) => ({ id, name, created_at: isoTime(createdAt) }),
      }),
  ),
  resendRoute(
    `GET ${path}/:segment`,
    { role: "VIEWER", scopes: CONTACTS },
    async (app, { project, params }) => {
      const segment = await segmentService(app).get(project.seq, params["segment"] ?? "", "RECENT");
      const { id, name, createdAt } = segment;
      return { object, id, name, created_at: createdAt };
    },
  ),
  resendRoute(
    `PATCH ${path}/:segment`,
    {
      role: "EDITOR",
      scopes: CONTACTS,
      audit: ["updateSegment", "segment"],
      body: SegmentName,
      limit: BODY_LIMITS.settings,
    },
    async (app, { project, params: { segment: id = "" }, body, store }) => {
      await store(segmentService(app).patch(project.seq, id, body));
      return { object, id };
    },
  ),
  resendRoute(
    `DELETE ${path}/:segment`,
    { role: "EDITOR", scopes: CONTACTS, audit: ["deleteSegment", "segment"] },
    async (app, { project, params: { segment: id = "" }, storeWithoutQuota }) => {
      await storeWithoutQuota(segmentService(app).remove(project.seq, id));
      return { object, id, deleted: true };
    },
  ),
]);

async function createSegment(
  app: App,
  { project, body, once }: ResendCall<Static<typeof NewSegment>>,
  object: string,
) {
  const { create, whenRecorded } = segmentService(app);
  refuseGiven(body, {
    filter: "is not supported; make a segment with a condition in the dashboard",
    audience_id: "is not supported; a segment belongs to the project",
  });
  const answer = await once(async () => {
    const store = await create(project.seq, { name: body.name, type: "STATIC" });
    return () => {
      const { id, name } = store();
      return { status: 201, body: { object, id, name } };
    };
  });
  await whenRecorded(answer.id);
  return answer;
}
