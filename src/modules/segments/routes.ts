/**
 * GET    /segments                 list segments
 * POST   /segments                 create a segment
 * POST   /segments/preview         whom a condition selects
 * GET    /segments/{id}            one segment
 * PATCH  /segments/{id}            change a segment
 * DELETE /segments/{id}            delete a segment
 * GET    /segments/{id}/usage      list what uses a segment
 * GET    /segments/{id}/contacts   list the members of a segment
 * POST   /segments/{id}/members    add members to a STATIC segment by email
 * DELETE /segments/{id}/members    remove members from a STATIC segment by email
 */

import { Elysia, status } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { conditionFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { ensureChecks } from "../../http/validation.ts";
import { Contact } from "../contacts/model.ts";
import { readableContact } from "../contacts/service.ts";
import {
  AddedMembers,
  ConditionPreview,
  ConditionToPreview,
  MembersInput,
  MembersRemoval,
  RemovedMembers,
  Segment,
  SegmentInput,
  SegmentPatch,
  SegmentListQuery,
  SegmentQuery,
  SegmentUsage,
} from "./model.ts";
import { segmentOperations } from "./operations.ts";
import type { Segments } from "./service.ts";

export function segmentRoutes(deps: { admission: Admission; segments: Segments }) {
  const { admission, segments } = deps;
  return new Elysia({ name: "segment-routes", prefix: "/segments" })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role, query }) => {
        const { items, ...page } = await segments.list(project.seq, query);
        return envelope({ ...page, items: items.map((segment) => readableSegment(role, segment)) });
      },
      {
        query: SegmentListQuery,
        response: withErrors({ 200: ListEnvelope(Segment) }),
        detail: segmentOperations.listSegments,
      },
    )
    .post(
      "",
      async ({ project, body, once }) => {
        const answer = await once(async () => {
          ensureChecks(SegmentInput, body);
          const create = await segments.create(project.seq, body);
          return () => ({ status: 201, body: envelope(create()) });
        });
        await segments.whenRecorded(answer.data.id);
        return answer;
      },
      {
        body: limited(SegmentInput, BODY_LIMITS.condition),
        response: withErrors({ 201: Envelope(Segment) }),
        detail: segmentOperations.createSegment,
      },
    )
    .post(
      "/preview",
      async ({ project, role, body, query }) => {
        ensureChecks(ConditionToPreview, body);
        const found = await segments.preview(project.seq, body.condition, query.counted);
        const members = found.members?.map((contact) => readableContact(role, contact)) ?? null;
        return envelope({ ...found, members });
      },
      {
        query: SegmentQuery,
        body: limited(ConditionToPreview, BODY_LIMITS.condition),
        response: withErrors({ 200: Envelope(ConditionPreview) }),
        detail: segmentOperations.previewCondition,
      },
    )
    .get(
      "/:id",
      async ({ project, role, params, query }) =>
        envelope(readableSegment(role, await segments.get(project.seq, params.id, query.counted))),
      {
        params: IdParams,
        query: SegmentQuery,
        response: withErrors({ 200: Envelope(Segment) }),
        detail: segmentOperations.getSegment,
      },
    )
    .patch(
      "/:id",
      async ({ project, params, body, store }) => {
        ensureChecks(SegmentPatch, body);
        const row = await store(segments.patch(project.seq, params.id, body));
        return envelope(await segments.changed(row));
      },
      {
        params: IdParams,
        body: limited(SegmentPatch, BODY_LIMITS.condition),
        response: withErrors({ 200: Envelope(Segment) }),
        detail: segmentOperations.updateSegment,
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(segments.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: segmentOperations.deleteSegment,
      },
    )
    .get("/:id/usage", ({ project, params }) => envelope(segments.usage(project.seq, params.id)), {
      params: IdParams,
      response: withErrors({ 200: Envelope(SegmentUsage) }),
      detail: segmentOperations.getSegmentUsage,
    })
    .get(
      "/:id/contacts",
      async ({ project, role, params, query }) => {
        const { items, ...page } = await segments.listContacts(project.seq, params.id, query);
        return envelope({ ...page, items: items.map((contact) => readableContact(role, contact)) });
      },
      {
        params: IdParams,
        query: PageQuery,
        response: withErrors({ 200: ListEnvelope(Contact) }),
        detail: segmentOperations.listSegmentContacts,
      },
    )
    .post(
      "/:id/members",
      ({ project, params, body, once }) =>
        once(async () => {
          const add = await segments.members.add(project.seq, params.id, body);
          return () => ({ status: 200, body: envelope(add()) });
        }),
      {
        params: IdParams,
        body: limited(MembersInput, BODY_LIMITS.members),
        response: withErrors({ 200: Envelope(AddedMembers) }),
        detail: segmentOperations.addSegmentMembers,
      },
    )
    .delete(
      "/:id/members",
      async ({ project, params, body, storeWithoutQuota }) =>
        envelope(
          await storeWithoutQuota(segments.members.remove(project.seq, params.id, body.emails)),
        ),
      {
        params: IdParams,
        body: limited(MembersRemoval, BODY_LIMITS.members),
        response: withErrors({ 200: Envelope(RemovedMembers) }),
        detail: segmentOperations.removeSegmentMembers,
      },
    );
}

/** The segment as a role sees it. */
function readableSegment(role: Role | null, segment: Segment): Segment {
  return { ...segment, condition: conditionFor(role, segment.condition) };
}
