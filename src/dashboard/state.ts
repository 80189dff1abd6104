/** The answer of GET /app/api/state: the signed-in user and the facts of the installation. */

import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { api } from "./api.ts";

export type Role = "VIEWER" | "EDITOR" | "ADMIN" | "OWNER";

export type User = {
  id: string;
  email: string;
  name: string;
  isOwner: boolean;
  /** Until when the password needs not be entered again; null if it must be. */
  confirmedUntil: string | null;
};

export type ProjectSummary = { id: string; name: string; role: Role; isEnabled: boolean };

/** The relay that mail leaves through, in sentences. */
export type Relay = {
  name: string;
  /** The relay signs mail, and this server does not. */
  isSigning: boolean;
  signing: string;
  limit: string;
  reports: string;
  /** The needs of its account before the first mail, and its DNS records; "" if they are not known. */
  needs: string;
  records: string;
};

export type AppState = {
  needsOwner: boolean;
  user: User | null;
  /** The step that the sign-in of this browser waits for; null if there is none. */
  pending: { email: string; name: string; step: "SECOND_FACTOR" | "ENROLMENT" } | null;
  projects: ProjectSummary[];
  /** True if mail is captured instead of sent, so that there is an inbox. */
  capture: boolean;
  /** The server is `mailstead dev`. */
  dev: boolean;
  version: string;
  transport: string;
  /** Null without a relay, and before the sign-in. */
  relay: Relay | null;
  /** True if the domain of a sender must be verified. */
  requiresVerifiedDomain: boolean;
  /** The name to which MX records lead; null if the server receives no mail, and before the sign-in. */
  receivesAs: string | null;
  url: string;
  smtp: { host: string; port: number } | null;
};

export const stateQuery = queryOptions({
  queryKey: ["state"],
  queryFn: ({ signal }) => api.get<AppState>("/app/api/state", { project: null, signal }),
  staleTime: 30_000,
});

export const useAppState = (): AppState => useSuspenseQuery(stateQuery).data;

/** The project of the page; null on pages without one. */
export function useProject(): ProjectSummary | null {
  const { project: id } = useParams({ strict: false });
  const { data } = useQuery(stateQuery);
  return data?.projects.find((project) => project.id === id) ?? null;
}

const RANKS: Readonly<Record<Role, number>> = { VIEWER: 0, EDITOR: 1, ADMIN: 2, OWNER: 3 };

/** True if the user has at least this role in the project of the page. */
export function useMay(role: Role): boolean {
  return hasRole(useProject(), role);
}

/** An owner has the role OWNER in every project. */
export const hasRole = (project: ProjectSummary | null, role: Role): boolean =>
  project !== null && RANKS[project.role] >= RANKS[role];

const LAST_PROJECT = "mailstead-project";

export const rememberProject = (id: string): void => localStorage.setItem(LAST_PROJECT, id);

/** The project that was open last, or the first one; null if the user has none. */
export function startProject(projects: readonly ProjectSummary[]): ProjectSummary | null {
  const last = localStorage.getItem(LAST_PROJECT);
  return projects.find(({ id }) => id === last) ?? projects[0] ?? null;
}

/** The project of the side bar: that of the page, or on pages without one the project before. */
export function useNavigationProject(): ProjectSummary | null {
  const project = useProject();
  const { projects } = useAppState();
  return project ?? startProject(projects);
}
