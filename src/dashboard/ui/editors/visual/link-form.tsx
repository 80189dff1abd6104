/** The address of the link that the cursor is in, or of a new one. */

import { type Editor, getMarkRange } from "@tiptap/core";
import { TextSelection } from "@tiptap/pm/state";
import { Trash2 } from "lucide-react";
import { HrefField } from "./href-field.tsx";
import { IconButton } from "./icon-button.tsx";
import { completeLink, findLinkFault } from "./links.ts";
import type { ContactField } from "./variables.ts";

type Target = { from: number; to: number; href: string };

/** The link that the cursor is in. */
export function readLink({ state }: Editor): Target | null {
  const type = state.schema.marks["link"];
  const { $from, empty } = state.selection;
  if (type === undefined) return null;
  const at = empty ? $from : state.doc.resolve($from.pos + 1);
  const range = getMarkRange(at, type);
  const mark = at.marks().find((each) => each.type === type);
  const href: unknown = mark?.attrs["href"];
  return range === undefined || typeof href !== "string" ? null : { ...range, href };
}

export function LinkForm(props: {
  editor: Editor;
  fields: readonly ContactField[];
  target: Target | null;
  isStarted: boolean;
  onEnd: () => void;
}) {
  const { editor, fields, target, isStarted, onEnd } = props;
  function apply(typed: string): boolean {
    const href = completeLink(typed);
    if (findLinkFault(href) !== null) return false;
    const { from, to, empty } = editor.state.selection;
    const range = target ?? { from, to };
    if (target === null && empty) {
      editor
        .chain()
        .insertContentAt(from, {
          type: "text",
          text: href,
          marks: [{ type: "link", attrs: { href } }],
        })
        .run();
    } else {
      editor
        .chain()
        .command(({ tr, state }) => {
          const type = state.schema.marks["link"];
          if (type === undefined) return false;
          tr.removeMark(range.from, range.to, type);
          tr.addMark(range.from, range.to, type.create({ href }));
          // The cursor moves behind the link, so that the next character neither replaces the words
          // nor belongs to it.
          tr.setSelection(TextSelection.create(tr.doc, range.to)).removeStoredMark(type);
          return true;
        })
        .run();
    }
    onEnd();
    return true;
  }
  function remove(): void {
    if (target !== null) {
      editor
        .chain()
        .command(({ tr, state }) => {
          const type = state.schema.marks["link"];
          if (type !== undefined) tr.removeMark(target.from, target.to, type);
          return true;
        })
        .run();
    }
    onEnd();
    editor.view.focus();
  }
  return (
    <section className="visual-settings" aria-label="Link">
      <header>
        <h3>Link</h3>
        <IconButton label={target === null ? "Cancel" : "Remove the link"} onClick={remove}>
          <Trash2 size={15} aria-hidden />
        </IconButton>
      </header>
      <HrefField
        label="Address"
        value={target?.href ?? ""}
        fields={fields}
        isFocused={isStarted}
        onCommit={apply}
        onEnter={() => editor.view.focus()}
        onEscape={onEnd}
      />
    </section>
  );
}
