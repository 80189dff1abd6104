/** Comments in structured header fields (RFC 5322 §3.2.2). */

const OPEN = "(";
const CLOSE = ")";

/**
 * The value of a structured field without its comments, which may be nested; each counts as a blank.
 * Quoted strings are kept. A comment without an end is none, as in `name=report (1.pdf`. Linear.
 */
export function withoutComments(value: string): string {
  if (!value.includes(OPEN)) return value;
  let kept = "";
  let depth = 0;
  let isQuoted = false;
  /** Where the part begins that was not taken over yet: outside of comments, or a comment. */
  let from = 0;
  for (let at = 0; at < value.length; at++) {
    const character = value[at];
    if (character === "\\") at++;
    else if (depth === 0 && character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === OPEN && depth++ === 0) {
      kept += value.slice(from, at);
      from = at;
    } else if (character === CLOSE && depth > 0 && --depth === 0) {
      kept += " ";
      from = at + 1;
    }
  }
  return (kept + value.slice(from)).trim();
}
