/** The actions that each status of a campaign permits (docs/interface.md#campaigns). Pure. */

import type { CampaignStatus } from "../../db/schema/campaigns.ts";
import { AppError } from "../../lib/errors.ts";

/**
 * - send: send now.
 * - schedule: set or change the time to send at.
 * - unschedule: make it a draft again.
 * - start: the scheduled time has come.
 * - finish: no mail of the campaign waits to be sent any longer.
 */
export type CampaignAction =
  | "edit"
  | "send"
  | "schedule"
  | "unschedule"
  | "start"
  | "finish"
  | "pause"
  | "resume"
  | "cancel"
  | "delete";

/** The status after an action; "same" if it does not change; absent if the action is refused. */
const TRANSITIONS: Readonly<
  Record<CampaignStatus, Partial<Record<CampaignAction, CampaignStatus | "same">>>
> = {
  DRAFT: { edit: "same", send: "SENDING", schedule: "SCHEDULED", delete: "same" },
  SCHEDULED: {
    edit: "same",
    send: "SENDING",
    schedule: "SCHEDULED",
    unschedule: "DRAFT",
    start: "SENDING",
    cancel: "CANCELLED",
  },
  SENDING: { pause: "PAUSED", cancel: "CANCELLED", finish: "SENT" },
  PAUSED: { resume: "SENDING", cancel: "CANCELLED" },
  SENT: {},
  CANCELLED: { delete: "same" },
};

/** The status after `action`; throws 409 INVALID_STATE if the action is not possible. */
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
