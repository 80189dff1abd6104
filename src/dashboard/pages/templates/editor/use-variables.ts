/** The fields of the contacts, as variables that the editor completes and inserts. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { FieldList } from "../../../../modules/contacts/model.ts";
import { api } from "../../../api.ts";
import { variableName } from "../../../ui/editors/code/variable-name.ts";
import type { Word } from "../../../ui/editors/code/liquid-words.ts";

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "Text",
  number: "Number",
  boolean: "Yes or no",
  date: "Date",
};

type FieldItem = (typeof FieldList.static)["items"][number];

const typeOf = ({ type, areDates }: FieldItem): string => (areDates ? "date" : type);

const useFieldList = (project: string) =>
  useQuery({
    queryKey: ["contact-fields", project],
    queryFn: ({ signal }) =>
      api.get<typeof FieldList.static>("/contacts/fields", {
        query: { counted: "NEWEST" },
        signal,
      }),
    // An import has changed them since an editor was last opened.
    staleTime: 0,
  });

/** The fields, as the visual editor takes them. */
export function useContactFields(project: string): { name: string; type: string }[] {
  const { data } = useFieldList(project);
  return useMemo(
    () => (data?.items ?? []).map((field) => ({ name: field.key, type: typeOf(field) })),
    [data],
  );
}

export function useVariables(project: string): Word[] {
  const { data } = useFieldList(project);
  return useMemo(
    () =>
      (data?.items ?? []).flatMap((field) => {
        const name = variableName(field.key);
        return name === null ? [] : [{ name, text: TYPE_WORDS[typeOf(field)] ?? "" }];
      }),
    [data],
  );
}
