import type { Static } from "@sinclair/typebox";
import { useQuery } from "@tanstack/react-query";
import type { FieldList } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";

const NO_KEYS: readonly string[] = [];

/** The keys in the data of the newest contacts, the most frequent first. */
export function useDataKeys(project: string, isNeeded: boolean): readonly string[] {
  const { data = NO_KEYS } = useQuery({
    queryKey: ["contact-fields", project],
    queryFn: ({ signal }) =>
      api.get<Static<typeof FieldList>>("/contacts/fields", {
        query: { counted: "NEWEST" },
        signal,
      }),
    select: ({ items }) => items.map(({ key }) => key),
    enabled: isNeeded,
    // An import has changed them since they were last read.
    staleTime: 0,
  });
  return data;
}
