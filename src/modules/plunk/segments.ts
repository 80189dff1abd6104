/**
 * GET    /plunk/segments                     all segments, in a bare array
 * POST   /plunk/segments
 * GET    /plunk/segments/{id}
 * PATCH  /plunk/segments/{id}
 * DELETE /plunk/segments/{id}
 * GET    /plunk/segments/{id}/contacts       a numbered page of the members
 * POST   /plunk/segments/{id}/members        adds members to a STATIC segment by email
 * DELETE /plunk/segments/{id}/members
 * POST   /plunk/segments/{id}/refresh        counts the members
 * POST   /plunk/segments/{id}/compute        counts them as well: they are always up to date
 */

import { type Static, Type } from "@sinclair/typebox";
import { Elysia, status } from "elysia";
import type { App } from "../../core/app.ts";
import { SEGMENT_TYPES } from "../../db/schema/segments.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { imitated } from "../../http/documented.ts";
import { IdParams, NoContent, Nullable, withErrors } from "../../http/envelope.ts";
import { EmailAddress } from "../../http/formats.ts";
import { conditionFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { PLUNK } from "../../http/route-path.ts";
import { ensureChecks, Input, OneOf } from "../../http/validation.ts";
import { fieldError } from "../../lib/errors.ts";
import { Contact } from "../contacts/model.ts";
import { presentContact, readableContact } from "../contacts/service.ts";
import { type Segment, SegmentInput, SegmentPatch } from "../segments/model.ts";
import { segmentService } from "../segments/service.ts";
import { ourCondition, plunkCondition } from "./conditions.ts";
import { asPlunk } from "./errors.ts";
import { NumberedPage, NumberedQuery, numbersIn, readPages, shownPage } from "./pages.ts";
import { requireAddresses, requireFields } from "./shapes.ts";

const PlunkSegment = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  type: OneOf(SEGMENT_TYPES),
  condition: Type.Unknown(),
  trackMembership: Type.Boolean(),
  memberCount: Type.Integer(),
  projectId: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

const Fields = Input({
  name: Type.Optional(Type.String({ maxLength: 255 })),
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  type: Type.Optional(OneOf(SEGMENT_TYPES)),
  condition: Type.Optional(Type.Unknown()),
  trackMembership: Type.Optional(Type.Boolean()),
});

const MAX_MEMBERS = 500;
const Emails = Type.Optional(Type.Array(EmailAddress, { maxItems: MAX_MEMBERS }));
const Members = Input({
  emails: Emails,
  createMissing: Type.Optional(Type.Boolean()),
  subscribed: Type.Optional(Type.Boolean()),
});
const Added = Type.Object({
  added: Type.Integer(),
  created: Type.Integer(),
  notFound: Type.Array(Type.String()),
});

/** A numbered page is found by reading all members before it. It must end within this number. */
const MAX_READ_MEMBERS = 10_000;

/** Plunk refuses a faulty condition with 400. */
const DIFFERENCES = { badRequests: ["condition"] } as const;

const Computed = Type.Object({
  added: Type.Integer(),
  removed: Type.Integer(),
  total: Type.Integer(),
});

export function plunkSegmentRoutes(app: App, admission: Admission) {
  const segments = segmentService(app);
  return new Elysia({ name: "plunk-segment-routes", prefix: `${PLUNK}/segments` })
    .use(admission.secretKey)
    .get(
      "",
      async ({ project, role }) => {
        const all: Static<typeof PlunkSegment>[] = [];
        const pages = readPages((position) =>
          segments.list(project.seq, { limit: "100", ...position }),
        );
        for await (const { items } of pages) {
          all.push(...items.map((segment) => present(project.id, role, segment)));
        }
        return all;
      },
      {
        response: withErrors({ 200: Type.Array(PlunkSegment) }),
        detail: imitated("listSegments", "VIEWER"),
      },
    )
    .post(
      "",
      ({ project, role, body, once }) =>
        asPlunk(DIFFERENCES, async () => {
          const { type = "DYNAMIC" } = body;
          requireFields(body, type === "DYNAMIC" ? ["name", "condition"] : ["name"]);
          const answer = await once(async () => {
            const { name = "", condition, ...rest } = body;
            const input: SegmentInput = {
              ...rest,
              name,
              // Plunk ignores the condition of a STATIC segment.
              ...(type === "DYNAMIC" ? { condition: ourCondition(condition) } : {}),
            };
            ensureChecks(SegmentInput, input);
            const create = await segments.create(project.seq, input);
            return () => ({ status: 201, body: present(project.id, role, create()) });
          });
          await segments.whenRecorded(answer.id);
          return answer;
        }),
      {
        body: limited(Fields, BODY_LIMITS.condition),
        response: withErrors({ 201: PlunkSegment }),
        detail: imitated("createSegment", "EDITOR"),
      },
    )
    .get(
      "/:id",
      async ({ project, role, params }) =>
        present(project.id, role, await segments.get(project.seq, params.id)),
      {
        params: IdParams,
        response: withErrors({ 200: PlunkSegment }),
        detail: imitated("getSegment", "VIEWER"),
      },
    )
    .patch(
      "/:id",
      ({ project, role, params, body, store }) =>
        asPlunk(DIFFERENCES, async () => {
          const { condition, ...rest } = body;
          const given = condition === undefined ? {} : { condition: ourCondition(condition) };
          const patch: SegmentPatch = { ...rest, ...given };
          ensureChecks(SegmentPatch, patch);
          if (patch.name === "") throw fieldError("name", "too_small", "must not be empty");
          const row = await store(segments.patch(project.seq, params.id, patch));
          return present(project.id, role, await segments.changed(row));
        }),
      {
        params: IdParams,
        body: limited(Fields, BODY_LIMITS.condition),
        response: withErrors({ 200: PlunkSegment }),
        detail: imitated("updateSegment", "EDITOR"),
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
        detail: imitated("deleteSegment", "EDITOR"),
      },
    )
    .get(
      "/:id/contacts",
      async ({ project, role, params, query }) => {
        const numbers = numbersIn(query);
        const end = numbers.page * numbers.pageSize;
        if (end > MAX_READ_MEMBERS) {
          const message = `must not lead beyond ${MAX_READ_MEMBERS} members; use GET /segments/{id}/contacts`;
          throw fieldError("page", "too_big", message);
        }
        const audience = segments.audienceOf(project.seq, params.id);
        const bounds = { beforeSeq: null, limit: end };
        const { rows, total } = await segments.audiences.pageWithTotal(audience, bounds);
        const shown = rows
          .slice(end - numbers.pageSize)
          .map((row) => readableContact(role, presentContact(row)));
        return shownPage(shown, total, numbers);
      },
      {
        params: IdParams,
        query: Input(NumberedQuery.properties),
        response: withErrors({ 200: NumberedPage(Contact) }),
        detail: imitated("listSegmentContacts", "VIEWER"),
      },
    )
    .post(
      "/:id/members",
      ({ project, params, body, once }) => {
        const { createMissing = false, subscribed } = body;
        const emails = requireAddresses(body);
        return once(async () => {
          const input = { emails, createMissing, subscribed };
          const add = await segments.members.add(project.seq, params.id, input);
          return () => ({ status: 200, body: add() });
        });
      },
      {
        params: IdParams,
        body: limited(Members, BODY_LIMITS.members),
        response: withErrors({ 200: Added }),
        detail: imitated("addSegmentMembers", "EDITOR"),
      },
    )
    .delete(
      "/:id/members",
      async ({ project, params, body, storeWithoutQuota }) => {
        const remove = segments.members.remove(project.seq, params.id, requireAddresses(body));
        const { removed } = await storeWithoutQuota(remove);
        return { removed };
      },
      {
        params: IdParams,
        body: limited(Input({ emails: Emails }), BODY_LIMITS.members),
        response: withErrors({ 200: Type.Object({ removed: Type.Integer() }) }),
        detail: imitated("removeSegmentMembers", "EDITOR"),
      },
    )
    .post(
      "/:id/refresh",
      async ({ project, params }) => {
        const { memberCount } = await segments.get(project.seq, params.id);
        return { memberCount };
      },
      {
        params: IdParams,
        response: withErrors({ 200: Type.Object({ memberCount: Type.Integer() }) }),
        detail: imitated("getSegment", "VIEWER", { isAudited: false }),
      },
    )
    .post(
      "/:id/compute",
      async ({ project, params }) => {
        const { memberCount } = await segments.get(project.seq, params.id);
        // The request adds and removes no member, because the members are always up to date.
        return { added: 0, removed: 0, total: memberCount };
      },
      {
        params: IdParams,
        response: withErrors({ 200: Computed }),
        detail: imitated("getSegment", "VIEWER", { isAudited: false }),
      },
    );
}

function present(
  projectId: string,
  role: Role | null,
  segment: Segment,
): Static<typeof PlunkSegment> {
  const { id, name, description, type, condition, trackMembership, memberCount } = segment;
  const { createdAt, updatedAt } = segment;
  return {
    id,
    name,
    description,
    type,
    condition: conditionFor(role, plunkCondition(condition)),
    trackMembership,
    memberCount,
    projectId,
    createdAt,
    updatedAt,
  };
}
