/** Reads, creates, changes and deletes forms. */

import type { Static } from "@sinclair/typebox";
import { and, count, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { forms } from "../../db/schema/forms.ts";
import { announceChange } from "../../events/announcements.ts";
import type { Project } from "../../http/admission.ts";
import type { Page } from "../../http/envelope.ts";
import { containsText, smallPage } from "../../http/pagination.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError, fieldError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { type Use } from "../../lib/references.ts";
import { parseWebOrigin } from "../../lib/web-origin.ts";
import { chooseFormTexts } from "../../render/form-texts.ts";
import { getTemplate } from "../templates.ts";
import { topicsOf } from "../topics/choices.ts";
import { confirmationFault } from "./confirmation-fault.ts";
import { unwrittenViews } from "./counts.ts";
import type { FormLanguage, ShownForm } from "./html.ts";
import type { Form, FormInput, FormPatch, FormQuery } from "./model.ts";

export type FormRow = typeof forms.$inferSelect;

/** The columns that a request may set. */
type Content = Pick<
  FormRow,
  | "name"
  | "title"
  | "description"
  | "fields"
  | "topics"
  | "consent"
  | "hasConsentBox"
  | "buttonLabel"
  | "confirmation"
  | "templateId"
  | "successMessage"
  | "successUrl"
  | "confirmedUrl"
  | "origins"
  | "language"
  | "isEnabled"
>;

/** One page shows them all, and few projects have more than some. */
export const MAX_FORMS = 200;

export function listForms(
  app: App,
  project: Project,
  { name, ...query }: Static<typeof FormQuery>,
): Promise<Page<Form>> {
  return smallPage(app, project, {
    name: "forms",
    query,
    table: forms,
    filter: and(
      eq(forms.projectSeq, project.seq),
      name === undefined ? undefined : containsText(forms.name, name),
    ),
    present: (row) => presentForm(app, row),
  });
}

/** Throws 404 without such a form. */
export function getForm({ db }: App, projectSeq: number, id: string): FormRow {
  const match = and(eq(forms.projectSeq, projectSeq), eq(forms.id, id));
  const form = db.select().from(forms).where(match).limit(1).get();
  if (form === undefined) throw notFound("FORM");
  return form;
}

/** The form of a page, of any project; null without one. */
export function findForm({ db }: App, by: { id: string } | { seq: number }): FormRow | null {
  const match = "id" in by ? eq(forms.id, by.id) : eq(forms.seq, by.seq);
  return db.select().from(forms).where(match).limit(1).get() ?? null;
}

const announce = (app: App, { projectSeq, id }: Pick<FormRow, "projectSeq" | "id">): void =>
  announceChange(app, { projectSeq, type: "form.changed", id });

export function createForm(app: App, projectSeq: number, input: FormInput): FormRow {
  const match = eq(forms.projectSeq, projectSeq);
  const total = app.db.select({ total: count() }).from(forms).where(match).get()?.total ?? 0;
  if (total >= MAX_FORMS) throw tooMany();
  const content = newContent(input);
  ensureReferences(app, projectSeq, content);
  const now = app.clock.now();
  const row = { ...content, id: newId(now), projectSeq, createdAt: now, updatedAt: now };
  announce(app, row);
  return app.db.insert(forms).values(row).returning().get();
}

export function updateForm(app: App, form: FormRow, patch: FormPatch): FormRow {
  const changed = { ...contentOf(form), ...columnsIn(patch) };
  if (JSON.stringify(changed) === JSON.stringify(contentOf(form))) return form;
  ensureReferences(app, form.projectSeq, changed, form);
  announce(app, form);
  return app.db
    .update(forms)
    .set({ ...changed, revision: form.revision + 1, updatedAt: app.clock.now() })
    .where(eq(forms.seq, form.seq))
    .returning()
    .get();
}

export function deleteForm(app: App, form: FormRow): void {
  app.db.delete(forms).where(eq(forms.seq, form.seq)).run();
  announce(app, form);
}

/** The columns of a form that is not stored yet. */
export function newContent(input: FormInput): Content {
  const { name, title } = input;
  return { ...EMPTY, ...columnsIn(input), name, title };
}

const EMPTY = {
  description: null,
  fields: [],
  topics: [],
  consent: null,
  hasConsentBox: false,
  buttonLabel: null,
  confirmation: "DOUBLE",
  templateId: null,
  successMessage: null,
  successUrl: null,
  confirmedUrl: null,
  origins: "",
  language: null,
  isEnabled: true,
} as const satisfies Partial<Omit<Content, "fields" | "topics">> & { fields: []; topics: [] };

function columnsIn({ consent, origins, ...rest }: FormPatch): Partial<Content> {
  const given = {
    ...rest,
    ...(consent !== undefined && {
      consent: consent?.wording ?? null,
      hasConsentBox: consent?.hasBox ?? false,
    }),
    ...(origins !== undefined && {
      origins: origins.map((origin) => parseWebOrigin(origin) ?? "").join(" "),
    }),
  };
  const names = new Set<string>([...Object.keys(EMPTY), "name", "title"]);
  // A request may have fields that this version does not know (http/unknown-fields.ts).
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => names.has(name) && value !== undefined),
  );
}

function contentOf(row: FormRow): Content {
  const { name, title, description, fields, topics, consent, hasConsentBox, buttonLabel } = row;
  const { confirmation, templateId, successMessage, successUrl, confirmedUrl } = row;
  const { origins, language, isEnabled } = row;
  const texts = { name, title, description, consent, hasConsentBox, buttonLabel, language };
  const leading = { confirmation, templateId, successMessage, successUrl, confirmedUrl };
  return { ...texts, ...leading, fields, topics, origins, isEnabled };
}

/** Throws 422 for a template or a topic that the form cannot have. One that it has already may stay. */
function ensureReferences(
  app: App,
  projectSeq: number,
  { templateId, topics }: Pick<Content, "templateId" | "topics">,
  before: Pick<Content, "templateId" | "topics"> | null = null,
): void {
  if (templateId !== null && templateId !== before?.templateId) {
    ensureTemplate(app, projectSeq, templateId);
  }
  const known = new Set(topicsOf(app, projectSeq).map(({ id }) => id));
  const had = new Set(before?.topics.map(({ topicId }) => topicId));
  const unknown = topics.findIndex(({ topicId }) => !known.has(topicId) && !had.has(topicId));
  if (unknown !== -1) {
    const message = "names no topic of this project";
    throw fieldError(`topics.${unknown}.topicId`, "unknown_reference", message);
  }
}

function ensureTemplate(app: App, projectSeq: number, id: string): void {
  try {
    const fault = confirmationFault(app, getTemplate(app, projectSeq, id));
    if (fault !== null) throw fieldError("templateId", "invalid_value", fault);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 404) throw error;
    throw fieldError("templateId", "unknown_reference", "names no template of this project");
  }
}

/** The forms whose confirmation mail is made of a template. */
export function formsOfTemplate({ db }: App, projectSeq: number, templateId: string): Use[] {
  const match = and(eq(forms.projectSeq, projectSeq), eq(forms.templateId, templateId));
  const rows = db.select({ id: forms.id, name: forms.name }).from(forms).where(match).all();
  return rows.map((row) => ({ kind: "form", ...row }));
}

/** The forms that offer a topic. */
export function formsOfTopic({ db }: App, projectSeq: number, topicId: string): Use[] {
  const rows = db.select().from(forms).where(eq(forms.projectSeq, projectSeq)).all();
  return rows
    .filter(({ topics }) => topics.some((topic) => topic.topicId === topicId))
    .map(({ id, name }) => ({ kind: "form", id, name }));
}

export const formUrl = ({ url }: Pick<App, "url">, id: string): string => `${url}/f/${id}`;

export function presentForm(app: App, row: FormRow): Form {
  const { hasConsentBox, consent, ...content } = contentOf(row);
  const { id, submitted, confirmed, withheld, revision, createdAt, updatedAt } = row;
  const shown = row.shown + unwrittenViews(app, row.seq);
  return {
    ...content,
    id,
    consent: consent === null ? null : { wording: consent, hasBox: hasConsentBox },
    origins: originsOf(row),
    url: formUrl(app, id),
    counts: { shown, submitted, confirmed, withheld },
    revision,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
}

export const originsOf = ({ origins }: Pick<FormRow, "origins">): string[] =>
  origins === "" ? [] : origins.split(" ");

/** The form as people see it: with the names of its topics. */
export function shownForm(
  app: App,
  projectSeq: number,
  form: Content & Pick<FormRow, "id">,
): ShownForm {
  const { id, title, description, fields, consent, hasConsentBox, buttonLabel } = form;
  const topics = topicsOf(app, projectSeq);
  return {
    id,
    title,
    description,
    fields,
    topics: form.topics.flatMap(({ topicId, isPreselected = false }) => {
      const topic = topics.find((each) => each.id === topicId);
      if (topic === undefined) return [];
      return [{ id: topicId, name: topic.name, description: topic.description, isPreselected }];
    }),
    consent: consent === null ? null : { wording: consent, hasBox: hasConsentBox },
    buttonLabel,
  };
}

export const languageOf = (
  form: Pick<FormRow, "language">,
  project: Pick<Project, "language">,
): FormLanguage => chooseFormTexts(form.language ?? project.language, null);

function tooMany(): AppError {
  return new AppError(409, "CONFLICT", `A project has at most ${MAX_FORMS} forms.`, {
    suggestion: "Delete forms that are not used.",
  });
}
