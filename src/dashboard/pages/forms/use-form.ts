/** One form, and the other data that its page needs. */

import { useQuery } from "@tanstack/react-query";
import type { Form, FormCode, FormReport } from "../../../modules/forms/model.ts";
import type { Template } from "../../../modules/templates.ts";
import type { Static } from "@sinclair/typebox";
import { api, type ListPage } from "../../api.ts";
import { isReadable } from "../../ui/deletion.ts";

export const formKey = (project: string, id: string) => ["forms", project, id];

export const formPath = (id: string): string => `/forms/${encodeURIComponent(id)}`;

export function useSignUpForm(project: string, id: string) {
  return useQuery({
    queryKey: formKey(project, id),
    queryFn: ({ signal }) => api.get<Form>(formPath(id), { signal }),
    enabled: isReadable,
  });
}

export function useFormCode(project: string, { id, revision }: Form) {
  return useQuery({
    queryKey: [...formKey(project, id), "code", revision],
    queryFn: ({ signal }) => api.get<Static<typeof FormCode>>(`${formPath(id)}/code`, { signal }),
    enabled: isReadable,
  });
}

export function useFormReport(project: string, id: string, days: number) {
  return useQuery({
    queryKey: [...formKey(project, id), "report", days],
    queryFn: ({ signal }) =>
      api.get<FormReport>(`${formPath(id)}/report`, { query: { days }, signal }),
    enabled: isReadable,
  });
}

/** The templates that may be a confirmation mail, by their kind. */
export function useMailTemplates(project: string) {
  return useQuery({
    queryKey: ["templates", project, "confirmations"],
    queryFn: async ({ signal }) => {
      const query = { limit: 100 };
      const { items } = await api.get<ListPage<Template>>("/templates", { query, signal });
      return items.filter(({ type }) => type === "TRANSACTIONAL");
    },
  });
}
