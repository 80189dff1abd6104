import { useQuery } from "@tanstack/react-query";
import type { Layout } from "../../../../modules/layouts.ts";
import { api, type ListPage } from "../../../api.ts";

const MOST = 100;

/** The layouts of the project that a template can choose. */
export const useLayouts = (project: string) =>
  useQuery({
    queryKey: ["layouts", project, "choices"],
    queryFn: async ({ signal }) => {
      const page = await api.get<ListPage<Layout>>("/layouts", { query: { limit: MOST }, signal });
      return page.items;
    },
  });
