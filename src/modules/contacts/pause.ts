/**
 * A pause: a contact that gets no marketing mail until a time that it chose. It ends by itself; a
 * campaign that is sent during the pause is not sent to it later.
 */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { eventLog } from "../../events/log.ts";
import { isoTime } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
import type { ContactRow } from "./service.ts";

/** The longest pause. People who want no mail for longer unsubscribe. */
const MAX_PAUSE_MS = 366 * 24 * 60 * 60_000;

/** The cause that began or ended a pause. */
type PauseCause = {
  source: { type: string; id?: string | null };
  /** The mail whose link was used. */
  emailSeq?: number;
};

const store = statement<null, [number | null, number, number]>(
  "UPDATE contacts SET paused_until = ?, updated_at = ? WHERE seq = +?",
);

/** The end of a pause that a request names, in milliseconds. Throws 422 for the past or a far future. */
export function pauseEnd(text: string, now: number, field = "pausedUntil"): number {
  const until = Date.parse(text);
  if (Number.isNaN(until)) throw fieldError(field, "invalid_format", "must be a time in ISO 8601");
  if (until <= now) throw fieldError(field, "invalid_value", "must be in the future");
  if (until > now + MAX_PAUSE_MS) {
    const message = "must be at most 366 days away; unsubscribe the contact for longer";
    throw fieldError(field, "invalid_value", message);
  }
  return until;
}

/** Part of a change: pauses marketing mail until a time; null ends the pause. */
export function setPause(
  app: App,
  contact: ContactRow,
  until: number | null,
  { source, emailSeq }: PauseCause,
): ContactRow {
  const now = app.clock.now();
  const before = pausedUntilNow(contact, now);
  if (before === until) return contact;
  store(app).run(until, now, contact.seq);
  eventLog(app).record({
    projectSeq: contact.projectSeq,
    name: until === null ? "contact.resumed" : "contact.paused",
    contactSeq: contact.seq,
    ...(emailSeq === undefined ? {} : { emailSeq }),
    data: {
      source: source.type,
      ...(until === null ? {} : { pausedUntil: isoTime(until) }),
    },
    at: now,
  });
  return { ...contact, pausedUntil: until, updatedAt: now };
}

/** Null if the contact is not paused, or not any more. */
export function pausedUntilNow(
  { pausedUntil }: Pick<ContactRow, "pausedUntil">,
  now: number,
): number | null {
  return pausedUntil !== null && pausedUntil > now ? pausedUntil : null;
}
