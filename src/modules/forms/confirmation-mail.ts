/** The mail with the link that confirms a subscription: of a template, or in the language of the form. */

import type { App } from "../../core/app.ts";
import type { Project, Sender } from "../../http/admission.ts";
import { AppError } from "../../lib/errors.ts";
import type { FormTexts } from "../../render/form-texts.ts";
import { fillPlaceholders } from "../../render/language.ts";
import { brandOf } from "../branding.ts";
import { buttonMail } from "../preferences/button-mail.ts";
import { renderSubject } from "../previews.ts";
import { projectSender, type ProjectMail } from "../project-mails.ts";
import { getTemplate, type TemplateRow } from "../templates.ts";
import { bodyToSend } from "../templates/assembled.ts";
import { confirmationFault } from "./confirmation-fault.ts";
import type { FormRow } from "./form-store.ts";
import type { FormValues } from "./values.ts";

/**
 * The mail for a submission. A template that cannot be used any more is replaced by the built-in mail,
 * and the log says so. Throws if the project has no sender that may be used.
 */
export async function confirmationMail(
  app: App,
  work: {
    project: Project;
    form: FormRow;
    values: FormValues;
    texts: FormTexts;
    language: string;
    confirmUrl: string;
    id: string;
  },
): Promise<ProjectMail> {
  const { form } = work;
  const own = form.templateId === null ? null : await fromTemplate(app, form.templateId, work);
  if (own !== null) return own;
  const { project, values, texts, language, confirmUrl, id } = work;
  projectSender(app, project);
  const names = { project: project.name };
  const brand = brandOf(app, project.seq) ?? { name: project.name, color: null };
  const mail = buttonMail(brand, {
    language,
    subject: fillPlaceholders(texts.mail.subject, names),
    text: fillPlaceholders(texts.mail.text, names),
    button: { label: texts.mail.button, link: confirmUrl },
    note: texts.mail.ignore,
  });
  return { ...mail, id, to: values.email };
}

async function fromTemplate(
  app: App,
  templateId: string,
  { project, form, values, confirmUrl, id }: Parameters<typeof confirmationMail>[1],
): Promise<ProjectMail | null> {
  try {
    const template = getTemplate(app, project.seq, templateId);
    const fault = confirmationFault(app, template);
    if (fault !== null) throw new Error(`The template ${fault}.`);
    const sender = senderOf(template, project);
    const checked = projectSender(app, project, sender);
    const variables = { ...values.data, form: { id: form.id, name: form.name }, confirmUrl };
    const html = bodyToSend(app, template);
    const subject = await renderSubject(
      app,
      project,
      { subject: template.subject, body: html },
      { id: "", email: values.email, data: variables, emailId: id },
    );
    const { replyTo } = template;
    return { id, to: values.email, subject, html, variables, sender: checked, replyTo };
  } catch (error) {
    if (error instanceof AppError && error.status === 503) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    app.log.warn("a form sends the built-in mail: its template cannot be used", {
      form: form.id,
      template: templateId,
      reason,
    });
    return null;
  }
}

function senderOf({ from, fromName }: TemplateRow, { sender }: Project): Sender | null {
  if (from !== null) return { address: from, name: fromName };
  return sender === null ? null : { address: sender.address, name: fromName ?? sender.name };
}
