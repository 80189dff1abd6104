/** The elements whose text is not shown. */
const HIDDEN = ["<style", "<title", "<script"];
/** Matches characters that a mail program shows as nothing. */
const BLANKS = /&(?:nbsp|zwnj|zwj|shy|#160|#8203|#847);/g;

/**
 * Whether HTML has a text or an image, such as a letter of the visual editor in which something was
 * written. Reads each character once: a body may be long.
 */
export function showsAnything(html: string): boolean {
  const lower = html.toLowerCase();
  let at = 0;
  while (at < html.length) {
    const tag = lower.indexOf("<", at);
    const text = html.slice(at, tag === -1 ? html.length : tag);
    if (text.replaceAll(BLANKS, "").trim() !== "") return true;
    if (tag === -1 || lower.startsWith("<img", tag)) return tag !== -1;
    at = endOf(lower, tag);
  }
  return false;
}

/** The place after a tag, a comment, or an element whose text is not shown. */
function endOf(lower: string, tag: number): number {
  const hidden = HIDDEN.find((start) => lower.startsWith(start, tag));
  const close = lower.startsWith("<!--", tag)
    ? "-->"
    : hidden === undefined
      ? ">"
      : `</${hidden.slice(1)}`;
  const found = lower.indexOf(close, tag + 1);
  return found === -1 ? lower.length : found + (hidden === undefined ? close.length : 0);
}
