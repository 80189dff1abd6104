import { useQuery } from "@tanstack/react-query";
import type { ProjectDetails } from "../../../modules/project-model.ts";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";

export const detailsKey = (id: string) => ["projects", id] as const;

/** The settings of the project of the page. */
export function useProjectDetails() {
  const id = useProject()?.id ?? "";
  return useQuery({
    queryKey: detailsKey(id),
    queryFn: ({ signal }) => api.get<ProjectDetails>(`/projects/${id}`, { signal }),
    enabled: id !== "",
  });
}
