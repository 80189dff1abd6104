/** What a rendered subject may be (docs/interface.md#send). */

import type { FieldErrorCode } from "../lib/errors.ts";
import { isHeaderText } from "../protocols/mime/headers.ts";

const LONGEST_SUBJECT = 998;

/** Why no mail can have this subject, as a predicate of the field `subject`; null where one can. */
export function subjectFault(subject: string): { code: FieldErrorCode; message: string } | null {
  if (!isHeaderText(subject)) {
    const message = "contains a line break or another control character once it is rendered";
    return { code: "invalid_format", message };
  }
  if (subject.length === 0) return { code: "too_small", message: "is empty once it is rendered" };
  if (subject.length > LONGEST_SUBJECT) {
    const message = `is longer than ${LONGEST_SUBJECT} characters once it is rendered`;
    return { code: "too_big", message };
  }
  return null;
}
