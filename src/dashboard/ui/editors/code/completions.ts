/** Completes variables, filters and tags of Liquid in the code editor. */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { closingOf, completionPlace } from "./completion-place.ts";
import { FILTERS, KNOWN_VARIABLES, TAGS, type Word } from "./liquid-words.ts";

/** The length of the text that is read around the cursor, in UTF-16 units. */
const NEAR = 500;
const SAME_WORD = /^[\w.-]*$/;

/** `variables` are those of the project, such as the fields of its contacts. */
export function completeLiquid(variables: readonly Word[]) {
  const options = {
    VARIABLE: [
      ...variables.map((word) => optionOf(word, "variable")),
      ...KNOWN_VARIABLES.map((word) => optionOf(word, "constant")),
    ],
    FILTER: FILTERS.map((word) => optionOf(word, "function")),
    TAG: TAGS.map((word) => optionOf(word, "keyword")),
  };
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const { doc } = state;
    const place = completionPlace(doc.sliceString(Math.max(0, pos - NEAR), pos));
    if (place === null) return null;
    const { kind, typed } = place;
    const isStart = /\{[{%]-?\s?$/.test(doc.sliceString(Math.max(0, pos - 4), pos));
    if (typed === "" && !explicit && !isStart && kind !== "FILTER") return null;
    const after = doc.sliceString(pos, Math.min(doc.length, pos + NEAR));
    const closing = kind === "FILTER" ? "" : closingOf(kind, after);
    return {
      from: pos - typed.length,
      options: options[kind].map((option) => ({ ...option, apply: option.label + closing })),
      validFor: SAME_WORD,
    };
  };
}

const optionOf = ({ name, text }: Word, type: string): Completion => ({
  label: name,
  type,
  ...(text === "" ? {} : { detail: text }),
});
