/**
 * GET    /templates                 list
 * POST   /templates                 create
 * GET    /templates/{id}
 * PATCH  /templates/{id}
 * DELETE /templates/{id}            refused while a workflow uses it
 * GET    /templates/{id}/usage      who sends it, and its variables
 * GET    /templates/{id}/preview    a document to be shown in a frame
 * POST   /templates/{id}/preview    render for a contact
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
import { ContactPreviewQuery, PreviewDocument, previewResponse } from "../../http/preview-query.ts";
import { ensureChecks } from "../../http/validation.ts";
import { Type } from "@sinclair/typebox";
import {
  Preview,
  PreviewInput,
  Template,
  TemplateInput,
  TemplatePatch,
  TemplateQuery,
  TemplateUsage,
} from "./model.ts";
import { templateOperations } from "./operations.ts";
import { presentTemplate, type Previews, type TemplateRow, type Templates } from "./service.ts";

export function templateRoutes(deps: {
  admission: Admission;
  templates: Templates;
  preview: Previews["preview"];
}) {
  const { admission, templates, preview } = deps;
  return new Elysia({ name: "template-routes", prefix: "/templates" })
    .use(admission.secretKey)
    .get("", async ({ project, query }) => envelope(await templates.list(project.seq, query)), {
      query: TemplateQuery,
      response: withErrors({ 200: ListEnvelope(Template) }),
      detail: templateOperations.listTemplates,
    })
    .post(
      "",
      ({ project, body, once }) =>
        once(() => {
          ensureChecks(TemplateInput, body);
          const create = templates.create(project.seq, body);
          return () => ({ status: 201, body: envelope(presentTemplate(create())) });
        }),
      {
        body: limited(TemplateInput, BODY_LIMITS.template),
        response: withErrors({ 201: Envelope(Template) }),
        detail: templateOperations.createTemplate,
      },
    )
    .get(
      "/:id",
      ({ project, params }) => envelope(presentTemplate(templates.get(project.seq, params.id))),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Template) }),
        detail: templateOperations.getTemplate,
      },
    )
    .patch(
      "/:id",
      async ({ project, params, body, store }) => {
        ensureChecks(TemplatePatch, body);
        const patch = templates.patch(project.seq, params.id, body);
        return envelope(presentTemplate(await store(patch)));
      },
      {
        params: IdParams,
        body: limited(TemplatePatch, BODY_LIMITS.template),
        response: withErrors({ 200: Envelope(Template) }),
        detail: templateOperations.updateTemplate,
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(templates.remove(project.seq, params.id));
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: templateOperations.deleteTemplate,
      },
    )
    .get("/:id/usage", ({ project, params }) => envelope(templates.usage(project.seq, params.id)), {
      params: IdParams,
      response: withErrors({ 200: Envelope(TemplateUsage) }),
      detail: templateOperations.getTemplateUsage,
    })
    .get(
      "/:id/preview",
      async ({ project, params, query }) => {
        const { contactId } = query;
        const template = templates.get(project.seq, params.id);
        const options = contactId === undefined ? {} : { contactId };
        return previewResponse(await preview(project, previewSource(template), options), query);
      },
      {
        params: IdParams,
        query: ContactPreviewQuery,
        response: withErrors({ 200: PreviewDocument }),
        detail: templateOperations.showTemplate,
      },
    )
    .post(
      "/:id/preview",
      async ({ project, params, body }) => {
        const source = previewSource(templates.get(project.seq, params.id));
        return envelope(await preview(project, source, body ?? {}));
      },
      {
        params: IdParams,
        body: limited(Type.Optional(PreviewInput), BODY_LIMITS.preview),
        response: withErrors({ 200: Envelope(Preview) }),
        detail: templateOperations.previewTemplate,
      },
    );
}

const previewSource = ({ subject, body, type }: TemplateRow) => ({
  subject,
  body,
  isMarketing: type === "MARKETING",
});
