/**
 * Templates: subject and body in Liquid, with an optional sender. A request is checked for syntax
 * errors (`model.ts`) before the template is stored. A preview renders subject and body for one
 * contact.
 */

import { and, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { templates } from "../../db/schema/templates.ts";
import type { Change } from "../../db/writer.ts";
import type { Page } from "../../http/envelope.ts";
import type { Project } from "../../http/admission.ts";
import { containsText, type ListPage, newestRows } from "../../http/pagination.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { type Clock, isoTime } from "../../lib/clock.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import type { References } from "../../lib/references.ts";
import { newId } from "../../lib/id.ts";
import { recipientLinks } from "../../render/links.ts";
import { checkSubject } from "../../render/subject.ts";
import type { TemplateCache } from "../../render/template/cache.ts";
import { createRenderBudget, type RenderBudget } from "../../render/render-budget.ts";
import {
  renderErrorMessage,
  syntaxErrorMessage,
  type TemplateKind,
  type Variables,
} from "../../render/template/template.ts";
import { placeholdersOf } from "../../render/template/placeholder-names.ts";
import { mergeVariables, templateVariables } from "../../render/variables.ts";
import { parseData, resolvedData } from "../contacts/data.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Projects } from "../projects/service.ts";
import type {
  Preview,
  PreviewInput,
  Template,
  TemplateInput,
  TemplatePatch,
  TemplateQuery,
  TemplateUsage,
} from "./model.ts";

export type TemplateRow = typeof templates.$inferSelect;
export type Templates = ReturnType<typeof createTemplates>;
export type Previews = ReturnType<typeof createPreviews>;

/** Subject and body as Liquid templates. */
type PreviewSource = { subject: string; body: string };

type Content<From> = Pick<
  TemplateRow,
  "name" | "description" | "subject" | "body" | "fromName" | "replyTo"
> & { from: From };

const SAMPLE_EMAIL = "ada@example.com";

export function createTemplates(deps: {
  db: Db;
  clock: Clock;
  listPage: ListPage;
  references: Pick<References, "usersOf" | "usesOf">;
}) {
  const { db, clock, listPage, references } = deps;
  // Prepared without the query builder, because each mail from a template runs it.
  const findById = db.sqlite.prepare<TemplateRow, [number, string]>(`
    SELECT seq, id, project_seq AS projectSeq, name, description, subject, body,
           from_address AS "from", from_name AS fromName, reply_to AS replyTo, type,
           created_at AS createdAt, updated_at AS updatedAt
    FROM templates WHERE project_seq = +? AND id = +?`);

  function get(projectSeq: number, id: string): TemplateRow {
    const template = findById.get(projectSeq, id);
    if (template === null) throw notFound("TEMPLATE");
    return template;
  }

  return {
    get,

    create(projectSeq: number, input: TemplateInput): Change<TemplateRow> {
      return () => {
        const now = clock.now();
        const { name, subject, body, type } = input;
        const row = { name, subject, body, type, ...optionalFields(input) };
        return db
          .insert(templates)
          .values({ ...row, id: newId(now), projectSeq, createdAt: now, updatedAt: now })
          .returning()
          .get();
      };
    },

    patch(projectSeq: number, id: string, patch: TemplatePatch): Change<TemplateRow> {
      return () => {
        const template = get(projectSeq, id);
        const { name, subject, body, type } = { ...template, ...patch };
        return db
          .update(templates)
          .set({ name, subject, body, type, ...optionalFields(patch), updatedAt: clock.now() })
          .where(eq(templates.seq, template.seq))
          .returning()
          .get();
      };
    },

    remove(projectSeq: number, id: string): Change<void> {
      return () => {
        const { seq } = get(projectSeq, id);
        const users = references.usersOf("template", projectSeq, id);
        if (users.length > 0) throw inUse(users);
        db.delete(templates).where(eq(templates.seq, seq)).run();
      };
    },

    /** Throws 404 without such a template. */
    usage(projectSeq: number, id: string): TemplateUsage {
      const { subject, body } = get(projectSeq, id);
      return {
        users: references.usesOf("template", projectSeq, id),
        placeholders: placeholdersOf([subject, body]),
      };
    },

    list(projectSeq: number, query: TemplateQuery): Promise<Page<Template>> {
      return listPage(
        { scope: `${projectSeq}:templates`, query },
        newestRows(db, {
          table: templates,
          filter: and(
            eq(templates.projectSeq, projectSeq),
            query.name === undefined ? undefined : containsText(templates.name, query.name),
          ),
          select: db.select().from(templates),
        }),
        (rows) => rows.map(presentTemplate),
      );
    },
  };
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

/**
 * The optional columns of a template or a campaign that the request contains; an omitted field does
 * not change its column.
 */
export function optionalContent(
  fields: Pick<TemplatePatch, "description" | "fromName" | "replyTo">,
) {
  return {
    ...(fields.description === undefined ? {} : { description: fields.description }),
    ...(fields.fromName === undefined ? {} : { fromName: fields.fromName }),
    ...(fields.replyTo === undefined
      ? {}
      : { replyTo: fields.replyTo && normalizedAddress(fields.replyTo) }),
  };
}

/** The fields that templates and campaigns share. `From` is null only for templates. */
export function contentOf<From extends string | null>(row: Content<From>): Content<From> {
  const { name, description, subject, body, from, fromName, replyTo } = row;
  return { name, description, subject, body, from, fromName, replyTo };
}

export function presentTemplate(row: TemplateRow): Template {
  return {
    id: row.id,
    ...contentOf(row),
    type: row.type,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/** Renders subject and body as one recipient would see them. Stores and sends nothing. */
export function createPreviews(deps: {
  clock: Clock;
  contacts: Pick<Contacts, "get">;
  projects: Pick<Projects, "find">;
  templateCache: TemplateCache;
  /** Base of links in mails, and the key that signs them. */
  url: string;
  linkKey: Uint8Array;
}) {
  const { clock, contacts, projects } = deps;

  function renderField(
    budget: RenderBudget,
    source: string,
    kind: TemplateKind,
    variables: Variables,
  ): string {
    const field = kind === "text" ? "subject" : "body";
    const compiled = deps.templateCache.compile(source, kind);
    if (!compiled.ok) throw fieldError(field, "invalid_format", syntaxErrorMessage(compiled));
    const result = budget.render(field, compiled.template, variables);
    if (result.ok) return result.text;
    throw fieldError(result.field, "invalid_value", renderErrorMessage(result.reason));
  }

  /** Renders the mail with this id for a recipient. Throws 422 if it cannot be rendered. */
  function renderFor(
    project: Project,
    { subject, body }: PreviewSource,
    recipient: { id: string; email: string; data: Variables; emailId: string },
  ): Omit<Preview, "text"> {
    const variables = templateVariables({
      ...recipient,
      links: recipientLinks(deps.url, deps.linkKey, recipient.emailId),
      projectName: project.name,
    });
    const budget = createRenderBudget();
    const html = renderField(budget, body, "html", variables);
    const text = renderField(budget, subject, "text", variables);
    const fault = checkSubject(text);
    if (fault !== null) throw fieldError("subject", fault.code, fault.message);
    return { subject: text, html };
  }

  return {
    renderFor,

    /**
     * Renders for a contact, with `data` over its own data, or for a sample address without a
     * contact. Marketing mail has its footer. The links belong to no mail, so that they change
     * nothing.
     */
    async preview(
      project: Project,
      source: PreviewSource & { isMarketing: boolean },
      { contactId, data }: PreviewInput,
    ): Promise<Preview> {
      const contact = contactId === undefined ? null : contacts.get(project.seq, contactId);
      const emailId = newId(clock.now());
      const { subject, html } = renderFor(project, source, {
        id: contact?.id ?? "",
        email: contact?.email ?? SAMPLE_EMAIL,
        data: mergeVariables(
          contact === null ? {} : parseData(contact.data),
          resolvedData(data ?? {}),
        ),
        emailId,
      });
      // Loaded with the first preview, because its converter to text takes 5 ms and 4 MiB.
      const { prepareOutgoing } = await import("../../render/outgoing.ts");
      const language = projects.find(project.id)?.language ?? "en";
      const mail = prepareOutgoing({
        emailId,
        html,
        headers: [],
        links: recipientLinks(deps.url, deps.linkKey, emailId),
        marketing: source.isMarketing
          ? { projectName: project.name, language, feedbackId: "" }
          : null,
        tracking: null,
      });
      return { subject, html: mail.html, text: mail.text };
    },
  };
}
