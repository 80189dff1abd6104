import { useQuery } from "@tanstack/react-query";
import { api } from "../../api.ts";
import { useProject } from "../../state.ts";

/** The name of a segment; null without one, and while it is not known. */
export function useSegmentName(id: string | null): string | null {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: ["segments", project, id, "name"],
    queryFn: ({ signal }) =>
      api.get<{ name: string }>(`/segments/${encodeURIComponent(id ?? "")}`, {
        query: { counted: "RECENT" },
        signal,
      }),
    enabled: id !== null,
  });
  return data?.name ?? null;
}
