/** The members of a template that its page edits, and the requests that read and save them. */

import type { QueryClient } from "@tanstack/react-query";
import type { Template } from "../../../../modules/templates.ts";
import type { Stored } from "../../../ui/editors/autosave.ts";
import { BODY_GROUP, CONTENT_LABELS } from "../../../ui/editors/content-labels.ts";
import { pickFields } from "../../../ui/editors/merge.ts";
import { recordRequests, refreshOthers } from "../../../ui/editors/record-requests.ts";

export type TemplateSource = Pick<
  Template,
  | "name"
  | "description"
  | "subject"
  | "preheader"
  | "body"
  | "design"
  | "format"
  | "layoutId"
  | "from"
  | "fromName"
  | "replyTo"
  | "type"
  | "topicId"
>;

/** The words for the fields, in messages and in the comparison of two versions. */
export const TEMPLATE_LABELS: Readonly<Record<string, string>> = {
  ...CONTENT_LABELS,
  description: "Note",
  type: "Kind of mail",
  topicId: "Topic",
};

/** The fields that are taken from one version together. */
export const TEMPLATE_GROUPS = [BODY_GROUP] as const;

export const templatePath = (id: string): string => `/templates/${encodeURIComponent(id)}`;

export const templateKey = (project: string, id: string) => ["templates", project, id];

export const templateSource = (template: Template): TemplateSource => {
  const { id: _id, revision: _revision, createdAt: _, updatedAt: __, ...source } = template;
  return source;
};

export const storedTemplate = (template: Template): Stored<TemplateSource> => ({
  value: templateSource(template),
  revision: template.revision,
});

export function templateRequests(client: QueryClient, project: string, id: string) {
  const queryKey = templateKey(project, id);
  return recordRequests<Template, TemplateSource>({
    client,
    project,
    path: templatePath(id),
    queryKey,
    read: templateSource,
    patch: pickFields,
    onSaved: () => refreshOthers(client, queryKey),
  });
}
