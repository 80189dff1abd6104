/**
 * What the command palette finds by an id. An id does not say what it belongs to, so the interface is
 * asked for an object of each kind, and has at most one of them.
 */

import type { SpotlightActionData } from "@mantine/spotlight";
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import {
  LayoutTemplate,
  type LucideIcon,
  Mail,
  Megaphone,
  UserRound,
  UsersRound,
  Workflow,
} from "lucide-react";
import { api, ApiError, NOT_FOUND } from "./api.ts";
import { type Found, type FoundGroup, pathOfFound } from "./palette-found.tsx";

/** Ids are UUIDs. */
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Kind = { noun: string; path: string; icon: LucideIcon };

const KINDS: readonly Kind[] = [
  { noun: "email", path: "/emails", icon: Mail },
  { noun: "contact", path: "/contacts", icon: UserRound },
  { noun: "campaign", path: "/campaigns", icon: Megaphone },
  { noun: "segment", path: "/segments", icon: UsersRound },
  { noun: "template", path: "/templates", icon: LayoutTemplate },
  { noun: "workflow", path: "/workflows", icon: Workflow },
];

type Named = Found & { subject?: string };

/** A group with the object that has the typed id; none while it is asked for, or without one. */
export function useObjectWithId(typed: string, project: string | null): FoundGroup[] {
  const router = useRouter();
  const id = typed.trim().toLowerCase();
  const { data } = useQuery({
    queryKey: ["palette-id", project, id],
    queryFn: ({ signal }) => findObject(id, { project, signal }),
    enabled: project !== null && ID.test(id),
  });
  if (project === null || data === undefined || data === null) return [];
  const { kind, object } = data;
  const Icon = kind.icon;
  const name = kind.noun === "email" ? object.subject : (object.name ?? object.email);
  const action: SpotlightActionData = {
    id: `id ${id}`,
    label: `Open the ${kind.noun} ${name === undefined || name === "" ? id : name}`,
    // The palette shows actions that have the typed text.
    keywords: typed,
    leftSection: <Icon size={16} aria-hidden />,
    onClick: () => router.history.push(`/app${pathOfFound(project, kind.path, { id })}`),
  };
  return [{ group: "With this id", actions: [action] }];
}

type Options = { project: string | null; signal: AbortSignal };

async function findObject(id: string, options: Options) {
  const found = await Promise.all(
    KINDS.map(async (kind) => {
      try {
        return { kind, object: await api.get<Named>(`${kind.path}/${id}`, options) };
      } catch (error) {
        if (error instanceof ApiError && error.status === NOT_FOUND) return null;
        throw error;
      }
    }),
  );
  return found.find((each) => each !== null) ?? null;
}
