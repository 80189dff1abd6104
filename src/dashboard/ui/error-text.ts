/** Texts of pages for refused requests. The texts of the interface are for programs as well. */

import { ApiError, NOT_FOUND, SESSION_MISSING } from "../api.ts";

/** Words of the interface. A suggestion that has one is for the author of a program. */
const FOR_PROGRAMS =
  /\b(?:API|HTTP|GET|POST|PUT|PATCH|DELETE|Retry-After|requestId|headers?|requests?|errors|ids?)\b|[/…]\w/;

/** The status of a request whose values are refused. */
const INVALID = 422;

/** The code of a change to an object that another user has changed meanwhile. */
const CONFLICT = "REVISION_CONFLICT";

/** The interface names the object: `No such campaign.` Its other 404 answers have other messages. */
const NO_SUCH = /^No such (.+)\.$/;

/** The noun of the object that does not exist; null for another error. */
const missingNoun = (error: unknown): string | null =>
  error instanceof ApiError && error.status === NOT_FOUND
    ? (NO_SUCH.exec(error.message)?.[1] ?? null)
    : null;

/** True if the object was deleted, or never existed. */
export const isMissing = (error: unknown): boolean => missingNoun(error) !== null;

/** True if the dialog for an ended session, which asks for the password, says all there is to say. */
export const isSessionEnd = (error: unknown): boolean =>
  error instanceof ApiError && error.code === SESSION_MISSING;

/** True if the same request may succeed later. */
export const isPassing = (error: unknown): boolean =>
  !isMissing(error) && !(error instanceof ApiError && error.status === INVALID);

/** True if another user has changed the object since the page read it. */
export const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.code === CONFLICT;

export function errorText(error: unknown): string {
  const noun = missingNoun(error);
  if (noun !== null) return `This ${noun} does not exist.`;
  if (isSessionEnd(error)) return "Your session has ended.";
  if (isConflict(error)) return "Somebody else has changed this meanwhile. Nothing was saved.";
  return error instanceof Error ? error.message : String(error);
}

/** The remedy, for a person who sees the page; empty if none is known. */
export function errorHint(error: unknown): string {
  if (isMissing(error)) return "It may have been deleted, or the address is incomplete.";
  if (isConflict(error)) return "Look at the change, and save again to replace it.";
  if (!(error instanceof ApiError) || FOR_PROGRAMS.test(error.suggestion)) return "";
  return error.suggestion;
}

/** The id under which the operator finds a failure of the server in the log; empty for a refusal. */
export const failureId = (error: unknown): string =>
  error instanceof ApiError && error.status >= 500 ? error.requestId : "";
