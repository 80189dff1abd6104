/** The contacts in the command palette: those whose address contains what was typed. */

import { useDebouncedValue } from "@mantine/hooks";
import type { SpotlightActionData } from "@mantine/spotlight";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { UserRound } from "lucide-react";
import type { Contact } from "../modules/contacts/model.ts";
import { api, type ListPage } from "./api.ts";

/** Shorter texts match too many addresses to be worth a search. */
const MIN_CHARACTERS = 3;
const SHOWN = 5;
const DELAY_MS = 250;

/** Empty while the search runs, and without a project. */
export function useContactActions(typed: string, project: string | null): SpotlightActionData[] {
  const navigate = useNavigate();
  const [text] = useDebouncedValue(typed.trim(), DELAY_MS);
  const { data } = useQuery({
    queryKey: ["palette-contacts", project, text],
    queryFn: ({ signal }) =>
      api.get<ListPage<Contact>>("/contacts", {
        query: { search: text, limit: SHOWN },
        project,
        signal,
      }),
    enabled: project !== null && text.length >= MIN_CHARACTERS,
  });
  if (project === null) return [];
  return (data?.items ?? []).map(({ id, email }) => ({
    id: `contact-${id}`,
    label: email,
    // The server knows other spellings of an address than the filter of the palette.
    keywords: typed,
    leftSection: <UserRound size={16} aria-hidden />,
    onClick: () =>
      void navigate({ to: "/p/$project/contacts/$contact", params: { project, contact: id } }),
  }));
}
