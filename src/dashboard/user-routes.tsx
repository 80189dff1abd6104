/** The route of all pages for users, and their pages that belong to no project. */

import { createRoute, redirect } from "@tanstack/react-router";
import { rootRoute } from "./entry-routes.tsx";
import { lazyPage } from "./lazy.tsx";
import { readServerSettingsSearch } from "./pages/server-settings/search.ts";
import { readAuditSearch } from "./pages/audit/audit-search.ts";
import { readUserSearch } from "./pages/users/user-search.ts";
import { Shell } from "./shell.tsx";
import { hasRole, startProject, stateQuery } from "./state.ts";

/** Pages for users: others are sent to the sign-in page, which returns them. */
export const userRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "user",
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    const state = await context.client.ensureQueryData(stateQuery);
    if (state.user !== null) return;
    const search = location.href === "/" ? {} : { next: location.href };
    if (state.pending !== null) throw redirect({ to: "/second-step", search });
    if (state.needsOwner) throw redirect({ to: "/setup" });
    throw redirect({ to: "/login", search });
  },
});

export const startRoute = createRoute({
  getParentRoute: () => userRoute,
  path: "/",
  beforeLoad: async ({ context }) => {
    const { projects, dev } = await context.client.ensureQueryData(stateQuery);
    const project = startProject(projects);
    // A developer wants to see the mail that was just sent, which viewers may not read.
    const to = dev && hasRole(project, "EDITOR") ? "/p/$project/inboxes/{-$inbox}" : "/p/$project";
    if (project !== null) throw redirect({ to, params: { project: project.id } });
  },
  component: lazyPage(() => import("./pages/account/no-project.tsx"), "NoProjectPage"),
});

export const accountRoute = createRoute({
  getParentRoute: () => userRoute,
  path: "/account",
  component: lazyPage(() => import("./pages/account/account.tsx"), "AccountPage"),
});

export const systemRoute = createRoute({
  getParentRoute: () => userRoute,
  path: "/admin/system",
  component: lazyPage(() => import("./pages/system/system-page.tsx"), "SystemPage"),
});

export const serverSettingsRoute = createRoute({
  getParentRoute: () => userRoute,
  path: "/admin/settings",
  validateSearch: readServerSettingsSearch,
  component: lazyPage(
    () => import("./pages/server-settings/server-settings-page.tsx"),
    "ServerSettingsPage",
  ),
});

export const usersRoute = createRoute({
  getParentRoute: () => userRoute,
  path: "/admin/users",
  validateSearch: readUserSearch,
  component: lazyPage(() => import("./pages/users/users-page.tsx"), "UsersPage"),
});

export const systemAuditRoute = createRoute({
  getParentRoute: () => userRoute,
  path: "/admin/audit",
  validateSearch: readAuditSearch,
  component: lazyPage(() => import("./pages/system/audit-page.tsx"), "SystemAuditPage"),
});
