/** Removes control characters from untrusted text, because a terminal would interpret them. */

const CONTROL = /\p{Cc}/gu;

/** Replaces each control character by a space. */
export function withoutControls(text: string): string {
  return text.replace(CONTROL, " ");
}
