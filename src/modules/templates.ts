/**
 * Templates: subject and body in Liquid, with an optional sender, which requests and workflows refer
 * to. A request is checked for syntax errors before a template is stored. previews.ts renders them.
 */

import { type Static, Type } from "@sinclair/typebox";
import { and, eq } from "drizzle-orm";
import type { App } from "../core/app.ts";
import { TEMPLATE_TYPES, templates } from "../db/schema/templates.ts";
import { statement } from "../db/statement.ts";
import type { Project } from "../http/admission.ts";
import { BODY_LIMITS, limited } from "../http/body-limits.ts";
import { described, named } from "../http/documented.ts";
import { Envelope, ListEnvelope, NoContent, Nullable, type Page } from "../http/envelope.ts";
import { EXAMPLE } from "../http/example-values.ts";
import {
  DisplayName,
  EmailAddress,
  mailboxIn,
  normalizedAddress,
  normalizedMailbox,
} from "../http/formats.ts";
import { displayName } from "../protocols/mime/mailbox.ts";
import { operations, read, write } from "../http/operations.ts";
import { containsText, smallPage, PageQuery } from "../http/pagination.ts";
import { ContactPreviewQuery, PreviewDocument } from "../http/preview-query.ts";
import { Input, isLenient, LenientQuery, OneOf, withChecks } from "../http/validation.ts";
import { isoTime } from "../lib/clock.ts";
import { AppError, notFound } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { quickTemplateErrors } from "../render/request-mails.ts";
import { ensureTemplates, findPlaceholders } from "./content-work/content-work.ts";
import type { Noun } from "./module.ts";
import { Preview, PreviewInput, preview, previewResponse } from "./previews.ts";

/**
 * Source of a subject: one line of Liquid. The length of the rendered subject is checked
 * separately.
 */
export const SubjectSource = Type.String({
  format: "header-text",
  minLength: 1,
  maxLength: 10_000,
});
/** Source of an HTML body: Liquid. */
export const BodySource = Type.String({ minLength: 1 });

const TemplateType = named("TemplateType", OneOf(TEMPLATE_TYPES), {
  description: "MARKETING mail goes only to subscribed contacts and offers to unsubscribe",
});

/** Descriptions of the fields that callers set. */
const CONTENT_TEXTS = {
  name: "Name of the template, which recipients do not see",
  description: "Note about the template, which recipients do not see",
  subject: "Liquid template of the subject, one line",
  body:
    "Liquid template of the HTML body. {{ First Name }} outputs the key First Name of the data; " +
    "{{ a ?? b ?? text }} outputs the first of a and b that has a value, or else the text.",
  from: "Address of the sender, at a verified domain of the project; null for the project's sender",
  fromName: "Display name of the sender",
  replyTo: "Address to which replies go, with or without a display name",
  type: "MARKETING mail goes only to subscribed contacts and offers to unsubscribe",
} as const;

const CONTENT = {
  name: "Receipt",
  subject: "Your order {{ order }}",
  body: "<p>Thank you, {{ name ?? friend }}.</p>",
  type: "TRANSACTIONAL",
};

/** A template in responses (docs/specification.md#s2.2 and docs/interface.md#templates). */
const Template = named(
  "Template",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Nullable(Type.String()),
      subject: Type.String(),
      body: Type.String(),
      from: Nullable(Type.String()),
      fromName: Nullable(Type.String()),
      replyTo: Nullable(Type.String()),
      type: TemplateType,
      createdAt: Type.String({ format: "date-time" }),
      updatedAt: Type.String({ format: "date-time" }),
    }),
    {
      id: "Id of the template",
      ...CONTENT_TEXTS,
      createdAt: "When the template was created",
      updatedAt: "When the template was changed last",
    },
  ),
  {
    description: "The content of a kind of mail",
    example: {
      id: EXAMPLE.templateId,
      description: null,
      from: null,
      fromName: null,
      replyTo: null,
      ...CONTENT,
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Template = Static<typeof Template>;

const Fields = described(
  Input({
    name: Type.String({ minLength: 1, maxLength: 255 }),
    description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
    subject: SubjectSource,
    body: BodySource,
    from: Type.Optional(Nullable(EmailAddress)),
    fromName: Type.Optional(Nullable(DisplayName)),
    replyTo: Type.Optional(Nullable(EmailAddress)),
    type: TemplateType,
  }),
  CONTENT_TEXTS,
);

const TemplateInput = named("TemplateInput", withChecks(Fields, quickTemplateErrors), {
  description: "A template to create",
  example: CONTENT,
});

const TemplatePatch = named(
  "TemplatePatch",
  withChecks(Type.Partial(Fields), quickTemplateErrors),
  {
    description: "Changes of a template; omitted fields stay as they are",
    example: { subject: "Your receipt for order {{ order }}" },
  },
);
type TemplatePatch = Static<typeof TemplatePatch>;

const TemplateQuery = Input({
  ...PageQuery.properties,
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only templates whose name contains this text; case matters beyond ASCII",
    }),
  ),
});

const TemplateUser = named(
  "TemplateUser",
  described(
    Type.Object({
      kind: OneOf(["workflow", "campaign"]),
      id: Type.String(),
      name: Type.String(),
    }),
    { kind: "What it is", id: "Its id", name: "Its name" },
  ),
  { description: "An object that sends a template" },
);

const Placeholder = named(
  "Placeholder",
  described(
    Type.Object({
      name: Type.String(),
      isRequired: Type.Boolean(),
      isProvided: Type.Boolean(),
    }),
    {
      name: "The variable, as the template writes it",
      isRequired: "Whether one of its uses renders as nothing if the variable has no value",
      isProvided: "Whether the service gives it a value, such as email and unsubscribeUrl",
    },
  ),
  { description: "A variable that a template outputs or tests" },
);

const TemplateUsage = named(
  "TemplateUsage",
  described(
    Type.Object({ users: Type.Array(TemplateUser), placeholders: Type.Array(Placeholder) }),
    {
      users: "The workflows that send the template; it cannot be deleted while there are any",
      placeholders: "The variables of subject and body in their order, at most 200",
    },
  ),
  {
    description: "Where a template is used, and the variables that it needs",
    example: {
      users: [{ kind: "workflow", id: EXAMPLE.workflowId, name: "Welcome" }],
      placeholders: [
        { name: "order", isRequired: true, isProvided: false },
        { name: "name", isRequired: false, isProvided: false },
      ],
    },
  },
);
export type TemplateUsage = Static<typeof TemplateUsage>;

const createdTemplate = { id: "/data/id" };

export const templateNoun: Noun = {
  name: "templates",
  operations: operations("Templates", { parameters: { id: "Id of the template" } }, [
    read("GET /templates", {
      id: "listTemplates",
      role: "VIEWER",
      summary: "List templates",
      description: "Templates whose name contains the text, newest first; all without a text.",
      query: TemplateQuery,
      answer: ListEnvelope(Template),
      run: (app, { project, query }) => listTemplates(app, project, query),
    }),
    write("POST /templates", {
      id: "createTemplate",
      role: "EDITOR",
      summary: "Create a template",
      description: "A syntax error in subject or body is refused with 422, line and column.",
      isIdempotent: true,
      links: {
        getTemplate: createdTemplate,
        updateTemplate: createdTemplate,
        deleteTemplate: createdTemplate,
        previewTemplate: createdTemplate,
      },
      query: LenientQuery,
      body: limited(TemplateInput, BODY_LIMITS.template),
      answer: Envelope(Template),
      status: 201,
      prepare: (app, { project, body, request }) =>
        ensureTemplates(app, project.seq, body, isLenient(request)),
      run: (app, { project, body }) => present(createTemplate(app, project.seq, body)),
    }),
    read("GET /templates/:id", {
      id: "getTemplate",
      role: "VIEWER",
      summary: "Get a template",
      description: "The template with the sources of its subject and body.",
      answer: Envelope(Template),
      run: (app, { project, params }) => present(getTemplate(app, project.seq, params.id)),
    }),
    write("PATCH /templates/:id", {
      id: "updateTemplate",
      role: "EDITOR",
      summary: "Update a template",
      description: "Changes the given fields. Mails that were accepted before stay as they are.",
      query: LenientQuery,
      body: limited(TemplatePatch, BODY_LIMITS.template),
      answer: Envelope(Template),
      prepare: (app, { project, body, request }) =>
        ensureTemplates(app, project.seq, body, isLenient(request)),
      run: (app, { project, params, body }) =>
        present(updateTemplate(app, getTemplate(app, project.seq, params.id), body)),
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
    read("GET /templates/:id/usage", {
      id: "getTemplateUsage",
      role: "VIEWER",
      summary: "Where a template is used, and which variables it needs",
      description: "The workflows that send it, and the variables of its subject and body.",
      answer: Envelope(TemplateUsage),
      run: (app, { project, params }) => usageOf(app, getTemplate(app, project.seq, params.id)),
    }),
    read("GET /templates/:id/preview", {
      id: "showTemplate",
      role: "VIEWER",
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
  ]),
};

export type TemplateRow = typeof templates.$inferSelect;

function listTemplates(
  app: App,
  project: Project,
  { name, ...query }: Static<typeof TemplateQuery>,
): Promise<Page<Template>> {
  return smallPage(app, project, {
    name: "templates",
    query,
    table: templates,
    filter: and(
      eq(templates.projectSeq, project.seq),
      name === undefined ? undefined : containsText(templates.name, name),
    ),
    present,
  });
}

// Each mail from a template runs it.
const findById = statement<TemplateRow, [number, string]>(`
  SELECT seq, id, project_seq AS projectSeq, name, description, subject, body,
         from_address AS "from", from_name AS fromName, reply_to AS replyTo, type,
         created_at AS createdAt, updated_at AS updatedAt
  FROM templates WHERE project_seq = +? AND id = +?`);

/** Throws 404 without such a template. */
export function getTemplate(app: App, projectSeq: number, id: string): TemplateRow {
  const template = findById(app).get(projectSeq, id);
  if (template === null) throw notFound("TEMPLATE");
  return template;
}

function createTemplate(
  { db, clock }: App,
  projectSeq: number,
  input: Static<typeof TemplateInput>,
): TemplateRow {
  const now = clock.now();
  const { name, subject, body, type } = input;
  const row = { name, subject, body, type, ...optionalFields(input) };
  return db
    .insert(templates)
    .values({ ...row, id: newId(now), projectSeq, createdAt: now, updatedAt: now })
    .returning()
    .get();
}

function updateTemplate(
  { db, clock }: App,
  template: TemplateRow,
  patch: TemplatePatch,
): TemplateRow {
  const { name, subject, body, type } = { ...template, ...patch };
  return db
    .update(templates)
    .set({ name, subject, body, type, ...optionalFields(patch), updatedAt: clock.now() })
    .where(eq(templates.seq, template.seq))
    .returning()
    .get();
}

function deleteTemplate({ db, references }: App, { seq, projectSeq, id }: TemplateRow): void {
  const users = references.usersOf("template", projectSeq, id);
  if (users.length > 0) throw inUse(users);
  db.delete(templates).where(eq(templates.seq, seq)).run();
}

async function usageOf(app: App, template: TemplateRow): Promise<TemplateUsage> {
  const { projectSeq, id, subject, body } = template;
  return {
    users: app.references.usesOf("template", projectSeq, id),
    placeholders: await findPlaceholders(app, projectSeq, [subject, body]),
  };
}

function previewTemplate(
  app: App,
  project: Project,
  id: string,
  options: Parameters<typeof preview>[3],
): Promise<Preview> {
  const { subject, body, type } = getTemplate(app, project.seq, id);
  return preview(app, project, { subject, body, isMarketing: type === "MARKETING" }, options);
}

function inUse(users: readonly string[]): AppError {
  return new AppError(409, "CONFLICT", `This template is used by ${users.join(", ")}.`, {
    suggestion:
      "Remove the template from all of them first, and wait until the executions that started " +
      "before have ended, or cancel them.",
  });
}

/** The optional columns that the request contains. */
function optionalFields(fields: TemplatePatch) {
  return {
    ...optionalContent(fields),
    ...(fields.from === undefined ? {} : { from: fields.from && normalizedAddress(fields.from) }),
  };
}

/** The display name in the text of an address; undefined if there is none. */
function nameIn(address: string | null | undefined): string | undefined {
  return (address && mailboxIn(address).name) || undefined;
}

/**
 * The optional columns of a template or a campaign that the request contains; an omitted field does
 * not change its column.
 */
export function optionalContent(
  fields: Pick<TemplatePatch, "description" | "from" | "fromName" | "replyTo">,
) {
  const { fromName = nameIn(fields.from) } = fields;
  return {
    ...(fields.description === undefined ? {} : { description: fields.description }),
    ...(fromName === undefined ? {} : { fromName: fromName && displayName(fromName) }),
    ...(fields.replyTo === undefined
      ? {}
      : { replyTo: fields.replyTo && normalizedMailbox(fields.replyTo) }),
  };
}

type Content<From> = Pick<
  TemplateRow,
  "name" | "description" | "subject" | "body" | "fromName" | "replyTo"
> & { from: From };

/** The fields that templates and campaigns share. `From` is null only for templates. */
export function contentOf<From extends string | null>(row: Content<From>): Content<From> {
  const { name, description, subject, body, from, fromName, replyTo } = row;
  return { name, description, subject, body, from, fromName, replyTo };
}

function present(row: TemplateRow): Template {
  return {
    id: row.id,
    ...contentOf(row),
    type: row.type,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
