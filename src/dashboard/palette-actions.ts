/** The actions of the command palette that open the dialog of a page, by the role of the user. */

import type { LinkProps } from "@tanstack/react-router";
import { hasRole, type ProjectSummary, type Role } from "./state.ts";

type CreateAction = {
  label: string;
  to: Extract<LinkProps["to"], `/p/$project/${string}`>;
  role: Role;
};

const ACTIONS: readonly CreateAction[] = [
  { label: "Import contacts", to: "/p/$project/contacts/import", role: "EDITOR" },
  { label: "Add a contact", to: "/p/$project/contacts", role: "EDITOR" },
  { label: "Create a segment", to: "/p/$project/segments/new", role: "EDITOR" },
  { label: "Create a template", to: "/p/$project/templates/new", role: "EDITOR" },
  { label: "Create a layout", to: "/p/$project/templates/layouts", role: "EDITOR" },
  { label: "Create a campaign", to: "/p/$project/campaigns", role: "EDITOR" },
  { label: "Suppress an address", to: "/p/$project/suppressions", role: "EDITOR" },
  { label: "Add a domain", to: "/p/$project/domains", role: "ADMIN" },
  { label: "Create a webhook", to: "/p/$project/webhooks", role: "ADMIN" },
  { label: "Create an API key", to: "/p/$project/keys", role: "ADMIN" },
  { label: "Invite a person", to: "/p/$project/settings/team", role: "ADMIN" },
];

/** The actions that the user may do in the project; none without a project. */
export const createActionsOf = (project: ProjectSummary | null): CreateAction[] =>
  ACTIONS.filter(({ role }) => hasRole(project, role));
