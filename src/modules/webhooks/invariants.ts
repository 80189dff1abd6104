/** The rules that webhooks, their deliveries and the events of the deliveries obey. */

import type { Invariant } from "../../db/invariant.ts";

export const WEBHOOK_INVARIANTS: readonly Invariant[] = [
  {
    name: "webhook-order",
    rule: "A delivery without a next time waits for an earlier one of its contact, or is over.",
    violations: `
      SELECT 'delivery ' || id AS id,
             'PENDING without a next attempt, and no earlier delivery of its contact is PENDING' AS finding
      FROM webhook_deliveries AS waiting
      WHERE status = 'PENDING' AND next_at IS NULL
        AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS holding
                        WHERE holding.webhook_seq = waiting.webhook_seq
                          AND holding.contact_seq = waiting.contact_seq
                          AND holding.is_holding = 1 AND holding.seq < waiting.seq)`,
  },
  {
    name: "webhook-ends",
    rule: "A delivery that is over has no next time and holds no other one.",
    violations: `
      SELECT 'delivery ' || id AS id,
             status || iif(is_holding, ' and holding', ' with a next time') AS finding
      FROM webhook_deliveries
      WHERE status <> 'PENDING' AND (next_at IS NOT NULL OR is_holding = 1)`,
  },
  {
    name: "webhook-project",
    rule: "A webhook gets only events of its project.",
    violations: `
      SELECT 'delivery ' || deliveries.id AS id, 'its event belongs to another project' AS finding
      FROM webhook_deliveries AS deliveries
      JOIN webhooks ON webhooks.seq = deliveries.webhook_seq
      JOIN events ON events.seq = deliveries.event_seq
      WHERE events.project_seq <> webhooks.project_seq`,
  },
];
