/** What a rendered subject may be (interface decision B). */

import type { FieldErrorCode } from "../lib/errors.ts";
import { isHeaderText } from "./headers.ts";

const LONGEST_SUBJECT = 998;

/** Why no mail can have this subject; null where one can. */
export function subjectFault(subject: string): { code: FieldErrorCode; message: string } | null {
  if (!isHeaderText(subject)) {
    const message = "The rendered subject has a line break or another control character.";
    return { code: "invalid_format", message };
  }
  if (subject.length === 0) return { code: "too_small", message: "It renders to nothing." };
  if (subject.length > LONGEST_SUBJECT) {
    const message = `It renders to more than ${LONGEST_SUBJECT} characters.`;
    return { code: "too_big", message };
  }
  return null;
}
