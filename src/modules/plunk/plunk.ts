/**
 * The interface of Plunk, below `/plunk`, so that its clients work after a change of their base URL.
 * Each route maps a request onto the functions of a noun, and shows the result in Plunk's shape; no
 * route has rules of its own. docs/migrating-from-plunk.md has the table of all routes: what Plunk's
 * reference answers, what is answered here, and why.
 *
 * - `/plunk/v1/send`, `/plunk/v1/track` and `/plunk/v1/verify` are those of emails/routes.ts, track.ts
 *   and verification/verification.ts at a second path.
 * - contacts.ts, templates.ts, campaigns.ts, segments.ts, workflows.ts, events.ts and domains.ts have
 *   the routes of the current reference for these nouns.
 * - v1-contacts.ts has the routes of the first version for contacts, which older clients call.
 *
 * conditions.ts, errors.ts, pages.ts and shapes.ts translate what the routes share. Errors have the
 * shape of ours, which is that of Plunk; shapes.ts has the older one of Plunk.
 */

import type { Noun } from "../module.ts";
import { plunkCampaignRoutes } from "./campaigns.ts";
import { plunkContactRoutes } from "./contacts.ts";
import { plunkDomainRoutes } from "./domains.ts";
import { plunkEventRoutes } from "./events.ts";
import { plunkSegmentRoutes } from "./segments.ts";
import { plunkTemplateRoutes } from "./templates.ts";
import { plunkV1ContactRoutes } from "./v1-contacts.ts";
import { plunkWorkflowRoutes } from "./workflows.ts";

export const plunkNoun: Noun = {
  name: "interface of Plunk",
  routes: (app, admission) => [
    ...plunkContactRoutes(app, admission),
    plunkTemplateRoutes(app, admission),
    plunkCampaignRoutes(app, admission),
    plunkSegmentRoutes(app, admission),
    plunkWorkflowRoutes(app, admission),
    plunkEventRoutes(app, admission),
    plunkDomainRoutes(app, admission),
    plunkV1ContactRoutes(app, admission),
  ],
};
