/** The module of saved views: its routes, and the deletion of the views of removed members. */

import type { Db } from "../../db/open.ts";
import type { Admission } from "../../http/admission.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Accounts } from "../accounts/service.ts";
import type { Module } from "../module.ts";
import { viewRoutes } from "./routes.ts";
import { createSavedViews } from "./service.ts";

export function createViewModule(deps: {
  accounts: Pick<Accounts, "members">;
  admission: Admission;
  clock: Clock;
  db: Db;
  listPage: ListPage;
}): Module {
  const views = createSavedViews(deps);
  deps.accounts.members.onRemove(views.forget);
  return { name: "views", routes: [viewRoutes({ ...deps, views })] };
}
