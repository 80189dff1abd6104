/** The root of the routes, and the pages that need no session. */

import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute } from "@tanstack/react-router";
import { EntryFrame } from "./pages/entry/frame.tsx";
import { LostPage } from "./pages/entry/lost.tsx";
import { lazyPage } from "./lazy.tsx";
import { LoadError } from "./ui/load-error.tsx";
import { Root } from "./root.tsx";
import { stateQuery } from "./state.ts";

export const rootRoute = createRootRouteWithContext<{ client: QueryClient }>()({
  component: Root,
  errorComponent: LoadError,
  notFoundComponent: LostPage,
});

/** Pages that need no session. */
const entryRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "entry",
  component: EntryFrame,
  beforeLoad: ({ context }) => context.client.ensureQueryData(stateQuery),
});

/** The page to open after the sign-in. */
type SignInSearch = { next?: string };

const validateSearch = ({ next }: Record<string, unknown>): SignInSearch =>
  typeof next === "string" ? { next } : {};

const loginRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: "/login",
  validateSearch,
  component: lazyPage(() => import("./pages/entry/login.tsx"), "LoginPage"),
});

const secondStepRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: "/second-step",
  validateSearch,
  component: lazyPage(() => import("./pages/entry/second-step.tsx"), "SecondStepPage"),
});

const setupRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: "/setup",
  component: lazyPage(() => import("./pages/entry/setup.tsx"), "SetupPage"),
});

const linkRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: "/link",
  validateSearch,
  component: lazyPage(() => import("./pages/entry/link.tsx"), "LinkPage"),
});

const resetRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: "/reset",
  component: lazyPage(() => import("./pages/entry/reset.tsx"), "ResetPage"),
});

const inviteRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: "/invite",
  component: lazyPage(() => import("./pages/entry/invite.tsx"), "InvitePage"),
});

/** The step of the set-up that the page shows, so that a reload shows it again. */
export type WelcomeSearch = { step?: "domain" | "mail" };

const welcomeRoute = createRoute({
  getParentRoute: () => entryRoute,
  path: "/welcome",
  validateSearch: ({ step }: Record<string, unknown>): WelcomeSearch =>
    step === "domain" || step === "mail" ? { step } : {},
  component: lazyPage(() => import("./pages/entry/welcome.tsx"), "WelcomePage"),
});

export const entryRoutes = entryRoute.addChildren([
  loginRoute,
  secondStepRoute,
  setupRoute,
  linkRoute,
  resetRoute,
  inviteRoute,
  welcomeRoute,
]);
