/** The life of a campaign (docs/interface.md#campaigns): which action is possible in which state. Pure. */

import type { CampaignStatus } from "../../db/schema/campaigns.ts";
import { AppError } from "../../lib/errors.ts";

/**
 * - send: now. schedule: at a time, or at another one.
 * - start: the scheduled time came. finish: every mail of it has left or will not leave.
 */
export type CampaignAction =
  "edit" | "send" | "schedule" | "start" | "finish" | "pause" | "resume" | "cancel" | "delete";

/** The next state; "same" where the action leaves it; absent where it is not possible. */
const TRANSITIONS: Readonly<
  Record<CampaignStatus, Partial<Record<CampaignAction, CampaignStatus | "same">>>
> = {
  DRAFT: { edit: "same", send: "SENDING", schedule: "SCHEDULED", delete: "same" },
  SCHEDULED: {
    edit: "same",
    send: "SENDING",
    schedule: "SCHEDULED",
    start: "SENDING",
    cancel: "CANCELLED",
  },
  SENDING: { pause: "PAUSED", cancel: "CANCELLED", finish: "SENT" },
  PAUSED: { resume: "SENDING", cancel: "CANCELLED" },
  SENT: {},
  CANCELLED: { delete: "same" },
};

/** The state after `action`; 409 INVALID_STATE where it is not possible. */
export function nextStatus(status: CampaignStatus, action: CampaignAction): CampaignStatus {
  const next = TRANSITIONS[status][action];
  if (next === undefined) throw invalidState(status, action);
  return next === "same" ? status : next;
}

function invalidState(status: CampaignStatus, action: CampaignAction): AppError {
  const possible = Object.keys(TRANSITIONS[status]).filter(
    (name) => name !== "start" && name !== "finish",
  );
  const choices = possible.length === 0 ? "nothing" : possible.join(", ");
  return new AppError(409, "INVALID_STATE", `A campaign that is ${status} cannot: ${action}.`, {
    suggestion: `Possible now: ${choices}.`,
  });
}
