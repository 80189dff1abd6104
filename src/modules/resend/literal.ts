/**
 * Texts of Resend as our templates. Resend sends the text of a mail as it is, so what Liquid would read
 * is put between the tags `raw`.
 */

/** The start of what Liquid reads. */
const LIQUID = /\{[{%]/g;
const HAS_LIQUID = /\{[{%]/;
const ENDS_RAW = /endraw/;

/** The Liquid template that renders to exactly `text`. */
export function literalTemplate(text: string): string {
  if (!HAS_LIQUID.test(text)) return text;
  if (!ENDS_RAW.test(text)) return `{% raw %}${text}{% endraw %}`;
  return text.replace(LIQUID, (start) => `{% raw %}${start}{% endraw %}`);
}
