/** Event names as callers choose them: trimmed, and never blank. */

/** Neither white space, a control character nor one that a reader does not see, such as U+200B. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

export function isEventName(text: string): boolean {
  return VISIBLE.test(text);
}

/** The form in which a name is stored and compared. */
export function trimmedEventName(text: string): string {
  return text.trim();
}

/** A name, or the beginning of names followed by `*`; `*` alone means every event. */
export function isEventPattern(text: string): boolean {
  const pattern = trimmedEventName(text);
  const star = pattern.indexOf("*");
  return isEventName(pattern) && (star === -1 || star === pattern.length - 1);
}
