/** The module of the installation: its state (state.ts) and its checks (checks.ts). */

import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Admission } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Dispatcher } from "../../outbox/dispatcher.ts";
import type { Module } from "../module.ts";
import { createSystemChecks } from "./checks.ts";
import type { System } from "./model.ts";
import { systemRoutes } from "./routes.ts";
import { createSystemState } from "./state.ts";

export function createSystemModule(deps: {
  admission: Admission;
  clock: Clock;
  config: Config;
  db: Db;
  dispatcher: Dispatcher;
  folder: string | null;
  log: Log;
  /** Checks everything that delivery depends on. */
  runChecks: () => Promise<System["checks"]["findings"]>;
  url: string;
}): Module {
  const readState = createSystemState(deps);
  const readChecks = createSystemChecks({ ...deps, run: deps.runChecks });
  return {
    name: "system",
    routes: [
      systemRoutes({
        admission: deps.admission,
        read: async () => ({ ...readState(), checks: await readChecks() }),
      }),
    ],
  };
}
