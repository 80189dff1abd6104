import type { Static } from "@sinclair/typebox";
import { useQuery } from "@tanstack/react-query";
import type { FieldList } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";

/** Keys that the search field suggests. */
const SUGGESTED = 20;

/** The most frequent keys in the data of the newest contacts. */
export function useDataKeys(project: string, isNeeded: boolean): string[] {
  const { data } = useQuery({
    queryKey: ["contact-fields", project],
    queryFn: ({ signal }) =>
      api.get<Static<typeof FieldList>>("/contacts/fields", {
        query: { counted: "NEWEST" },
        signal,
      }),
    enabled: isNeeded,
    staleTime: 60_000,
  });
  return (data?.items ?? []).slice(0, SUGGESTED).map(({ key }) => key);
}
