/** The list of suppressions, and one of them by its address. */

import { useQuery } from "@tanstack/react-query";
import type { Suppression } from "../../../modules/suppressions.ts";
import { api, type ListPage } from "../../api.ts";
import { useProject } from "../../state.ts";
import { type List, useList } from "../../ui/use-list.ts";
import { suppressionQuery, type SuppressionSearch } from "./search.ts";

export const useSuppressionList = (search: SuppressionSearch): List<Suppression> =>
  useList<Suppression>("suppressions", "/suppressions", suppressionQuery(search));

/** Addresses that contain the wanted one; more than these are not read. */
const READ = 100;

/** The entry of an address; null if it is not suppressed. A loaded row is used at once. */
export function useSuppression(email: string | undefined, rows: readonly Suppression[]) {
  const project = useProject()?.id ?? null;
  const loaded = rows.find((row) => row.email === email);
  const found = useQuery({
    queryKey: ["suppressions", project, "one", email],
    queryFn: async ({ signal }) => {
      const query = { email, limit: READ };
      const { items } = await api.get<ListPage<Suppression>>("/suppressions", { query, signal });
      return items.find((item) => item.email === email) ?? null;
    },
    enabled: email !== undefined && loaded === undefined,
  });
  return {
    data: loaded ?? found.data,
    error: loaded === undefined ? found.error : null,
    refetch: found.refetch,
  };
}
