/**
 * Previews: a mail is rendered as one recipient would see it. Nothing is stored or sent. Templates,
 * campaigns and test mails use this.
 */

import { type Static, Type } from "@sinclair/typebox";
import type { App } from "../core/app.ts";
import type { Project } from "../http/admission.ts";
import { described, named } from "../http/documented.ts";
import { EXAMPLE } from "../http/example-values.ts";
import { dataFor } from "../http/role-views.ts";
import type { Role } from "../http/roles.ts";
import { Input } from "../http/validation.ts";
import { fieldError } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { recipientLinks } from "../render/links.ts";
import { createRenderBudget, type RenderBudget } from "../render/render-budget.ts";
import { checkSubject } from "../render/subject.ts";
import { compiledTemplates } from "../render/template/cache.ts";
import {
  renderErrorMessage,
  syntaxErrorMessage,
  type TemplateKind,
  type Variables,
} from "../render/template/template.ts";
import { mergeVariables, templateVariables } from "../render/variables.ts";
import { parseData, resolvedData } from "./contacts/data.ts";
import { getContact } from "./contacts/service.ts";
import { languageOf } from "./projects/service.ts";

/** Input of a preview (docs/interface.md#campaigns). */
export const PreviewInput = named(
  "PreviewInput",
  described(
    Input({
      contactId: Type.Optional(Type.String()),
      data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    {
      contactId: "Id of the contact to render for; sample data if omitted",
      data: "Variables that replace those of the contact",
    },
  ),
  {
    description: "The contact and the variables of a preview",
    example: { contactId: EXAMPLE.contactId, data: { order: 1001 } },
  },
);

export const Preview = named(
  "Preview",
  described(Type.Object({ subject: Type.String(), html: Type.String(), text: Type.String() }), {
    subject: "The rendered subject",
    html: "The rendered HTML body, with the footer of marketing mail",
    text: "The plain-text alternative",
  }),
  {
    description: "A rendered mail that was not sent",
    example: {
      subject: "Your order 1001",
      html: "<p>Thank you, Ada.</p>",
      text: "Thank you, Ada.",
    },
  },
);
export type Preview = Static<typeof Preview>;

/** Subject and body as Liquid templates. */
type Source = { subject: string; body: string };

const SAMPLE_EMAIL = "ada@example.com";

/**
 * Renders for a contact, with `data` over its own data, or for a sample address without a contact.
 * A role that does not see all data of contacts gets it as in the contact. Marketing mail has its footer. The links belong to no mail, so that they change nothing.
 */
export async function preview(
  app: App,
  project: Project,
  source: Source & { isMarketing: boolean },
  { contactId, data, role }: Static<typeof PreviewInput> & { role: Role | null },
): Promise<Preview> {
  const contact = contactId === undefined ? null : getContact(app, project.seq, contactId);
  const emailId = newId(app.clock.now());
  const own = contact === null ? {} : dataFor(role, parseData(contact.data));
  const { subject, html } = renderFor(app, project, source, {
    id: contact?.id ?? "",
    email: contact?.email ?? SAMPLE_EMAIL,
    data: mergeVariables(own, resolvedData(data ?? {})),
    emailId,
  });
  // Loaded with the first preview, because its converter to text takes 5 ms and 4 MiB.
  const { prepareOutgoing } = await import("../render/outgoing.ts");
  const language = languageOf(app, project);
  const mail = prepareOutgoing({
    emailId,
    html,
    headers: [],
    links: recipientLinks(app.url, app.linkKey, emailId),
    marketing: source.isMarketing ? { projectName: project.name, language, feedbackId: "" } : null,
    tracking: null,
  });
  return { subject, html: mail.html, text: mail.text };
}

/** Renders the mail with this id for a recipient. Throws 422 if it cannot be rendered. */
export function renderFor(
  app: App,
  project: Project,
  { subject, body }: Source,
  recipient: { id: string; email: string; data: Variables; emailId: string },
): { subject: string; html: string } {
  const variables = templateVariables({
    ...recipient,
    links: recipientLinks(app.url, app.linkKey, recipient.emailId),
    projectName: project.name,
    language: languageOf(app, project),
  });
  const budget = createRenderBudget();
  const html = renderField(app, budget, { source: body, kind: "html" }, variables);
  const text = renderField(app, budget, { source: subject, kind: "header" }, variables);
  const fault = checkSubject(text);
  if (fault !== null) throw fieldError("subject", fault.code, fault.message);
  return { subject: text, html };
}

function renderField(
  app: App,
  budget: RenderBudget,
  { source, kind }: { source: string; kind: TemplateKind },
  variables: Variables,
): string {
  const field = kind === "header" ? "subject" : "body";
  const compiled = compiledTemplates(app).compile(source, kind);
  if (!compiled.ok) throw fieldError(field, "invalid_format", syntaxErrorMessage(compiled));
  const result = budget.render(field, compiled.template, variables);
  if (result.ok) return result.text;
  throw fieldError(result.field, "invalid_value", renderErrorMessage(result.reason));
}
