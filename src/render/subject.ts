/** Checks a rendered subject (docs/interface.md#send). */

import type { FieldErrorCode } from "../lib/errors.ts";
import { isHeaderText } from "../protocols/mime/headers.ts";

/** Longest subject, in UTF-16 units. */
const LONGEST_SUBJECT = 998;

/**
 * The error of the field `subject`, worded to follow the field's name; null if the subject is
 * valid.
 */
export function checkSubject(subject: string): { code: FieldErrorCode; message: string } | null {
  // A template of the kind "header" renders no control character, but it may cut a surrogate pair.
  if (!isHeaderText(subject)) {
    const message = "contains half of a character once it is rendered";
    return { code: "invalid_format", message };
  }
  if (subject.length === 0) return { code: "too_small", message: "is empty once it is rendered" };
  if (subject.length > LONGEST_SUBJECT) {
    const message = `is longer than ${LONGEST_SUBJECT} characters once it is rendered`;
    return { code: "too_big", message };
  }
  return null;
}
