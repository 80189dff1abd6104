/**
 * Campaigns that each contact gets at the same local time. The clocks of the contacts show it within 26
 * hours: sending starts when it has come in the first zone, and the mail of each contact becomes due
 * when it has come in the zone of the contact.
 */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { FURTHEST_AHEAD_MS, momentOf, wallTime } from "../../lib/wall-clock.ts";
import type { CampaignRow } from "./present.ts";

/** The time zone of a campaign whose mails leave at the local time of each contact. */
export const RECIPIENT_ZONE = "RECIPIENT";
/** A campaign does not start earlier after it was scheduled, so that this can be undone. */
const UNDO_MS = 15_000;

type Schedule = Pick<CampaignRow, "scheduledAt" | "timeZone" | "fallbackZone">;
type DueGroup = { dueAt: number; contactSeqs: readonly number[] };

/** The local time of the mails; null if they leave at one moment. */
function localTime({ scheduledAt, timeZone, fallbackZone }: Schedule): number | null {
  if (timeZone !== RECIPIENT_ZONE || scheduledAt === null) return null;
  return wallTime(scheduledAt, fallbackZone ?? "UTC");
}

/** The time at which sending starts; null if that is `scheduledAt`. */
export function startOf(schedule: Schedule, now: number): number | null {
  const local = localTime(schedule);
  if (local === null || schedule.scheduledAt === null) return null;
  return Math.min(schedule.scheduledAt, Math.max(now + UNDO_MS, local - FURTHEST_AHEAD_MS));
}

// The names that other services and browsers use for the key.
const findZones = statement<{ seq: number; zone: string | number | null }, [string]>(`
  SELECT contacts.seq, coalesce(contacts.data ->> '$.timezone', contacts.data ->> '$.timeZone',
                                contacts.data ->> '$.time_zone') AS zone
  FROM json_each(?) AS asked CROSS JOIN contacts ON contacts.seq = asked.value`);

/** The contacts by the time at which their mails are due. */
export function dueGroups(
  app: App,
  campaign: CampaignRow,
  contactSeqs: readonly number[],
): DueGroup[] {
  const now = app.clock.now();
  const local = localTime(campaign);
  if (local === null) return [{ dueAt: now, contactSeqs }];
  const otherwise = campaign.scheduledAt ?? now;
  const groups = new Map<number, number[]>();
  for (const { seq, zone } of findZones(app).all(JSON.stringify(contactSeqs))) {
    const moment = typeof zone === "string" ? momentOf(local, zone) : null;
    // A zone in which the time is over gets its mails at once.
    const dueAt = Math.max(now, moment ?? otherwise);
    const group = groups.get(dueAt);
    if (group === undefined) groups.set(dueAt, [seq]);
    else group.push(seq);
  }
  return [...groups].map(([dueAt, seqs]) => ({ dueAt, contactSeqs: seqs }));
}
