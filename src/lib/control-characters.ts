/** What strangers write may hold control characters, which a terminal would obey. */

const CONTROL = /\p{Cc}/gu;

/** Each control character becomes a space. */
export function withoutControls(text: string): string {
  return text.replace(CONTROL, " ");
}
