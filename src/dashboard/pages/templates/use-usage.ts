import { useQuery } from "@tanstack/react-query";
import type { Template, TemplateUsage } from "../../../modules/templates/model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";

/** The uses of a template, and its variables. */
export function useUsage({ id, updatedAt }: Template) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["templates", project, id, "usage", updatedAt],
    queryFn: ({ signal }) =>
      api.get<TemplateUsage>(`/templates/${encodeURIComponent(id)}/usage`, { signal }),
  });
}
