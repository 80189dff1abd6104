/** The module of projects: their settings, for users who are signed in. */

import type { Module } from "../module.ts";
import { projectListRoutes, projectRoutes } from "./routes.ts";

export function createProjectModule(deps: Parameters<typeof projectListRoutes>[0]): Module {
  return { name: "projects", routes: [projectListRoutes(deps), projectRoutes(deps)] };
}
