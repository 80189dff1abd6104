/** The module of bounces: reports of other mail servers about mails that they had accepted. */

import type { Admission } from "../../http/admission.ts";
import type { Bodies } from "../../http/body.ts";
import type { Parser } from "../inboxes/parsing/parser.ts";
import type { Module } from "../module.ts";
import { bounceRoutes } from "./routes.ts";
import type { Bounces } from "./service.ts";

export function createBounceModule(deps: {
  admission: Admission;
  bodies: Bodies;
  bounces: Bounces;
  reportParser: Pick<Parser, "close">;
}): Module {
  return {
    name: "bounces",
    routes: [bounceRoutes(deps)],
    stop: () => deps.reportParser.close(),
  };
}
