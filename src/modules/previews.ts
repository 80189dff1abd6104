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
import type { PreviewQuery } from "../http/preview-query.ts";
import type { Role } from "../http/roles.ts";
import { Input } from "../http/validation.ts";
import { validationError } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { recipientLinks } from "../render/links.ts";
import { type InlineImage, previewHeaders } from "../render/preview-document.ts";
import type { RequestMails } from "../render/request-mails.ts";
import type { Variables } from "../render/template/template.ts";
import { mergeVariables } from "../render/variables.ts";
import { parseData, resolvedData } from "./contacts/data.ts";
import { getContact } from "./contacts/service.ts";
import { checkMails, renderPreview, showDocument } from "./content-work/content-work.ts";

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
 * A role that does not see all data of contacts gets it as in the contact. Marketing mail has its
 * footer. The links belong to no mail, so that they change nothing.
 */
export async function preview(
  app: App,
  project: Project,
  source: Source & { isMarketing: boolean; utm?: string | null },
  { contactId, data, role }: Static<typeof PreviewInput> & { role: Role | null },
): Promise<Preview> {
  const contact = contactId === undefined ? null : getContact(app, project.seq, contactId);
  const emailId = newId(app.clock.now());
  const own = contact === null ? {} : dataFor(role, parseData(contact.data));
  const mails = mailsFor(app, project, source, {
    id: contact?.id ?? "",
    email: contact?.email ?? SAMPLE_EMAIL,
    data: mergeVariables(own, resolvedData(data ?? {})),
    emailId,
  });
  const { isMarketing, utm = null } = source;
  return renderPreview(app, project.seq, { mails, emailId, isMarketing, utm });
}

/** The subject of the mail with this id for a recipient. Throws 422 if it cannot be rendered. */
export async function renderSubject(
  app: App,
  project: Project,
  source: Source,
  recipient: { id: string; email: string; data: Variables; emailId: string },
): Promise<string> {
  const mails = mailsFor(app, project, source, recipient);
  const [mail] = await checkMails(app, project.seq, mails, { isUrgent: true });
  if (mail === undefined) throw new Error("a mail was not rendered");
  if (mail.kind !== "rendered") throw validationError([mail.fault]);
  return mail.subject;
}

function mailsFor(
  app: App,
  project: Project,
  { subject, body }: Source,
  { id, email, data, emailId }: { id: string; email: string; data: Variables; emailId: string },
): RequestMails {
  const links = recipientLinks(app.url, app.linkKey, emailId);
  return {
    source: { subject, body },
    // The sources are stored, and were checked then.
    given: { subject: false, body: false },
    isLenient: true,
    project: { name: project.name, language: project.language },
    recipients: [{ id, email, data: JSON.stringify(data), links }],
  };
}

/** The document of a mail; a text document if `part` is text or the mail has no HTML. */
export async function previewResponse(
  app: App,
  project: Project,
  { html, text }: { html: string; text: string },
  query: PreviewQuery,
  images: readonly InlineImage[] = [],
): Promise<Response> {
  if (query.part === "text" || html === "") {
    return new Response(text, { headers: previewHeaders("text/plain") });
  }
  const isDark = query.dark === "true";
  const shown = await showDocument(app, project.seq, { html, images, isDark });
  const sources = query.images === "true" ? "https:" : "";
  return new Response(shown, { headers: previewHeaders("text/html", sources, `${app.url}/i/`) });
}
