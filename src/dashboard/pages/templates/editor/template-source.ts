/** What is edited of a template, and how it is read and saved. */

import type { QueryClient } from "@tanstack/react-query";
import type { Template } from "../../../../modules/templates.ts";
import { api } from "../../../api.ts";
import type { SaveOptions, Stored } from "../../../ui/editors/autosave.ts";
import { pickFields } from "../../../ui/editors/merge.ts";

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
>;

/** The words for the fields, in messages and in the comparison of two versions. */
export const TEMPLATE_LABELS: Readonly<Record<string, string>> = {
  name: "Name",
  description: "Note",
  subject: "Subject",
  preheader: "Preheader",
  body: "Body",
  format: "Editor",
  layoutId: "Layout",
  from: "Sender",
  fromName: "Name of the sender",
  replyTo: "Reply to",
  type: "Kind of mail",
};

/** Fields that are taken from one version together. */
export const TEMPLATE_GROUPS = [["body", "design", "format"]] as const;

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

/** The request that saves the changed fields, and the one that reads what others saved. */
export function templateRequests(client: QueryClient, project: string, id: string) {
  const key = templateKey(project, id);
  return {
    async save(
      value: TemplateSource,
      revision: number,
      { changed, isLeaving }: SaveOptions,
    ): Promise<number> {
      const saved = await api.patch<Template>(templatePath(id), pickFields(value, changed), {
        headers: { "If-Match": `"${revision}"` },
        project,
        keepalive: isLeaving,
      });
      client.setQueryData(key, saved);
      // The list, and what is made of the template, are read again when they are shown.
      void client.invalidateQueries({
        queryKey: ["templates", project],
        predicate: ({ queryKey }) => queryKey[2] !== id || queryKey.length > key.length,
      });
      return saved.revision;
    },
    async load(): Promise<Stored<TemplateSource>> {
      const template = await api.get<Template>(templatePath(id), { project });
      client.setQueryData(key, template);
      return storedTemplate(template);
    },
  };
}
