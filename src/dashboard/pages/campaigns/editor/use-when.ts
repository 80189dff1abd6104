/**
 * When a draft is to be sent, until it is scheduled. The server has no such field of a draft, so the
 * browser keeps the choice.
 */

import { useState } from "react";
import { useAppState } from "../../../state.ts";
import { isRecord } from "../../../ui/is-record.ts";
import { ownZone, timeOfWall, type WallTime, zonedText } from "./zone-time.ts";
import type { SectionState } from "./sections.ts";

export type When = { kind: "NOW" | "AT"; wall: WallTime; zone: string };

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
  return { kind: kind === "AT" ? "AT" : "NOW", wall, zone };
}

/** Milliseconds since the epoch; null for now, and for a time that is not complete. */
export const plannedMs = ({ kind, wall, zone }: When): number | null =>
  kind === "NOW" ? null : timeOfWall(wall, zone);

export function whenState(when: When, nowMs: number): SectionState {
  if (when.kind === "NOW") return { status: "DONE", text: "As soon as you send it" };
  const at = plannedMs(when);
  if (at === null) return { status: "OPEN", text: "Choose a time" };
  if (at <= nowMs) return { status: "OPEN", text: "This time has passed" };
  return { status: "DONE", text: zonedText(at, when.zone) };
}
