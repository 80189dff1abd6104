/** The names of campaigns and templates, which emails name by their ids. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, type ListPage, type Query } from "../../api.ts";
import { useProject } from "../../state.ts";

type Named = { id: string; name: string };
export type Names = ReadonlyMap<string, string>;

const LOADED = 50;
const STALE_MS = 300_000;

/** The newest ones; older ones are shown without a name. */
function useNamesOf(noun: string, path: string, filter: Query = {}): Names {
  const project = useProject()?.id ?? null;
  const { data } = useQuery({
    queryKey: [`${noun}-names`, project],
    queryFn: ({ signal }) =>
      api.get<ListPage<Named>>(path, { query: { ...filter, limit: LOADED }, signal }),
    staleTime: STALE_MS,
    select: ({ items }) => items,
  });
  return useMemo(() => new Map((data ?? []).map(({ id, name }) => [id, name])), [data]);
}

export type EmailNames = { campaigns: Names; templates: Names };

export const useNames = (): EmailNames => ({
  campaigns: useNamesOf("campaigns", "/campaigns/summaries", { imported: false }),
  templates: useNamesOf("templates", "/templates"),
});
