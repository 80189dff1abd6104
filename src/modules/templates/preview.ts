/** Renders subject and body as one recipient would see them. Stores and sends nothing. */

import type { Project } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
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
import { htmlToText } from "../../render/text.ts";
import { mergeVariables, templateVariables } from "../../render/variables.ts";
import { parseData, resolvedData } from "../contacts/data.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Preview, PreviewInput } from "./model.ts";

export type Previews = ReturnType<typeof createPreviews>;

/** Subject and body as Liquid templates. */
type PreviewSource = { subject: string; body: string };

const SAMPLE_EMAIL = "ada@example.com";

export function createPreviews(deps: {
  clock: Clock;
  contacts: Pick<Contacts, "get">;
  templateCache: TemplateCache;
  /** Base of links in mails, and the key that signs them. */
  url: string;
  linkKey: Uint8Array;
}) {
  const { clock, contacts } = deps;

  function renderField(
    budget: RenderBudget,
    source: string,
    kind: TemplateKind,
    variables: Variables,
  ): string {
    const field = kind === "text" ? "subject" : "body";
    const compiled = deps.templateCache.compile(source, kind);
    if (!compiled.ok) throw fieldError(field, "invalid_format", syntaxErrorMessage(compiled));
    const result = budget.render(compiled.template, variables);
    if (result.ok) return result.text;
    throw fieldError(field, "invalid_value", renderErrorMessage(result.reason));
  }

  /** Renders the mail with this id for a recipient. Throws 422 if it cannot be rendered. */
  function renderFor(
    project: Project,
    { subject, body }: PreviewSource,
    recipient: { id: string; email: string; data: Variables; emailId: string },
  ): Preview {
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
    return { subject: text, html, text: htmlToText(html) };
  }

  return {
    renderFor,

    /**
     * Renders for a contact, with `data` over its own data, or for a sample address without a
     * contact.
     */
    preview(project: Project, source: PreviewSource, { contactId, data }: PreviewInput): Preview {
      const contact = contactId === undefined ? null : contacts.get(project.seq, contactId);
      return renderFor(project, source, {
        id: contact?.id ?? "",
        email: contact?.email ?? SAMPLE_EMAIL,
        data: mergeVariables(
          contact === null ? {} : parseData(contact.data),
          resolvedData(data ?? {}),
        ),
        emailId: newId(clock.now()),
      });
    },
  };
}
