/**
 * Notices that `/` or `{{` was typed, for the menu of blocks and that of variables, and shows what to
 * type in an empty line.
 */

import { Extension } from "@tiptap/core";
import { type EditorState, Plugin, PluginKey } from "@tiptap/pm/state";
import { Decoration, DecorationSet } from "@tiptap/pm/view";

export type Match = {
  kind: "block" | "variable";
  /** The text from the opening characters to the cursor. */
  from: number;
  to: number;
  query: string;
};

type Value = { match: Match | null; dismissedAt: number | null };

const key = new PluginKey<Value>("picker");
const DISMISS = "dismiss";

type PickerOptions = {
  onMatch: (match: Match | null) => void;
  /** Returns whether the menu took the key. */
  onKey: (event: KeyboardEvent) => boolean;
};

export const Picker = Extension.create<PickerOptions>({
  name: "picker",
  // Its keys come before those that move the cursor.
  priority: 1_000,
  addOptions: () => ({ onMatch: () => undefined, onKey: () => false }),
  addProseMirrorPlugins() {
    const { onMatch, onKey } = this.options;
    return [
      new Plugin<Value>({
        key,
        state: {
          init: () => ({ match: null, dismissedAt: null }),
          apply(transaction, before, _, state) {
            if (transaction.getMeta(key) === DISMISS) {
              return { match: null, dismissedAt: before.match?.from ?? null };
            }
            if (!transaction.docChanged && !transaction.selectionSet) return before;
            // A slash that was there before opens no menu.
            const isOpened = transaction.docChanged || before.match !== null;
            const match = isOpened ? findMatch(state) : null;
            const dismissedAt = match === null ? null : before.dismissedAt;
            return { match: match?.from === dismissedAt ? null : match, dismissedAt };
          },
        },
        props: {
          handleKeyDown: (view, event) => isOpen(view.state) && onKey(event),
          decorations: decorateEmptyLine,
        },
        view: () => ({
          update(view, before) {
            const match = key.getState(view.state)?.match ?? null;
            if (match !== (key.getState(before)?.match ?? null)) onMatch(match);
          },
          destroy: () => onMatch(null),
        }),
      }),
    ];
  },
});

const isOpen = (state: EditorState): boolean => (key.getState(state)?.match ?? null) !== null;

/** Closes the menu until other characters open it. */
export const dismissPicker = (state: EditorState) => state.tr.setMeta(key, DISMISS);

const BLOCK = /(?:^|\s)\/([\p{L}\p{N}]{0,20})$/u;
const VARIABLE = /\{\{\s?([^{}|]{0,60})$/;

function findMatch({ selection }: EditorState): Match | null {
  const { $from, empty } = selection;
  if (!empty || !$from.parent.isTextblock) return null;
  const start = Math.max(0, $from.parentOffset - 100);
  const text = $from.parent.textBetween(start, $from.parentOffset, undefined, "\ufffc");
  const to = $from.pos;
  const variable = VARIABLE.exec(text);
  if (variable !== null) {
    return { kind: "variable", from: to - variable[0].length, to, query: variable[1] ?? "" };
  }
  const block = BLOCK.exec(text);
  if (block === null) return null;
  const query = block[1] ?? "";
  return { kind: "block", from: to - query.length - 1, to, query };
}

function decorateEmptyLine({ doc, selection }: EditorState): DecorationSet | null {
  const { $from, empty } = selection;
  const { parent } = $from;
  if (!empty || !parent.isTextblock || parent.content.size > 0) return null;
  const text =
    parent.type.name === "paragraph"
      ? "Write, or type / for blocks and {{ for variables"
      : parent.type.name === "heading"
        ? "Heading"
        : "";
  if (text === "") return null;
  return DecorationSet.create(doc, [
    Decoration.node($from.before(), $from.after(), {
      class: "visual-empty",
      "data-placeholder": text,
    }),
  ]);
}
