/** The names of the templates that steps send. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Template } from "../../../modules/templates.ts";
import { api, type ListPage } from "../../api.ts";

const MOST_NAMES = 100;

/** The names of the newest templates, which the steps show. */
export function useTemplateNames(project: string): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ["templates", project, "names"],
    queryFn: ({ signal }) =>
      api.get<ListPage<Template>>("/templates", { query: { limit: MOST_NAMES }, signal }),
  });
  return useMemo(() => new Map(data?.items.map(({ id, name }) => [id, name])), [data]);
}
