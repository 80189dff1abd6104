/** The commands of the menus and the toolbar. */

import type { Editor, Range } from "@tiptap/core";
import { NodeSelection, TextSelection } from "@tiptap/pm/state";
import type { BlockChoice } from "./blocks.ts";

/** Puts a block in place of the range, and the cursor into it. */
export function insertBlock(editor: Editor, range: Range, { content }: BlockChoice): void {
  if (content === null) return;
  const node = editor.schema.nodeFromJSON(content);
  const { type } = node;
  const isText = /^(?:heading|bulletList|orderedList|blockquote)$/.test(type.name);
  const chain = editor.chain().focus().deleteRange(range);
  if (isText) {
    if (type.name === "heading") chain.setNode("heading", node.attrs).run();
    else if (type.name === "bulletList") chain.toggleBulletList().run();
    else if (type.name === "orderedList") chain.toggleOrderedList().run();
    else chain.toggleBlockquote().run();
    return;
  }
  chain
    .command(({ tr, dispatch }) => {
      if (dispatch === undefined) return true;
      const { $from } = tr.selection;
      const isEmptyLine = $from.parent.isTextblock && $from.parent.content.size === 0;
      const from = isEmptyLine ? $from.before() : $from.depth === 0 ? $from.pos : $from.after();
      const to = isEmptyLine ? $from.after() : from;
      const steps = tr.steps.length;
      tr.replaceRangeWith(from, to, node);
      const at = tr.mapping.slice(steps).map(from, -1);
      const placed = tr.doc.nodeAt(at);
      if (placed === null) return true;
      tr.setSelection(
        placed.isAtom
          ? NodeSelection.create(tr.doc, at)
          : placed.type.name === "button"
            ? TextSelection.create(tr.doc, at + 1, at + 1 + placed.content.size)
            : TextSelection.near(tr.doc.resolve(at + 1)),
      );
      tr.scrollIntoView();
      return true;
    })
    .run();
}

/** Puts a variable in place of the range, and the cursor after it. */
export function insertVariable(editor: Editor, range: Range, name: string): void {
  editor
    .chain()
    .focus()
    .insertContentAt(range, { type: "variable", attrs: { name, fallback: "" } })
    .run();
}

/** Opens the menu of variables, as if `{{` was typed. */
export function openVariables(editor: Editor): void {
  editor.chain().focus().insertContent("{{").run();
}

/** The blocks around the selection, the innermost first, that have settings or can be moved. */
export type Around = { pos: number; type: string; attrs: Readonly<Record<string, unknown>> };

const WITH_SETTINGS = new Set(
  "button image section spacer htmlBlock condition variable social twoColumns threeColumns fourColumns".split(
    " ",
  ),
);

export function listAround({ state }: Editor): Around[] {
  const { selection } = state;
  const found: Around[] = [];
  if (selection instanceof NodeSelection && WITH_SETTINGS.has(selection.node.type.name)) {
    const { node } = selection;
    found.push({ pos: selection.from, type: node.type.name, attrs: node.attrs });
  }
  const { $from } = selection;
  for (let depth = $from.depth; depth > 0; depth--) {
    const node = $from.node(depth);
    if (!WITH_SETTINGS.has(node.type.name)) continue;
    found.push({ pos: $from.before(depth), type: node.type.name, attrs: node.attrs });
  }
  return found;
}

export function setAttribute(editor: Editor, pos: number, name: string, value: unknown): void {
  editor
    .chain()
    .command(({ tr }) => {
      tr.setNodeAttribute(pos, name, value);
      return true;
    })
    .run();
}

export function deleteBlock(editor: Editor, pos: number): void {
  const node = editor.state.doc.nodeAt(pos);
  if (node === null) return;
  editor
    .chain()
    .deleteRange({ from: pos, to: pos + node.nodeSize })
    .focus()
    .run();
}

/** Moves a block before the one above it, or behind the one below it. */
export function moveBlock(editor: Editor, pos: number, step: -1 | 1): boolean {
  return editor.commands.command(({ tr, dispatch }) => {
    const $pos = tr.doc.resolve(pos);
    const node = $pos.nodeAfter;
    const index = $pos.index();
    const other = node === null ? null : $pos.parent.maybeChild(index + step);
    if (node === null || other === null) return false;
    if (dispatch === undefined) return true;
    const target = step === -1 ? pos - other.nodeSize : pos + other.nodeSize;
    const offset = tr.selection.from - pos;
    tr.delete(pos, pos + node.nodeSize);
    tr.insert(target, node);
    const selection = node.isAtom
      ? NodeSelection.create(tr.doc, target)
      : TextSelection.near(tr.doc.resolve(Math.max(target + 1, target + offset)));
    tr.setSelection(selection).scrollIntoView();
    return true;
  });
}

/** The position of the outermost block that can be moved where the cursor is. */
export function findMovable({ state }: Editor): number | null {
  const { selection } = state;
  const { $from } = selection;
  if (selection instanceof NodeSelection && !selection.node.isInline) return selection.from;
  for (let depth = $from.depth; depth > 0; depth--) {
    const parent = $from.node(depth - 1).type.name;
    if (/^(?:doc|section|columnsColumn|condition)$/.test(parent)) return $from.before(depth);
  }
  return null;
}
