/** Finds out from the text before the cursor which words can be completed there. */

export type CompletionPlace = {
  kind: "VARIABLE" | "FILTER" | "TAG";
  /** The part of the word that is typed. */
  typed: string;
};

/** The longest part of a tag or placeholder that is read. */
const LONGEST = 500;
/** The word at the end. A search that begins inside of a word ends at once, so it takes linear time. */
const WORD = /(?<![\w.-])[\w.-]*$/;

/** Returns null outside of placeholders and tags, and in their strings. */
export function completionPlace(before: string): CompletionPlace | null {
  const near = before.slice(-LONGEST);
  const start = Math.max(near.lastIndexOf("{{"), near.lastIndexOf("{%"));
  if (start === -1) return null;
  const isTag = near[start + 1] === "%";
  const inside = near.slice(start + 2);
  if (inside.includes(isTag ? "%}" : "}}")) return null;
  if (isInString(inside)) return null;
  const [typed = ""] = WORD.exec(inside) ?? [];
  const rest = inside.slice(0, inside.length - typed.length);
  if (isTag && /^-?\s*$/.test(rest)) return { kind: "TAG", typed };
  if (/\|\s*$/.test(rest) && !/\|\|\s*$/.test(rest)) return { kind: "FILTER", typed };
  // An argument of a filter is a variable, too.
  return { kind: "VARIABLE", typed };
}

function isInString(text: string): boolean {
  let quote = "";
  for (const char of text) {
    if (quote === "" && (char === '"' || char === "'")) quote = char;
    else if (char === quote) quote = "";
  }
  return quote !== "";
}

/** The text that closes the placeholder or tag behind the cursor; a space or "" if it is closed. */
export function closingOf(kind: "TAG" | "VARIABLE", after: string): string {
  const close = kind === "TAG" ? "%}" : "}}";
  const open = /\{[{%]/.exec(after)?.index ?? after.length;
  const end = after.indexOf(close);
  if (end === -1 || end > open) return ` ${close}`;
  return end === 0 ? " " : "";
}
