/** The time at which a draft is to be sent. Pure. */

import { isRecord } from "../../../ui/is-record.ts";
import type { SectionState } from "./sections.ts";
import { ownZone, timeOfWall, type WallTime, zonedText } from "./zone-time.ts";

/** LOCAL: each contact gets the mail when its own clock shows the time. */
export type When = { kind: "NOW" | "AT" | "LOCAL"; wall: WallTime; zone: string };

/** Reads the choice that the browser kept; without one, the campaign is for now. */
export function readWhen(text: string | null): When {
  const unset: When = { kind: "NOW", wall: "", zone: ownZone() };
  if (text === null) return unset;
  const value = parseJson(text);
  if (!isRecord(value)) return unset;
  const { kind, wall, zone } = value;
  if (typeof wall !== "string" || typeof zone !== "string") return unset;
  return { kind: kind === "AT" || kind === "LOCAL" ? kind : "NOW", wall, zone };
}

/** The time in milliseconds since the epoch; null for now, and for a time that is not complete. */
export const plannedMs = ({ kind, wall, zone }: When): number | null =>
  kind === "NOW" ? null : timeOfWall(wall, zone);

const localTime = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});

const localText = (wall: WallTime): string =>
  `${localTime.format(Date.parse(`${wall}:00Z`))}, each contact's time`;

export function whenState(when: When, nowMs: number): SectionState {
  if (when.kind === "NOW") return { status: "DONE", text: "As soon as you send it" };
  const at = plannedMs(when);
  if (at === null) return { status: "OPEN", text: "Choose a time" };
  if (at <= nowMs) return { status: "OPEN", text: "This time has passed" };
  const text = when.kind === "AT" ? zonedText(at, when.zone) : localText(when.wall);
  return { status: "DONE", text };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
