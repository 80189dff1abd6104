/** The module of suppressions: addresses of a project that get no mail. */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Module } from "../module.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { createSuppressionList } from "./list.ts";
import { suppressionRoutes } from "./routes.ts";
import type { Suppressions } from "./service.ts";

export function createSuppressionModule(deps: {
  admission: Admission;
  clock: Clock;
  listPage: ListPage;
  db: Db;
  scheduler: FairScheduler;
  suppressions: Suppressions;
  writer: Writer;
}): Module {
  const list = createSuppressionList(deps);
  const { clock, suppressions, writer } = deps;
  return {
    name: "suppressions",
    routes: [suppressionRoutes({ ...deps, list })],
    recurring: [
      {
        name: "suppressions",
        pattern: "0 * * * * *",
        run: () => writer.write(suppressions.removeExpired(clock.now())),
      },
    ],
  };
}
