/** The search parameters of the page of users. */

import type { Filters } from "../../ui/filter-bar.tsx";

/** `user` is the id of the user in the drawer; the others are filters. */
const KEYS = ["q", "role", "state", "factor", "user"] as const;

export type UserSearch = { [Key in (typeof KEYS)[number]]?: string };

/** Parameters with other names, and those without a text, are left out. */
export function readUserSearch(given: Readonly<Record<string, unknown>> | Filters): UserSearch {
  const search: UserSearch = {};
  for (const key of KEYS) {
    const value = given[key];
    if (typeof value === "string" && value !== "") search[key] = value;
  }
  return search;
}

/** A user of the installation, as owners see it. */
export type InstallationUser = {
  id: string;
  email: string;
  name: string;
  isOwner: boolean;
  isDisabled: boolean;
  /** The owner of the address has proven it. */
  isProven: boolean;
  hasPassword: boolean;
  hasSecondFactor: boolean;
  /** Sessions that have not ended. */
  sessions: number;
  createdAt: string;
  lastSignInAt: string | null;
  lastSeenAt: string | null;
  projects: { id: string; name: string; role: string }[];
};
