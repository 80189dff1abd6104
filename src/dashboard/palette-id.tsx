/**
 * Finds an object for the command palette by its id. An id does not show the kind of its object, so
 * the interface is asked for an object of each kind, and has at most one of them.
 */

import type { SpotlightActionData } from "@mantine/spotlight";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import {
  Activity,
  Globe,
  LayoutTemplate,
  type LucideIcon,
  Mail,
  MailOpen,
  Megaphone,
  PanelsTopLeft,
  UserRound,
  UsersRound,
  Webhook,
  Workflow,
} from "lucide-react";
import { api, ApiError, NOT_FOUND } from "./api.ts";
import { type Found, type FoundGroup, IS_ID, pathOfFound } from "./palette-found.tsx";
import { type AppState, hasRole, type ProjectSummary, useAppState } from "./state.ts";

type Kind = { noun: string; path: string; icon: LucideIcon };

const KINDS: readonly Kind[] = [
  { noun: "email", path: "/emails", icon: Mail },
  { noun: "contact", path: "/contacts", icon: UserRound },
  { noun: "campaign", path: "/campaigns", icon: Megaphone },
  { noun: "segment", path: "/segments", icon: UsersRound },
  { noun: "template", path: "/templates", icon: LayoutTemplate },
  { noun: "workflow", path: "/workflows", icon: Workflow },
  { noun: "layout", path: "/layouts", icon: PanelsTopLeft },
  { noun: "webhook", path: "/webhooks", icon: Webhook },
  { noun: "domain", path: "/domains", icon: Globe },
  { noun: "event", path: "/events", icon: Activity },
];
const MESSAGE: Kind = { noun: "message", path: "/inboxes/default/messages", icon: MailOpen };

/** Only editors read the inboxes, which not every installation has. */
export const kindsOf = ({ capture }: AppState, project: ProjectSummary | null): Kind[] =>
  capture && hasRole(project, "EDITOR") ? [...KINDS, MESSAGE] : [...KINDS];

/** A group with the object that has the typed id; none while it is asked for, or without one. */
export function useObjectWithId(typed: string, summary: ProjectSummary | null): FoundGroup[] {
  const router = useRouter();
  const project = summary?.id ?? null;
  const kinds = kindsOf(useAppState(), summary);
  const id = typed.trim().toLowerCase();
  const { data } = useQuery({
    queryKey: ["palette-id", project, id],
    queryFn: ({ signal }) => findObject(id, kinds, { project, signal }),
    enabled: project !== null && IS_ID.test(id),
  });
  if (project === null || data === undefined || data === null) return [];
  const { kind, object } = data;
  const Icon = kind.icon;
  const { subject, name, email, url, domain } = object;
  // A campaign and a template have a subject as well, and are known by their names.
  const shown = name ?? subject ?? email ?? url ?? domain;
  const action: SpotlightActionData = {
    id: `id ${id}`,
    label: `Open the ${kind.noun} ${shown === undefined || shown === "" ? id : shown}`,
    // The palette shows actions that have the typed text.
    keywords: typed,
    leftSection: <Icon size={16} aria-hidden />,
    onClick: () => router.history.push(`/app${pathOfFound(project, kind.path, { id })}`),
  };
  return [{ group: "With this id", actions: [action] }];
}

type Options = { project: string | null; signal: AbortSignal };

async function findObject(id: string, kinds: readonly Kind[], options: Options) {
  const found = await Promise.all(
    kinds.map(async (kind) => {
      try {
        return { kind, object: await api.get<Found>(`${kind.path}/${id}`, options) };
      } catch (error) {
        if (error instanceof ApiError && error.status === NOT_FOUND) return null;
        throw error;
      }
    }),
  );
  return found.find((each) => each !== null) ?? null;
}
