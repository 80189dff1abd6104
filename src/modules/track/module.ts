/** The module of `POST /v1/track`: it records events of contacts, also from browsers. */

import type { EventLog } from "../../events/log.ts";
import type { Admission } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Module } from "../module.ts";
import { trackRoutes } from "./routes.ts";

export function createTrackModule(deps: {
  admission: Admission;
  clock: Clock;
  contacts: Contacts;
  events: EventLog;
}): Module {
  return { name: "track", routes: [trackRoutes(deps)] };
}
