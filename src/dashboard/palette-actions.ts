/** The actions of the command palette, and the pages that the side bar does not have, by role. */

import { PAGE_ACTIONS, type PageAction } from "./page-actions.ts";
import { type AppState, hasRole, type ProjectSummary, type Role } from "./state.ts";

export type PalettePage = { label: string; path: string; role: Role };

/** Pages of a project without an item in the side bar. */
const FURTHER_PAGES: readonly PalettePage[] = [
  { label: "Layouts", path: "/templates/layouts", role: "VIEWER" },
  { label: "Images", path: "/templates/images", role: "VIEWER" },
  { label: "Inbound routes", path: "/received/routes", role: "EDITOR" },
  { label: "Team", path: "/settings/team", role: "ADMIN" },
  { label: "Audit log", path: "/settings/audit", role: "ADMIN" },
];

/** The actions that the user may do in the project; none without a project. */
export const pageActionsOf = (state: AppState, project: ProjectSummary | null): PageAction[] =>
  PAGE_ACTIONS.filter(
    ({ role, needs }) =>
      hasRole(project, role) &&
      (needs !== "INBOX" || state.capture) &&
      (needs !== "OWNER" || state.user?.isOwner === true),
  );

/** The pages without an item in the side bar that the user may open. */
export const furtherPagesOf = (project: ProjectSummary | null): PalettePage[] =>
  FURTHER_PAGES.filter(({ role }) => hasRole(project, role));
