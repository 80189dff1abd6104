/** Completes the names of HTML elements in the code editor. */

import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { htmlCompletionSource } from "@codemirror/lang-html";

/** The start of an opening or closing tag before the cursor. */
const TAG_NAME = /<\/?[\w-]*$/;
/** The length of the text that is read before the cursor: no name of an element is longer. */
const NEAR = 40;

/**
 * Attributes and their values are completed only when it is asked for (Ctrl Space): Enter would accept
 * a word that was not meant.
 */
export function completeTags(context: CompletionContext): CompletionResult | null {
  const { state, pos, explicit } = context;
  const before = state.sliceDoc(Math.max(0, pos - NEAR), pos);
  return explicit || TAG_NAME.test(before) ? htmlCompletionSource(context) : null;
}
