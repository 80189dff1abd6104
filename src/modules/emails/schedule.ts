/**
 * Mail that is sent later: its time can be changed and the mail can be cancelled until it leaves. Both are
 * conditional on its state in the same statement, and the lane leases mail in a change as well: so a mail
 * is either leased or changed, and never sent after it was cancelled.
 */

import { type Static, Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import { described, named } from "../../http/documented.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input } from "../../http/validation.ts";
import { AppError, type FieldError, fieldError } from "../../lib/errors.ts";
import { cancellation } from "../../outbox/cancel.ts";
import { rescheduleMail } from "../../outbox/reschedule.ts";
import type { Email } from "./record-model.ts";
import type { EmailRecords } from "./records.ts";

const DAY_MS = 24 * 60 * 60_000;
/** A mail that waits longer than bodies are usually kept would be in the way of a purge. */
const MAX_AHEAD_DAYS = 30;

export const ScheduledTime = Type.String({ format: "date-time" });

export const RescheduleInput = named(
  "RescheduleInput",
  described(Input({ scheduledAt: ScheduledTime }), {
    scheduledAt: "When it is to be sent, at most 30 days ahead",
  }),
  { description: "Another time for a mail", example: { scheduledAt: EXAMPLE.updatedAt } },
);
type RescheduleInput = Static<typeof RescheduleInput>;

/** The time in milliseconds; undefined for a mail that is sent at once. Throws 422 for a wrong time. */
export function scheduledTime(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  const fault = scheduleFault(at, now);
  if (fault !== null) throw fieldError("scheduledAt", fault.code, fault.message);
  return at;
}

/** The reason why a mail cannot be scheduled for a time; null if it can. */
export function scheduleFault(
  at: number,
  now: number,
): Pick<FieldError, "code" | "message"> | null {
  if (at <= now) return { code: "too_small", message: "must be in the future" };
  if (at <= now + MAX_AHEAD_DAYS * DAY_MS) return null;
  return { code: "too_big", message: `must be at most ${MAX_AHEAD_DAYS} days away` };
}

/** Part of a change: gives a mail another time. Throws 404 without it, 409 if it is too late. */
export function rescheduleEmail(
  app: App,
  { records, projectSeq, id }: Target,
  { scheduledAt }: RescheduleInput,
): Email {
  const { status, scheduledAt: known } = records.get(projectSeq, id);
  const at = scheduledTime(scheduledAt, app.clock.now()) ?? 0;
  if (known === null) throw tooLate("The mail was not scheduled.");
  if (!rescheduleMail(app, projectSeq, id, at)) {
    throw status === "QUEUED" ? attempted() : tooLate(`The mail is ${status} already.`);
  }
  return records.get(projectSeq, id);
}

/** Part of a change: cancels a mail. Throws 404 without it, 409 if it is too late. */
export function cancelEmail(app: App, { records, projectSeq, id }: Target): Email {
  const { status } = records.get(projectSeq, id);
  const isCancelled = cancellation(app).ofOne(projectSeq, id, "It was cancelled by a request.");
  if (!isCancelled) throw tooLate(`The mail is ${status} already.`);
  return records.get(projectSeq, id);
}

type Target = { records: Pick<EmailRecords, "get">; projectSeq: number; id: string };

/** A mail whose first attempt was deferred is in the queue again. */
const attempted = () =>
  new AppError(409, "CONFLICT", "The mail left at its time, and waits for another attempt.", {
    suggestion: "Its time cannot be changed any more; it can still be cancelled.",
  });

function tooLate(message: string): AppError {
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Only mail that waits can be changed or cancelled; see its status.",
  });
}
