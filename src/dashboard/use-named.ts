/** Finds objects of a project by a part of their name, for the command palette. */

import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { api, type ListPage } from "./api.ts";

type Named = { id: string; name: string };

const FOUND = 5;
const LEAST_CHARACTERS = 2;
const MAX_CHARACTERS = 255;
const TYPING_MS = 200;

/** `path` is a list of the interface with the filter `name`. Nothing is found for a shorter text. */
export function useNamed(
  project: string | null,
  path: "/campaigns/summaries" | "/templates",
  text: string,
): readonly Named[] {
  const [name] = useDebouncedValue(text.trim().slice(0, MAX_CHARACTERS), TYPING_MS);
  const isEnabled = project !== null && name.length >= LEAST_CHARACTERS;
  const { data } = useQuery({
    queryKey: ["palette", project, path, name],
    queryFn: ({ signal }) =>
      api.get<ListPage<Named>>(path, { query: { name, limit: FOUND }, project, signal }),
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  });
  return isEnabled ? (data?.items ?? []) : [];
}
