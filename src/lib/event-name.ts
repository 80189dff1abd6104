/** Event names chosen by callers: trimmed, with at least one visible character. */

import { trimInvisible } from "./trim.ts";

/** Excludes white space, control characters and invisible characters such as U+200B. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

export function isEventName(text: string): boolean {
  return VISIBLE.test(text);
}

/** Returns the form in which a name is stored and compared. */
export function trimmedEventName(text: string): string {
  return trimInvisible(text);
}

/** Whether the text is a name, or a prefix of names followed by `*`; `*` alone means all events. */
export function isEventPattern(text: string): boolean {
  const pattern = trimmedEventName(text);
  const star = pattern.indexOf("*");
  return isEventName(pattern) && (star === -1 || star === pattern.length - 1);
}
