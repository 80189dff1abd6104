/** Folds texts, so that a search ignores case and the form of composed characters. */

export function foldText(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
