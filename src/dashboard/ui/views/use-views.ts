/** The saved views of a list: those of the user, and those that others share. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { SavedView } from "../../../modules/views/model.ts";
import { api, type ListPage } from "../../api.ts";
import { useProject } from "../../state.ts";
import type { ViewPage } from "./view-lists.ts";

const PAGE_SIZE = 100;

/** The views in the order of their names. A project has at most 1,000. */
export function useViews(page: ViewPage) {
  const project = useProject()?.id ?? null;
  return useQuery({
    queryKey: ["views", project, page],
    queryFn: async ({ signal }) => {
      const views: SavedView[] = [];
      let cursor: string | null = null;
      do {
        const query = { page, limit: PAGE_SIZE, cursor };
        const read: ListPage<SavedView> = await api.get("/views", { query, project, signal });
        views.push(...read.items);
        cursor = read.nextCursor;
      } while (cursor !== null);
      return views.sort((a, b) => a.name.localeCompare(b.name));
    },
    enabled: project !== null,
  });
}

/** Reads the views again, also those of the command palette. */
export function useViewRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: ["views"] });
    await client.invalidateQueries({ queryKey: ["palette"] });
  };
}
