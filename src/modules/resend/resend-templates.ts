/**
 * POST   /templates
 * GET    /templates
 * GET    /templates/{id}
 * PATCH  /templates/{id}
 * POST   /templates/{id}/publish     has no effect: a template is used as it is
 * POST   /templates/{id}/duplicate
 * DELETE /templates/{id}
 */

import { type Static, Type } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { templates as templateTable } from "../../db/schema/templates.ts";
import { BODY_LIMITS } from "../../http/body-limits.ts";
import { isoTime } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
import {
  createTemplate,
  deleteTemplate,
  duplicateTemplate,
  getTemplate,
  type TemplateRow,
  updateTemplate,
} from "../templates.ts";
import { TemplateInput, TemplatePatch } from "../templates/model.ts";
import {
  Fields,
  hasValue,
  Maybe,
  refuseGiven,
  refuseOther,
  type ResendCall,
  resendRoute,
  type ResendRoute,
  textOr,
  withNames,
} from "./call.ts";
import { CONTENT, CONTENT_NAMES, contentIn, ensureContent, shownContent } from "./content.ts";
import { resendPage, ResendPageQuery } from "./pages.ts";
import { placeholdersIn } from "./placeholders.ts";

const Declared = Fields({
  key: Type.String({ minLength: 1, maxLength: 100 }),
  type: Maybe(Type.String()),
  fallback_value: Maybe(Type.Union([Type.String({ maxLength: 200 }), Type.Number()])),
});

const SHARED = {
  ...CONTENT,
  alias: Maybe(Type.String()),
  variables: Maybe(Type.Array(Declared, { maxItems: 100 })),
};
const NewTemplate = Fields({ ...SHARED, name: Type.String({ minLength: 1, maxLength: 255 }) });
const TemplateChange = Fields({
  ...SHARED,
  name: Maybe(Type.String({ maxLength: 255 })),
  /** The client in Python repeats what the path has. */
  id: Maybe(Type.String()),
});
type TemplateChange = Static<typeof TemplateChange>;

export const resendTemplateRoutes: readonly ResendRoute[] = [
  resendRoute(
    "POST /templates",
    {
      role: "EDITOR",
      audit: ["createTemplate", "template"],
      body: NewTemplate,
      limit: BODY_LIMITS.template,
    },
    (app, { project, body, actor, once }) =>
      withNames(CONTENT_NAMES, () =>
        once(async () => {
          const { subject, body: html, ...rest } = fieldsOf(body);
          if (subject === undefined) throw fieldError("subject", "required", "is required");
          if (html === undefined) throw fieldError("body", "required", "is required");
          const type = "TRANSACTIONAL" as const;
          const input = { ...rest, subject, body: html, name: body.name, type };
          await ensureContent(app, project, { schema: TemplateInput, input });
          return () => {
            const { id } = createTemplate(app, project.seq, input, actor());
            return { status: 201, body: { object: "template", id } };
          };
        }),
      ),
  ),
  resendRoute(
    "GET /templates",
    { role: "VIEWER", query: ResendPageQuery },
    (app, { project, query }) =>
      resendPage(app, query, {
        table: templateTable,
        filter: eq(templateTable.projectSeq, project.seq),
        present: listed,
      }),
  ),
  resendRoute("GET /templates/:id", { role: "VIEWER" }, (app, { project, params: { id = "" } }) =>
    shown(getTemplate(app, project.seq, id)),
  ),
  resendRoute(
    "PATCH /templates/:id",
    {
      role: "EDITOR",
      audit: ["updateTemplate", "template"],
      body: TemplateChange,
      limit: BODY_LIMITS.template,
    },
    changeTemplate,
  ),
  resendRoute(
    "POST /templates/:id/publish",
    { role: "EDITOR" },
    (app, { project, params: { id = "" } }) => {
      getTemplate(app, project.seq, id);
      return { object: "template", id };
    },
  ),
  resendRoute(
    "POST /templates/:id/duplicate",
    { role: "EDITOR", audit: ["duplicateTemplate", "template"] },
    (app, { project, params: { id = "" }, actor, once }) =>
      once(() => () => {
        const copy = duplicateTemplate(app, getTemplate(app, project.seq, id), actor());
        return { status: 201, body: { object: "template", id: copy.id } };
      }),
  ),
  resendRoute(
    "DELETE /templates/:id",
    { role: "EDITOR", audit: ["deleteTemplate", "template"] },
    async (app, { project, params: { id = "" }, storeWithoutQuota }) => {
      await storeWithoutQuota(() => deleteTemplate(app, getTemplate(app, project.seq, id)));
      return { object: "template", id, deleted: true };
    },
  ),
];

function changeTemplate(app: App, call: ResendCall<TemplateChange>) {
  const { project, params, body, actor, store } = call;
  const { id = "" } = params;
  refuseOther(body, { id });
  const name = textOr(body.name);
  return withNames(CONTENT_NAMES, async () => {
    const patch = { ...fieldsOf(body), ...(name === undefined ? {} : { name }) };
    await ensureContent(app, project, { schema: TemplatePatch, input: patch });
    await store(() => {
      updateTemplate(app, getTemplate(app, project.seq, id), patch, actor());
      return { id };
    });
    return { object: "template", id };
  });
}

/** The fields of a template that a request sets. */
function fieldsOf(body: TemplateChange) {
  refuseGiven(body, {
    text: "is not supported; the text of a mail is made of its html",
    alias: "is not supported; a template is named by its id",
  });
  const { variables } = body;
  if (hasValue(variables) && !hasValue(body.html)) {
    throw fieldError("variables", "invalid_value", "are set together with html, which has them");
  }
  return contentIn(body, fallbacksIn(variables ?? []));
}

/** The fallbacks by the names of their variables. */
function fallbacksIn(variables: readonly Static<typeof Declared>[]): ReadonlyMap<string, string> {
  const fallbacks = new Map<string, string>();
  for (const [i, { key, fallback_value: value }] of variables.entries()) {
    if (value === undefined || value === null) continue;
    if (/[{}]/.test(String(value))) {
      const field = `variables.${i}.fallback_value`;
      throw fieldError(field, "invalid_value", "must not contain braces");
    }
    fallbacks.set(key, String(value));
  }
  return fallbacks;
}

type Listed = Pick<TemplateRow, "id" | "name" | "createdAt" | "updatedAt">;

const listed = ({ id, name, createdAt, updatedAt }: Listed) => ({
  id,
  name,
  alias: null,
  status: "published",
  published_at: isoTime(updatedAt),
  created_at: isoTime(createdAt),
  updated_at: isoTime(updatedAt),
});

function shown(template: TemplateRow) {
  const { id, revision } = template;
  const content = shownContent(template);
  const { created_at, updated_at, ...rest } = listed(template);
  return {
    object: "template",
    ...rest,
    created_at,
    updated_at,
    current_version_id: `${id}-${revision}`,
    ...content,
    variables: placeholdersIn(`${content.subject ?? ""}\n${content.html ?? ""}`).map(
      ({ key, fallback }) => ({
        key,
        type: "string",
        fallback_value: fallback,
        created_at,
        updated_at,
      }),
    ),
    has_unpublished_versions: false,
  };
}
