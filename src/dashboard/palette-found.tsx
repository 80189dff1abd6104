/**
 * Finds objects of the project for the command palette, of each kind that has a name or an address, by
 * a part of it.
 */

import { useDebouncedValue } from "@mantine/hooks";
import type { SpotlightActionData } from "@mantine/spotlight";
import { keepPreviousData, useQueries } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import {
  Bookmark,
  Globe,
  Inbox,
  KeyRound,
  LayoutTemplate,
  type LucideIcon,
  MailOpen,
  Megaphone,
  PanelsTopLeft,
  ShieldBan,
  UserRound,
  UsersRound,
  Webhook,
  Workflow,
} from "lucide-react";
import { api, type ListPage, type Query } from "./api.ts";
import { type AppState, hasRole, type ProjectSummary, type Role, useAppState } from "./state.ts";
import { pathOfView, VIEW_LISTS, type ViewPage } from "./ui/views/view-lists.ts";

/** The fields of the items of these lists that the palette shows. */
export type Found = {
  id?: string;
  name?: string;
  email?: string;
  url?: string;
  domain?: string;
  subject?: string;
  page?: ViewPage;
  query?: string;
};

type List = {
  group: string;
  /** The list of the interface. */
  path: string;
  /**
   * Its filter by a part of the name or address. Null for a list without one, which has few objects:
   * it is read once, and searched here.
   */
  filter: "name" | "search" | "email" | "url" | "query" | null;
  /** Characters that it needs: a shorter text matches too many addresses. */
  least: number;
  icon: LucideIcon;
  /** The least role that may read it; VIEWER if absent. */
  role?: Role;
  /** True if the installation has it; always if absent. */
  isShown?: (state: AppState) => boolean;
};

const MESSAGES = "/inboxes/default/messages";
const hasInboxes = ({ capture }: AppState): boolean => capture;

const LISTS: readonly List[] = [
  { group: "Contacts", path: "/contacts", filter: "search", least: 3, icon: UserRound },
  { group: "Suppressions", path: "/suppressions", filter: "email", least: 3, icon: ShieldBan },
  { group: "Saved views", path: "/views", filter: "name", least: 2, icon: Bookmark },
  { group: "Campaigns", path: "/campaigns/summaries", filter: "name", least: 2, icon: Megaphone },
  { group: "Workflows", path: "/workflows", filter: "name", least: 2, icon: Workflow },
  { group: "Segments", path: "/segments", filter: "name", least: 2, icon: UsersRound },
  { group: "Templates", path: "/templates", filter: "name", least: 2, icon: LayoutTemplate },
  { group: "Layouts", path: "/layouts", filter: "name", least: 2, icon: PanelsTopLeft },
  { group: "Webhooks", path: "/webhooks", filter: "url", least: 2, icon: Webhook },
  { group: "Domains", path: "/domains", filter: null, least: 2, icon: Globe },
  { group: "API keys", path: "/keys", filter: null, least: 2, icon: KeyRound, role: "ADMIN" },
  {
    group: "Inboxes",
    path: "/inboxes",
    filter: null,
    least: 2,
    icon: Inbox,
    role: "EDITOR",
    isShown: hasInboxes,
  },
  {
    group: "Messages in the inbox",
    path: MESSAGES,
    filter: "query",
    least: 3,
    icon: MailOpen,
    role: "EDITOR",
    isShown: hasInboxes,
  },
];

/** Ids are UUIDs. They are no part of a name, and palette-id.tsx looks for their objects. */
export const IS_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const FOUND = 5;
/** Objects that are read of a list without a filter. */
const READ = 100;
const STALE_MS = 60_000;
/** Longest text that all of the filters accept. */
const MAX_CHARACTERS = 100;
const TYPING_MS = 200;

export type FoundGroup = { group: string; actions: SpotlightActionData[] };

/** Groups are empty while a search runs. There are none without a project. */
export function useFoundGroups(typed: string, project: ProjectSummary | null): FoundGroup[] {
  const router = useRouter();
  const state = useAppState();
  const lists = readableLists(state, project);
  const id = project?.id ?? null;
  const [text] = useDebouncedValue(typed.trim().slice(0, MAX_CHARACTERS), TYPING_MS);
  const results = useQueries({
    queries: lists.map(({ path, filter, least }) => ({
      queryKey: ["palette", id, path, filter === null ? null : text],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        readFound(path, { query: queryOf(filter, text), project: id, signal }),
      enabled: id !== null && text.length >= least && !IS_ID.test(text),
      placeholderData: keepPreviousData,
      ...(filter === null ? { staleTime: STALE_MS } : {}),
    })),
  });
  if (id === null) return [];
  return lists.map(({ group, path, filter, least, icon: Icon }, i) => {
    const items = text.length < least || IS_ID.test(text) ? [] : (results[i]?.data ?? []);
    const shown = filter === null ? withText(items, text) : items;
    return {
      group,
      actions: shown.map((found) => ({
        id: `${path} ${found.id ?? found.email}`,
        label: labelOf(path, found),
        // The server knows other spellings of an address than the filter of the palette, and finds
        // a message by its text.
        ...(found.email === undefined && path !== MESSAGES ? {} : { keywords: typed }),
        ...(found.page === undefined ? {} : { description: VIEW_LISTS[found.page].label }),
        leftSection: <Icon size={16} aria-hidden />,
        onClick: () => router.history.push(`/app${pathOfFound(id, path, found)}`),
      })),
    };
  });
}

/** The lists that the user may read and the installation has. */
export const readableLists = (state: AppState, project: ProjectSummary | null): List[] =>
  LISTS.filter(
    ({ role = "VIEWER", isShown }) => hasRole(project, role) && (isShown?.(state) ?? true),
  );

const queryOf = (filter: List["filter"], text: string): Query =>
  filter === null ? { limit: READ } : { [filter]: text, limit: FOUND };

type ReadOptions = { query: Query; project: string | null; signal: AbortSignal };

async function readFound(path: string, options: ReadOptions): Promise<Found[]> {
  // The inboxes of a project are few, so their list has no pages.
  if (path === "/inboxes") return api.get<Found[]>(path, { ...options, query: {} });
  return (await api.get<ListPage<Found>>(path, options)).items;
}

function withText(items: readonly Found[], text: string): Found[] {
  const wanted = text.toLowerCase();
  return items
    .filter(({ name = "", domain = "" }) => `${name} ${domain}`.toLowerCase().includes(wanted))
    .slice(0, FOUND);
}

function labelOf(path: string, { name, email, url, domain, subject, id }: Found): string {
  if (path === "/suppressions") return `${email} is suppressed`;
  if (path === MESSAGES) return subject === undefined || subject === "" ? "(no subject)" : subject;
  return name ?? email ?? url ?? domain ?? id ?? "";
}

/** The path below /app of an object that was found in a list of the interface. */
export function pathOfFound(project: string, path: string, found: Found): string {
  const { id = "", name = "", email = "", page, query = "" } = found;
  if (page !== undefined) return pathOfView(project, { page, query });
  const root = `/p/${project}`;
  switch (path) {
    case "/suppressions":
      return `${root}${path}?${new URLSearchParams({ address: email })}`;
    case "/events":
      return `${root}${path}?${new URLSearchParams({ event: id })}`;
    case "/keys":
      return root + path;
    case "/layouts":
      return `${root}/templates/layouts/${encodeURIComponent(id)}`;
    case "/inboxes":
      return `${root}/inboxes/${encodeURIComponent(name)}`;
    case MESSAGES:
      return `${root}/inboxes?${new URLSearchParams({ message: id })}`;
    default: {
      const [, folder = ""] = path.split("/");
      return `${root}/${folder}/${encodeURIComponent(id)}`;
    }
  }
}
