/** What the command palette finds in the project: campaigns, templates, contacts, suppressions. */

import type { SpotlightActionData } from "@mantine/spotlight";
import { useNavigate } from "@tanstack/react-router";
import { LayoutTemplate, Megaphone, ShieldBan, UserRound } from "lucide-react";
import { useFound } from "./use-found.ts";

type Found = Record<"campaigns" | "templates" | "contacts" | "suppressions", SpotlightActionData[]>;

const ICON = { size: 16, "aria-hidden": true } as const;

/** Empty while a search runs, and without a project. */
export function useFoundActions(typed: string, projectId: string | null): Found {
  const navigate = useNavigate();
  const project = projectId ?? "";
  // The server knows other spellings of an address than the filter of the palette.
  const keywords = typed;
  return {
    campaigns: useFound(projectId, "/campaigns/summaries", typed).map(({ id, name }) => ({
      id: `campaign-${id}`,
      label: name,
      leftSection: <Megaphone {...ICON} />,
      onClick: () =>
        void navigate({
          to: "/p/$project/campaigns/$campaign",
          params: { project, campaign: id },
        }),
    })),
    templates: useFound(projectId, "/templates", typed).map(({ id, name }) => ({
      id: `template-${id}`,
      label: name,
      leftSection: <LayoutTemplate {...ICON} />,
      onClick: () =>
        void navigate({
          to: "/p/$project/templates/$template",
          params: { project, template: id },
        }),
    })),
    contacts: useFound(projectId, "/contacts", typed).map(({ id, email }) => ({
      id: `contact-${id}`,
      label: email,
      keywords,
      leftSection: <UserRound {...ICON} />,
      onClick: () =>
        void navigate({ to: "/p/$project/contacts/$contact", params: { project, contact: id } }),
    })),
    suppressions: useFound(projectId, "/suppressions", typed).map(({ email }) => ({
      id: `suppression-${email}`,
      label: `${email} is suppressed`,
      keywords,
      leftSection: <ShieldBan {...ICON} />,
      onClick: () =>
        void navigate({
          to: "/p/$project/suppressions",
          params: { project },
          search: { address: email },
        }),
    })),
  };
}
