/** The request that sends a campaign. Pure. */

import { plannedMs, type When } from "./when.ts";

/** The time in which the sending of a campaign for now can be undone. */
export const UNDO_SECONDS = 15;

export type SendRequest = {
  scheduledFor: string;
  timeZone?: string;
  fallbackTimeZone?: string;
  confirm: number;
};

export function sendBody(when: When, recipients: number, nowMs: number): SendRequest {
  const at = plannedMs(when);
  if (at === null) {
    const scheduledFor = new Date(nowMs + UNDO_SECONDS * 1000).toISOString();
    return { scheduledFor, confirm: recipients };
  }
  const planned = { scheduledFor: new Date(at).toISOString(), confirm: recipients };
  return when.kind === "LOCAL"
    ? { ...planned, timeZone: "RECIPIENT", fallbackTimeZone: when.zone }
    : { ...planned, timeZone: when.zone };
}
