/**
 * What the command palette finds in the project by a part of a name or an address: contacts,
 * suppressions, saved views, campaigns, workflows, segments, templates and webhooks.
 */

import { useDebouncedValue } from "@mantine/hooks";
import type { SpotlightActionData } from "@mantine/spotlight";
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import {
  Bookmark,
  LayoutTemplate,
  type LucideIcon,
  Megaphone,
  ShieldBan,
  UserRound,
  UsersRound,
  Webhook,
  Workflow,
} from "lucide-react";
import { api, type ListPage } from "./api.ts";
import { pathOfView, VIEW_LISTS, type ViewPage } from "./ui/views/view-lists.ts";

/** The fields of the items of these lists that the palette shows. */
export type Found = {
  id?: string;
  name?: string;
  email?: string;
  url?: string;
  page?: ViewPage;
  query?: string;
};

type List = {
  group: string;
  /** The list of the interface. */
  path: string;
  /** Its filter by a part of the name or address. */
  filter: "name" | "search" | "email" | "url";
  /** Characters that it needs: a shorter text matches too many addresses. */
  least: number;
  icon: LucideIcon;
};

const LISTS: readonly List[] = [
  { group: "Contacts", path: "/contacts", filter: "search", least: 3, icon: UserRound },
  { group: "Suppressions", path: "/suppressions", filter: "email", least: 3, icon: ShieldBan },
  { group: "Saved views", path: "/views", filter: "name", least: 2, icon: Bookmark },
  { group: "Campaigns", path: "/campaigns/summaries", filter: "name", least: 2, icon: Megaphone },
  { group: "Workflows", path: "/workflows", filter: "name", least: 2, icon: Workflow },
  { group: "Segments", path: "/segments", filter: "name", least: 2, icon: UsersRound },
  { group: "Templates", path: "/templates", filter: "name", least: 2, icon: LayoutTemplate },
  { group: "Webhooks", path: "/webhooks", filter: "url", least: 2, icon: Webhook },
];

const FOUND = 5;
/** Longest text that all of the filters accept. */
const MAX_CHARACTERS = 100;
const TYPING_MS = 200;

export type FoundGroup = { group: string; actions: SpotlightActionData[] };

/** Groups are empty while a search runs. There are none without a project. */
export function useFoundGroups(typed: string, project: string | null): FoundGroup[] {
  const router = useRouter();
  const [text] = useDebouncedValue(typed.trim().slice(0, MAX_CHARACTERS), TYPING_MS);
  const results = useQueries({
    queries: LISTS.map(({ path, filter, least }) => ({
      queryKey: ["palette", project, path, text],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api.get<ListPage<Found>>(path, {
          query: { [filter]: text, limit: FOUND },
          project,
          signal,
        }),
      enabled: project !== null && text.length >= least,
      placeholderData: keepPreviousData,
    })),
  });
  if (project === null) return [];
  return LISTS.map(({ group, path, least, icon: Icon }, i) => ({
    group,
    actions: (text.length < least ? [] : (results[i]?.data?.items ?? [])).map((found) => ({
      id: `${path} ${found.id ?? found.email}`,
      label: labelOf(path, found),
      // The server knows other spellings of an address than the filter of the palette.
      ...(found.email === undefined ? {} : { keywords: typed }),
      ...(found.page === undefined ? {} : { description: VIEW_LISTS[found.page].label }),
      leftSection: <Icon size={16} aria-hidden />,
      onClick: () => router.history.push(`/app${pathOfFound(project, path, found)}`),
    })),
  }));
}

function labelOf(path: string, { name, email, url, id }: Found): string {
  if (path === "/suppressions") return `${email} is suppressed`;
  return name ?? email ?? url ?? id ?? "";
}

/** The path below /app of what was found in a list of the interface. */
export function pathOfFound(project: string, path: string, found: Found): string {
  const { id = "", email = "", page, query = "" } = found;
  if (page !== undefined) return pathOfView(project, { page, query });
  const [, folder = ""] = path.split("/");
  const place = `/p/${project}/${folder}`;
  if (path === "/suppressions") return `${place}?${new URLSearchParams({ address: email })}`;
  return `${place}/${encodeURIComponent(id)}`;
}
