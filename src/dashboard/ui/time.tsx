import { Tooltip } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { plannedTime, shortPlannedTime } from "./planned-time.ts";
import { onServerTimeChange, serverNow } from "../server-clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** The meaning of the time: an event happened then, a state has lasted since then, or work is due then. */
type Phrase = "past" | "since" | "due";
/** The words for a time that differs from now by less than a minute. */
const NOW_WORDS: Readonly<Record<Phrase, string>> = {
  past: "just now",
  since: "a moment ago",
  due: "in a moment",
};
const TICK_MS = 30_000;

const exact = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
});
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "always", style: "narrow" });

const listeners = new Set<() => void>();
let nowMs = serverNow();

function renew(): void {
  nowMs = serverNow();
  for (const listener of listeners) listener();
}
setInterval(renew, TICK_MS);
onServerTimeChange(renew);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The present time of the server, renewed every 30 seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => nowMs);

/**
 * A time relative to now, such as "5 min. ago"; hover and focus show the exact time and its zone. In
 * table cells `isPlain` uses the title of the element, so that rows have no further tab stops.
 */
export function Time(props: { at: string | number | null; isPlain?: boolean; as?: Phrase }) {
  const { at, isPlain = false, as = "past" } = props;
  const now = useNow();
  if (at === null) return <span className="muted">–</span>;
  const time = new Date(at);
  const full = exactTime(time);
  const text = relativeTime(time, now, as);
  if (isPlain) {
    return (
      <time dateTime={time.toISOString()} title={full}>
        {text}
      </time>
    );
  }
  return (
    <Tooltip label={full} events={{ hover: true, focus: true, touch: true }}>
      <button type="button" className="plain-button">
        <time dateTime={time.toISOString()}>{text}</time>
      </button>
    </Tooltip>
  );
}

/**
 * The time for which something is planned, with its zone: a day alone would hide the hour. In table
 * cells `isPlain` shows it without year and zone, which are in the title of the element.
 */
export function PlannedTime(props: { at: string | number | null; isPlain?: boolean }) {
  const { at, isPlain = false } = props;
  if (at === null) return <span className="muted">–</span>;
  const time = new Date(at);
  const full = plannedTime(time);
  return (
    <time dateTime={time.toISOString()} title={isPlain ? full : undefined}>
      {isPlain ? shortPlannedTime(time) : full}
    </time>
  );
}

/** "22 Nov 2026, 16:04:09 (Europe/Berlin)". */
export const exactTime = (time: Date): string => `${exact.format(time)} (${zone})`;

/** "just now", "5 min. ago", "in 2 hr.", "3 Nov", "3 Nov 2025". */
export function relativeTime(time: Date, now: number, as: Phrase = "past"): string {
  const deltaMs = time.getTime() - now;
  const size = Math.abs(deltaMs);
  if (size < MINUTE_MS) return NOW_WORDS[as];
  if (size < HOUR_MS) return relative.format(Math.trunc(deltaMs / MINUTE_MS), "minute");
  if (size < DAY_MS) return relative.format(Math.trunc(deltaMs / HOUR_MS), "hour");
  if (size < 7 * DAY_MS) return relative.format(Math.trunc(deltaMs / DAY_MS), "day");
  const isThisYear = time.getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? day : date).format(time);
}
