/**
 * When a draft is to be sent, until it is scheduled. The server has no such field of a draft, so the
 * browser keeps the choice.
 */

import { useState } from "react";
import { useAppState } from "../../../state.ts";
import { isRecord } from "../../../ui/is-record.ts";
import { ownZone, timeOfWall, type WallTime, zonedText } from "./zone-time.ts";
import type { SectionState } from "./sections.ts";

/** LOCAL: each contact gets the mail when its own clock shows the time. */
export type When = { kind: "NOW" | "AT" | "LOCAL"; wall: WallTime; zone: string };

const PREFIX = "mailstead-when";

export function useWhen(id: string) {
  const { user } = useAppState();
  const key = `${PREFIX}:${user?.id ?? ""}:${id}`;
  const [when, setWhen] = useState(() => readWhen(localStorage.getItem(key)));
  return {
    when,
    change(next: Partial<When>): void {
      const changed = { ...when, ...next };
      setWhen(changed);
      try {
        localStorage.setItem(key, JSON.stringify(changed));
      } catch (error) {
        // The storage is full; the choice is still that of the page.
        if (!(error instanceof DOMException)) throw error;
      }
    },
  };
}

export function readWhen(text: string | null): When {
  const unset: When = { kind: "NOW", wall: "", zone: ownZone() };
  if (text === null) return unset;
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) return unset;
  const { kind, wall, zone } = value;
  if (typeof wall !== "string" || typeof zone !== "string") return unset;
  return { kind: kind === "AT" || kind === "LOCAL" ? kind : "NOW", wall, zone };
}

/** Milliseconds since the epoch; null for now, and for a time that is not complete. */
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
