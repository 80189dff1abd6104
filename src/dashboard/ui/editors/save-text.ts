/** The words for what became of the changes in an editor. */

import { ApiError, NO_RESPONSE } from "../../api.ts";
import { errorText } from "../error-text.ts";
import type { AutosaveState } from "./autosave.ts";
import { placeOf } from "./fault-place.ts";

const clockTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

type State = Pick<AutosaveState<unknown>, "status" | "savedAtMs" | "error" | "isKept">;

/** `labels` are the words of the page for the fields of the interface. */
export function saveText(state: State, labels: Readonly<Record<string, string>> = {}): string {
  const { status, savedAtMs, error, isKept } = state;
  switch (status) {
    case "SAVED":
      return savedAtMs === null ? "Saved" : `Saved ${clockTime.format(savedAtMs)}`;
    case "CHANGED":
      return "Unsaved changes";
    case "SAVING":
      return "Saving…";
    case "REFUSED":
      return `Not saved: ${reasonOf(error, labels)}`;
    case "CONFLICT":
      return "Not saved: changed by somebody else";
    case "WAITING":
      return isKept
        ? `Not saved yet: ${waitReason(error)}. Kept in this browser.`
        : `Not saved yet: ${waitReason(error)}. Keep this tab open.`;
  }
}

const waitReason = (error: unknown): string =>
  error instanceof ApiError && error.status === NO_RESPONSE
    ? "the server cannot be reached"
    : withoutStop(errorText(error));

/** The first fault of a refused value, with the word of the page for its field. */
function reasonOf(error: unknown, labels: Readonly<Record<string, string>>): string {
  const [first] = error instanceof ApiError ? error.errors : [];
  if (first === undefined) return withoutStop(errorText(error));
  const { field, message } = first;
  const label = labels[field] ?? field;
  const place = placeOf(message);
  // The messages of the interface are predicates, such as `is required`.
  if (place === null) return `${label} ${message}`;
  return `${label}, line ${place.line}: ${place.message}`;
}

const withoutStop = (text: string): string => text.replace(/\.$/, "");
