/** Texts longer than this are cut before they are parsed. */
const MAX_CHARACTERS = 1_000;

/**
 * Splits the text of a search field into its terms: `to:ada@example.com subject:"new order" hello`
 * becomes `{ to: "ada@example.com", subject: "new order", q: "hello" }`. Words whose part before the
 * colon is not a known key belong to the text, whose name is `textKey`.
 */
export function parseTerms(
  text: string,
  keys: readonly string[],
  textKey: string,
): Record<string, string> {
  const terms: Record<string, string> = {};
  const words: string[] = [];
  for (const word of wordsOf(text.slice(0, MAX_CHARACTERS))) {
    const colon = word.indexOf(":");
    const key = word.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = word.slice(colon + 1);
    if (colon > 0 && keys.includes(key)) {
      if (value !== "") terms[key] = value;
    } else words.push(word);
  }
  if (words.length > 0) terms[textKey] = words.join(" ");
  return terms;
}

/** Splits at spaces outside double quotes, and removes the quotes. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word = "";
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === " " && !isQuoted) {
      words.push(word);
      word = "";
    } else word += character;
  }
  return [...words, word].filter((found) => found !== "");
}
