/**
 * Templates: subject and body in Liquid, with an optional sender, which requests and workflows refer
 * to. A request is checked for syntax errors before a template is stored. previews.ts renders them.
 *
 * Each change makes a revision (templates/versions.ts). A template may have a layout, into which its
 * body is put (layouts.ts, render/layout.ts). template-editor/ renders and checks a template before it
 * is stored, and sends a test of it.
 */

import { Type } from "@sinclair/typebox";
import { and, eq } from "drizzle-orm";
import type { App } from "../core/app.ts";
import { templates } from "../db/schema/templates.ts";
import { statement } from "../db/statement.ts";
import type { Project } from "../http/admission.ts";
import type { RequestActor } from "../http/admitted-writes.ts";
import { BODY_LIMITS, limited } from "../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent, type Page } from "../http/envelope.ts";
import { normalizedAddress } from "../http/formats.ts";
import { ensureRevision } from "../http/if-match.ts";
import { operations, read, write } from "../http/operations.ts";
import { containsText, smallPage } from "../http/pagination.ts";
import { ContactPreviewQuery, PreviewDocument } from "../http/preview-query.ts";
import { isLenient, LenientQuery } from "../http/validation.ts";
import { announceChange } from "../events/announcements.ts";
import { copyName } from "../lib/copy-name.ts";
import { AppError, fieldError, notFound } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { assembledFault } from "../render/layout.ts";
import { ensureTemplates, findPlaceholders } from "./content-work/content-work.ts";
import { findLayout, layoutIn } from "./layouts.ts";
import type { Noun } from "./module.ts";
import { Preview, PreviewInput, preview, previewResponse } from "./previews.ts";
import { bodyToSend } from "./templates/assembled.ts";
import { findApiSends } from "./templates/api-sends.ts";
import { optionalContent } from "./templates/given-content.ts";
import {
  ListedTemplate,
  ListedVersion,
  Template,
  TemplateInput,
  TemplatePatch,
  TemplateQuery,
  TemplateUsage,
  TemplateVersion,
} from "./templates/model.ts";
import {
  contentOf,
  present,
  type PresentedRow,
  presentListed,
  presentListedVersion,
  presentVersion,
} from "./templates/present.ts";
import {
  changedFields,
  getVersion,
  keepVersion,
  listVersions,
  storeVersion,
  type VersionContent,
  type VersionRow,
} from "./templates/versions.ts";
import { findTopic, requireMarketing, topicColumn, topicIdOf } from "./topics/choices.ts";

export type { Template } from "./templates/model.ts";

const createdTemplate = { id: "/data/id" };
const toTemplate = {
  getTemplate: createdTemplate,
  updateTemplate: createdTemplate,
  deleteTemplate: createdTemplate,
  previewTemplate: createdTemplate,
};
const etag = ({ revision }: { revision: number }): number => revision;

export const templateNoun: Noun = {
  name: "templates",
  operations: operations(
    "Templates",
    { parameters: { id: "Id of the template", revision: "Revision of a version" } },
    [
      read("GET /templates", {
        id: "listTemplates",
        role: "VIEWER",
        scopes: ["READ"],
        summary: "List templates",
        description: "Templates whose name contains the text, newest first; all without a text.",
        query: TemplateQuery,
        answer: ListEnvelope(ListedTemplate),
        run: (app, { project, query }) => listTemplates(app, project, query),
      }),
      write("POST /templates", {
        id: "createTemplate",
        role: "EDITOR",
        summary: "Create a template",
        description: "A syntax error in subject or body is refused with 422, line and column.",
        isIdempotent: true,
        links: toTemplate,
        query: LenientQuery,
        body: limited(TemplateInput, BODY_LIMITS.design),
        answer: Envelope(Template),
        status: 201,
        etag,
        prepare: (app, { project, body, request }) =>
          ensureTemplates(app, project.seq, body, isLenient(request)),
        run: (app, { project, body, actor }) =>
          present(createTemplate(app, project.seq, body, actor())),
      }),
      read("GET /templates/:id", {
        id: "getTemplate",
        role: "VIEWER",
        scopes: ["READ"],
        summary: "Get a template",
        description: "The template with the sources of its subject and body.",
        answer: Envelope(Template),
        etag,
        run: (app, { project, params }) => present(getTemplate(app, project.seq, params.id)),
      }),
      write("PATCH /templates/:id", {
        id: "updateTemplate",
        role: "EDITOR",
        summary: "Update a template",
        description:
          "Changes the given fields. Mails that were accepted before stay as they are. A request that " +
          "changes nothing makes no revision.",
        isConditional: true,
        query: LenientQuery,
        body: limited(TemplatePatch, BODY_LIMITS.design),
        answer: Envelope(Template),
        etag,
        prepare: (app, { project, body, request }) =>
          ensureTemplates(app, project.seq, body, isLenient(request)),
        run(app, { project, params, body, request, actor }) {
          const template = getTemplate(app, project.seq, params.id);
          ensureRevision(request, "template", template.revision);
          return present(updateTemplate(app, template, body, actor()));
        },
      }),
      write("DELETE /templates/:id", {
        id: "deleteTemplate",
        role: "EDITOR",
        summary: "Delete a template",
        description: "A template that a step of a workflow uses is refused with 409.",
        isWithinQuota: false,
        answer: NoContent,
        run: (app, { project, params }) =>
          deleteTemplate(app, getTemplate(app, project.seq, params.id)),
      }),
      write("POST /templates/:id/duplicate", {
        id: "duplicateTemplate",
        role: "EDITOR",
        summary: "Copy a template",
        description: "The copy has the content of the template, and its name with “copy”.",
        isIdempotent: true,
        links: toTemplate,
        answer: Envelope(Template),
        status: 201,
        etag,
        run: (app, { project, params, actor }) =>
          present(duplicateTemplate(app, getTemplate(app, project.seq, params.id), actor())),
      }),
      read("GET /templates/:id/versions", {
        id: "listTemplateVersions",
        role: "VIEWER",
        scopes: ["READ"],
        summary: "List the versions of a template",
        description:
          "The latest 100 versions, newest first. Changes that one author makes within five minutes " +
          "are one version, unless a mail or a test is between them. A template that was created, " +
          "copied or restored is a version of its own.",
        answer: ListEnvelope(ListedVersion),
        run: (app, { project, params }) => versionsOf(app, project.seq, params.id),
      }),
      read("GET /templates/:id/versions/:revision", {
        id: "getTemplateVersion",
        role: "VIEWER",
        scopes: ["READ"],
        summary: "Get a version of a template",
        description: "What the template was at this revision.",
        answer: Envelope(TemplateVersion),
        run(app, { project, params }) {
          const { seq } = getTemplate(app, project.seq, params.id);
          return presentVersion(getVersion(app, seq, params.revision));
        },
      }),
      write("POST /templates/:id/versions/:revision/restore", {
        id: "restoreTemplateVersion",
        role: "EDITOR",
        summary: "Restore a version of a template",
        description:
          "Makes a new revision with the content of the version, without a layout or topic that was deleted.",
        isIdempotent: true,
        isConditional: true,
        answer: Envelope(Template),
        etag,
        run(app, { project, params, request, actor }) {
          const template = getTemplate(app, project.seq, params.id);
          ensureRevision(request, "template", template.revision);
          const version = getVersion(app, template.seq, params.revision);
          return present(restoreVersion(app, template, { version, actor: actor() }));
        },
      }),
      read("GET /templates/:id/usage", {
        id: "getTemplateUsage",
        role: "VIEWER",
        scopes: ["READ"],
        summary: "Where a template is used, and which variables it needs",
        description:
          "The workflows and the requests that send it, and the variables of its subject and body.",
        answer: Envelope(TemplateUsage),
        run: (app, { project, params }) => usageOf(app, getTemplate(app, project.seq, params.id)),
      }),
      read("GET /templates/:id/preview", {
        id: "showTemplate",
        role: "VIEWER",
        scopes: ["READ"],
        summary: "The rendered template as a document",
        description:
          "A document for a frame: without scripts, and without images of other servers unless they " +
          "are asked for.",
        query: ContactPreviewQuery,
        answer: PreviewDocument,
        async run(app, { project, role, params, query }) {
          const { contactId } = query;
          const options = { role, ...(contactId === undefined ? {} : { contactId }) };
          const shown = await previewTemplate(app, project, params.id, options);
          return previewResponse(app, project, shown, query);
        },
      }),
      read("POST /templates/:id/preview", {
        id: "previewTemplate",
        role: "VIEWER",
        isAudited: false,
        summary: "Render a template for a contact, or with sample data",
        description: "Stores and sends nothing. The body may be omitted.",
        body: limited(Type.Optional(PreviewInput), BODY_LIMITS.preview),
        answer: Envelope(Preview),
        run: (app, { project, role, params, body }) =>
          previewTemplate(app, project, params.id, { ...body, role }),
      }),
    ],
  ),
};

/** A row with the id and the source of its layout. */
export type TemplateRow = PresentedRow & { layoutBody: string | null };

function listTemplates(
  app: App,
  project: Project,
  { name, ...query }: TemplateQuery,
): Promise<Page<ListedTemplate>> {
  return smallPage(app, project, {
    name: "templates",
    query,
    table: templates,
    filter: and(
      eq(templates.projectSeq, project.seq),
      name === undefined ? undefined : containsText(templates.name, name),
    ),
    present: (row) =>
      presentListed({
        ...row,
        layoutId: layoutIdOf(app, row.layoutSeq),
        topicId: topicIdOf(app, row.topicSeq),
      }),
  });
}

const findLayoutId = statement<{ id: string }, [number]>("SELECT id FROM layouts WHERE seq = +?");

function layoutIdOf(app: App, layoutSeq: number | null): string | null {
  return layoutSeq === null ? null : (findLayoutId(app).get(layoutSeq)?.id ?? null);
}

// Each mail from a template runs it.
const findById = statement<TemplateRow, [number, string]>(`
  SELECT t.seq, t.id, t.project_seq AS projectSeq, t.name, t.description, t.subject, t.preheader,
         t.body, t.design, t.format, t.layout_seq AS layoutSeq, l.id AS layoutId,
         l.body AS layoutBody, t.from_address AS "from", t.from_name AS fromName,
         t.reply_to AS replyTo, t.type, t.topic_seq AS topicSeq, topic.id AS topicId, t.revision,
         t.created_at AS createdAt, t.updated_at AS updatedAt
  FROM templates t LEFT JOIN layouts l ON l.seq = t.layout_seq
  LEFT JOIN topics topic ON topic.seq = t.topic_seq
  WHERE t.project_seq = +? AND t.id = +?`);

/** Throws 404 without such a template. */
export function getTemplate(app: App, projectSeq: number, id: string): TemplateRow {
  const template = findById(app).get(projectSeq, id);
  if (template === null) throw notFound("TEMPLATE");
  return template;
}

/** The columns that a change may set. */
type Content = Omit<VersionContent, "layoutId" | "topicId"> & {
  layoutSeq: number | null;
  topicSeq: number | null;
};

export function createTemplate(
  app: App,
  projectSeq: number,
  input: TemplateInput,
  actor: RequestActor,
): TemplateRow {
  const { name, subject, body, type } = input;
  return insertTemplate(app, projectSeq, {
    ...EMPTY,
    name,
    subject,
    body,
    type,
    ...givenColumns(app, projectSeq, input),
    actor,
  });
}

const EMPTY: Omit<Content, "name" | "subject" | "body" | "type"> = {
  description: null,
  preheader: null,
  design: null,
  format: "CODE",
  layoutSeq: null,
  from: null,
  fromName: null,
  replyTo: null,
  topicSeq: null,
};

function insertTemplate(
  app: App,
  projectSeq: number,
  { actor, ...content }: Content & { actor: RequestActor },
): TemplateRow {
  ensureFits(app, content);
  const now = app.clock.now();
  const id = newId(now);
  const times = { createdAt: now, updatedAt: now };
  app.db
    .insert(templates)
    .values({ ...content, ...times, id, projectSeq })
    .run();
  const created = getTemplate(app, projectSeq, id);
  storeVersion(app, created, { actor, isKept: true });
  announce(app, created);
  return created;
}

export function updateTemplate(
  app: App,
  template: TemplateRow,
  patch: TemplatePatch,
  actor: RequestActor,
): TemplateRow {
  const { name, subject, body, type } = { ...template, ...patch };
  const given = givenColumns(app, template.projectSeq, patch);
  return changeTemplate(
    app,
    template,
    { ...contentColumns(template), name, subject, body, type, ...given },
    { actor },
  );
}

/** Stores another content. The same content makes no revision. */
function changeTemplate(
  app: App,
  template: TemplateRow,
  content: Content,
  by: { actor: RequestActor; isKept?: boolean },
): TemplateRow {
  const layoutId = layoutIdOf(app, content.layoutSeq);
  const topicId = topicIdOf(app, content.topicSeq);
  if (changedFields(template, { ...content, layoutId, topicId }).length === 0) return template;
  ensureFits(app, content);
  const revision = template.revision + 1;
  app.db
    .update(templates)
    .set({ ...content, revision, updatedAt: app.clock.now() })
    .where(eq(templates.seq, template.seq))
    .run();
  const changed = getTemplate(app, template.projectSeq, template.id);
  storeVersion(app, changed, by);
  announce(app, changed);
  return changed;
}

const announce = (app: App, { projectSeq, id }: Pick<TemplateRow, "projectSeq" | "id">): void =>
  announceChange(app, { projectSeq, type: "template.changed", id });

/** Throws 422 for a content whose parts do not belong together. */
function ensureFits(app: App, content: Content): void {
  const { format, design, body, preheader, layoutSeq, type, topicSeq } = content;
  if (topicSeq !== null) requireMarketing(type);
  if (format === "VISUAL" && design === null) {
    throw fieldError("design", "required", "is required for the format VISUAL");
  }
  const layout = layoutSeq === null ? null : findLayout(app, layoutSeq).body;
  const fault = assembledFault({ body, preheader, layout });
  if (fault !== null) throw fieldError("body", "too_big", fault);
}

export function deleteTemplate(app: App, template: TemplateRow): void {
  const users = app.references.usersOf("template", template.projectSeq, template.id);
  if (users.length > 0) throw inUse(users);
  app.db.delete(templates).where(eq(templates.seq, template.seq)).run();
  announce(app, template);
}

export function duplicateTemplate(app: App, row: TemplateRow, actor: RequestActor): TemplateRow {
  const content = contentColumns(row);
  return insertTemplate(app, row.projectSeq, { ...content, name: copyName(row.name), actor });
}

function restoreVersion(
  app: App,
  template: TemplateRow,
  { version, actor }: { version: VersionRow; actor: RequestActor },
): TemplateRow {
  const layoutSeq =
    version.layoutId === null ? null : layoutSeqOf(app, template.projectSeq, version.layoutId);
  const topicSeq =
    version.topicId === null
      ? null
      : (findTopic(app, template.projectSeq, version.topicId)?.seq ?? null);
  const content = { ...contentColumns({ ...version, layoutSeq, topicSeq }) };
  const restored = changeTemplate(app, template, content, { actor, isKept: true });
  if (restored.revision === template.revision) keepVersion(app, restored);
  return restored;
}

const findLayoutSeq = statement<{ seq: number }, [number, string]>(
  "SELECT seq FROM layouts WHERE project_seq = +? AND id = +?",
);

function layoutSeqOf(app: App, projectSeq: number, id: string): number | null {
  return findLayoutSeq(app).get(projectSeq, id)?.seq ?? null;
}

async function usageOf(app: App, template: TemplateRow): Promise<TemplateUsage> {
  const { projectSeq, id, subject } = template;
  const [apiSends, placeholders] = await Promise.all([
    findApiSends(app, projectSeq, id),
    findPlaceholders(app, projectSeq, [subject, bodyToSend(app, template)]),
  ]);
  return { users: app.references.usesOf("template", projectSeq, id), apiSends, placeholders };
}

function versionsOf(app: App, projectSeq: number, id: string): Page<ListedVersion> {
  const { seq } = getTemplate(app, projectSeq, id);
  const items = listVersions(app, seq).map(presentListedVersion);
  return { items, nextCursor: null, hasMore: false, total: items.length };
}

function previewTemplate(
  app: App,
  project: Project,
  id: string,
  options: Parameters<typeof preview>[3],
): Promise<Preview> {
  const template = getTemplate(app, project.seq, id);
  const { subject, type } = template;
  const source = { subject, body: bodyToSend(app, template), isMarketing: type === "MARKETING" };
  return preview(app, project, source, options);
}

function inUse(users: readonly string[]): AppError {
  return new AppError(409, "CONFLICT", `This template is used by ${users.join(", ")}.`, {
    suggestion:
      "Remove the template from all of them first, and wait until the executions that started " +
      "before have ended, or cancel them.",
  });
}

/** The columns other than those of required fields that the request contains. */
function givenColumns(app: App, projectSeq: number, fields: TemplatePatch): Partial<Content> {
  const { preheader, design, format, layoutId, from, topicId } = fields;
  return {
    ...optionalContent(fields),
    ...(from === undefined ? {} : { from: from && normalizedAddress(from) }),
    ...(preheader === undefined ? {} : { preheader: preheader === "" ? null : preheader }),
    ...(design === undefined ? {} : { design: design && JSON.stringify(design) }),
    ...(format === undefined ? {} : { format }),
    ...(layoutId === undefined
      ? {}
      : { layoutSeq: layoutId === null ? null : layoutIn(app, projectSeq, layoutId).seq }),
    ...topicColumn(app, projectSeq, topicId),
  };
}

function contentColumns(row: Content): Content {
  const { preheader, design, format, layoutSeq, type, topicSeq } = row;
  return { ...contentOf(row), preheader, design, format, layoutSeq, type, topicSeq };
}
