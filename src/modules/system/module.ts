/**
 * The module of the installation: its state (state.ts) and its checks (checks.ts), before which stands
 * that the relay refuses our account, while it does.
 */

import type { Config } from "../../config/settings.ts";
import type { Db } from "../../db/open.ts";
import type { Admission } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Dispatcher } from "../../outbox/dispatcher.ts";
import type { Hold } from "../../outbox/outcome.ts";
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
  /** Why no mail leaves; null if mail leaves. */
  findHold: () => Hold | null;
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
        async read() {
          const checks = await readChecks();
          const findings = [...findingsOfHold(deps.findHold()), ...checks.findings];
          return { ...readState(), checks: { ...checks, findings } };
        },
      }),
    ],
  };
}

/** The checks themselves report a relay that cannot be reached. */
function findingsOfHold(hold: Hold | null): System["checks"]["findings"] {
  if (hold?.at !== "account") return [];
  return [
    {
      level: "fail",
      what: `relay ${hold.name}`,
      finding: `refuses the mail of this account, so all mail waits: ${hold.reason}`,
      fix: "look at the quota and the state of the account at the relay",
    },
  ];
}
