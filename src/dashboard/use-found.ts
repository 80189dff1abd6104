/** Finds objects of a project by a part of their name or address, for the command palette. */

import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Contact } from "../modules/contacts/model.ts";
import type { Suppression } from "../modules/suppressions/model.ts";
import { api, type ListPage } from "./api.ts";

type Named = { id: string; name: string };
type Items = {
  "/campaigns/summaries": Named;
  "/templates": Named;
  "/contacts": Contact;
  "/suppressions": Suppression;
};

const FOUND = 5;
const MAX_CHARACTERS = 255;
const TYPING_MS = 200;

/** The filter of each list, and the characters that it needs: a shorter text matches too much. */
const LISTS = {
  "/campaigns/summaries": { filter: "name", least: 2 },
  "/templates": { filter: "name", least: 2 },
  "/contacts": { filter: "search", least: 3 },
  "/suppressions": { filter: "email", least: 3 },
} as const satisfies Record<keyof Items, object>;

/** `path` is a list of the interface. Nothing is found without a project or for a short text. */
export function useFound<P extends keyof Items>(
  project: string | null,
  path: P,
  typed: string,
): readonly Items[P][] {
  const [text] = useDebouncedValue(typed.trim().slice(0, MAX_CHARACTERS), TYPING_MS);
  const { filter, least } = LISTS[path];
  const isEnabled = project !== null && text.length >= least;
  const { data } = useQuery({
    queryKey: ["palette", project, path, text],
    queryFn: ({ signal }) =>
      api.get<ListPage<Items[P]>>(path, {
        query: { [filter]: text, limit: FOUND },
        project,
        signal,
      }),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  });
  return isEnabled ? (data?.items ?? []) : [];
}
