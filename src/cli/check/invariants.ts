/** The invariants of all tables, in the order in which they are checked. */

import type { Invariant } from "../../db/invariant.ts";
import { CAMPAIGN_INVARIANTS } from "../../modules/campaigns/invariants.ts";
import { CONTACT_INVARIANTS } from "../../modules/contacts/invariants.ts";
import { EMAIL_INVARIANTS } from "../../outbox/invariants.ts";
import { EVENT_INVARIANTS } from "../../events/invariants.ts";
import { FORM_INVARIANTS } from "../../modules/forms/invariants.ts";
import { SEGMENT_INVARIANTS } from "../../modules/segments/invariants.ts";
import { STATS_INVARIANTS } from "../../modules/stats/invariants.ts";
import { TEMPLATE_INVARIANTS } from "../../modules/templates/invariants.ts";
import { WEBHOOK_INVARIANTS } from "../../modules/webhooks/invariants.ts";
import { CHOICE_INVARIANTS } from "./choices.ts";
import { WORKFLOW_INVARIANTS } from "../../modules/workflows/invariants.ts";

export const INVARIANTS: readonly Invariant[] = [
  ...CONTACT_INVARIANTS,
  ...EMAIL_INVARIANTS,
  ...EVENT_INVARIANTS,
  ...CAMPAIGN_INVARIANTS,
  ...STATS_INVARIANTS,
  ...SEGMENT_INVARIANTS,
  ...FORM_INVARIANTS,
  ...TEMPLATE_INVARIANTS,
  ...WEBHOOK_INVARIANTS,
  ...WORKFLOW_INVARIANTS,
  ...CHOICE_INVARIANTS,
];
