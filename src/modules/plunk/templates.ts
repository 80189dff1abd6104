/**
 * GET    /plunk/templates                    a numbered page, searched and sorted
 * POST   /plunk/templates
 * POST   /plunk/templates/bulk-update        deletes several, all or none
 * GET    /plunk/templates/{id}
 * PATCH  /plunk/templates/{id}
 * DELETE /plunk/templates/{id}
 * POST   /plunk/templates/{id}/duplicate
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq } from "drizzle-orm";
import { Elysia, status } from "elysia";
import type { App } from "../../core/app.ts";
import { templates } from "../../db/schema/templates.ts";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { imitated } from "../../http/documented.ts";
import { IdParams, NoContent, withErrors } from "../../http/envelope.ts";
import { PLUNK } from "../../http/route-path.ts";
import { ensureChecks, Input, OneOf } from "../../http/validation.ts";
import { isoTime } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
import { requireVerifiedSender } from "../campaigns/sending-rules.ts";
import { ensureTemplates } from "../content-work/content-work.ts";
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  getTemplate,
  updateTemplate,
} from "../templates.ts";
import { TemplateInput, TemplatePatch } from "../templates/model.ts";
import { ListParameters, NumberedPage, numberedPage } from "./pages.ts";
import {
  bulkDelete,
  BulkResult,
  BulkUpdate,
  CONTENT_MEMBERS,
  ensureHeadless,
  MailFields,
  PLUNK_TYPES,
  type PlunkType,
  presentMailContent,
  requireFields,
  storedType,
} from "./shapes.ts";

const PlunkTemplate = Type.Object({
  ...CONTENT_MEMBERS,
  projectId: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
});

const Fields = Type.Partial(MailFields);

/** The fields without which a template is refused with Plunk's older error. */
const REQUIRED_FIELDS = ["name", "subject", "body", "from"] as const;

const ListQuery = Input({ ...ListParameters, type: Type.Optional(OneOf(PLUNK_TYPES)) });

export function plunkTemplateRoutes(app: App, admission: Admission) {
  return new Elysia({ name: "plunk-template-routes", prefix: `${PLUNK}/templates` })
    .use(admission.secretKey)
    .get(
      "",
      ({ project, query }) =>
        numberedPage(app, project, {
          query,
          table: templates,
          filter: and(
            eq(templates.projectSeq, project.seq),
            query.type === undefined ? undefined : eq(templates.type, listedType(query.type)),
          ),
          searched: [templates.name, templates.description, templates.subject],
          present: (row) => present(project.id, row),
        }),
      {
        query: ListQuery,
        response: withErrors({ 200: NumberedPage(PlunkTemplate) }),
        detail: imitated("listTemplates", "VIEWER"),
      },
    )
    .post(
      "",
      ({ project, body, actor, once }) => {
        requireFields(body, REQUIRED_FIELDS);
        return once(async () => {
          const { name = "", subject = "", body: source = "", type = "MARKETING" } = body;
          const content = { ...body, name, subject, body: source };
          ensureHeadless(type, source);
          const input: TemplateInput = { ...content, type: storedType(type) };
          ensureChecks(TemplateInput, input);
          await ensureTemplates(app, project.seq, input, false);
          return () => {
            if (input.from) requireVerifiedSender(app, project.seq, input.from);
            const created = createTemplate(app, project.seq, input, actor());
            return { status: 201, body: present(project.id, created) };
          };
        });
      },
      {
        body: limited(Fields, BODY_LIMITS.template),
        response: withErrors({ 201: PlunkTemplate }),
        detail: imitated("createTemplate", "EDITOR"),
      },
    )
    .post(
      "/bulk-update",
      ({ project, body, storeWithoutQuota }) =>
        bulkDelete(body, storeWithoutQuota, (id) =>
          deleteTemplate(app, getTemplate(app, project.seq, id)),
        ),
      {
        body: limited(BulkUpdate, BODY_LIMITS.settings),
        response: withErrors({ 200: BulkResult }),
        detail: imitated("deleteTemplate", "EDITOR"),
      },
    )
    .get(
      "/:id",
      ({ project, params }) => present(project.id, getTemplate(app, project.seq, params.id)),
      {
        params: IdParams,
        response: withErrors({ 200: PlunkTemplate }),
        detail: imitated("getTemplate", "VIEWER"),
      },
    )
    .patch(
      "/:id",
      async ({ project, params, body, actor, store }) => {
        const { type, ...rest } = body;
        const patch: TemplatePatch = {
          ...rest,
          ...(type === undefined ? {} : { type: storedType(type) }),
        };
        ensureChecks(TemplatePatch, patch);
        await ensureTemplates(app, project.seq, patch, false);
        const changed = await store(() => {
          const template = getTemplate(app, project.seq, params.id);
          ensureHeadless(type, patch.body ?? template.body);
          if (patch.from) requireVerifiedSender(app, project.seq, patch.from);
          return updateTemplate(app, template, patch, actor());
        });
        return present(project.id, changed);
      },
      {
        params: IdParams,
        body: limited(Fields, BODY_LIMITS.template),
        response: withErrors({ 200: PlunkTemplate }),
        detail: imitated("updateTemplate", "EDITOR"),
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(() =>
          deleteTemplate(app, getTemplate(app, project.seq, params.id)),
        );
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: imitated("deleteTemplate", "EDITOR"),
      },
    )
    .post(
      "/:id/duplicate",
      ({ project, params, actor, once }) =>
        once(() => () => {
          const template = getTemplate(app, project.seq, params.id);
          const copy = duplicateTemplate(app, template, actor());
          return { status: 201, body: present(project.id, copy) };
        }),
      {
        params: IdParams,
        response: withErrors({ 201: PlunkTemplate }),
        detail: imitated("duplicateTemplate", "EDITOR"),
      },
    );
}

/** Templates do not say whether they came as HEADLESS, so a list of these would be wrong. */
function listedType(type: PlunkType) {
  if (type !== "HEADLESS") return type;
  throw fieldError("type", "invalid_value", "must be MARKETING, as which HEADLESS is stored");
}

function present(
  projectId: string,
  row: Omit<typeof templates.$inferSelect, "seq">,
): Static<typeof PlunkTemplate> {
  return {
    ...presentMailContent(row),
    type: row.type,
    projectId,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
