/** The content that a campaign takes from a template when a request names one. */

import type { App } from "../../core/app.ts";
import { AppError, fieldError } from "../../lib/errors.ts";
import { getTemplate, type TemplateRow } from "../templates.ts";
import type { Content } from "./columns.ts";
import type { CampaignPatch } from "./model.ts";

/** Part of a change: the columns of the template; the fields of the request replace them. */
export function templateColumns(
  app: App,
  projectSeq: number,
  { templateId }: CampaignPatch,
): Partial<Content> {
  if (!templateId) return {};
  const template = findTemplate(app, projectSeq, templateId);
  const { subject, body, preheader, format, design, layoutId, from, fromName, replyTo } = template;
  const { topicSeq } = template;
  return {
    subject,
    body,
    preheader,
    format,
    design,
    layoutId,
    ...(from === null ? {} : { from, fromName }),
    ...(replyTo === null ? {} : { replyTo }),
    ...(topicSeq === null ? {} : { topicSeq }),
  };
}

/** Part of a change: refuses a template that the project does not have. */
export function requireTemplate(app: App, projectSeq: number, { templateId }: CampaignPatch): void {
  if (templateId) findTemplate(app, projectSeq, templateId);
}

function findTemplate(app: App, projectSeq: number, id: string): TemplateRow {
  try {
    return getTemplate(app, projectSeq, id);
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 404) throw error;
    throw fieldError("templateId", "unknown_reference", "names no template of this project");
  }
}
