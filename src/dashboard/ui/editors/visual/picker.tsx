/** The menu of blocks after `/` and that of variables after `{{`, beside the cursor. */

import type { Editor } from "@tiptap/core";
import { type CSSProperties, useEffect, useId, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { type BlockChoice, findBlocks } from "./blocks.ts";
import { insertBlock, insertVariable } from "./commands.ts";
import { dismissPicker, type Match } from "./picker-plugin.ts";
import { type ContactField, findVariables } from "./variables.ts";

type Item = { id: string; title: string; hint: string; group: string; block: BlockChoice | null };

export type PickerState = ReturnType<typeof usePicker>;

export function usePicker(fields: readonly ContactField[]) {
  const [match, setMatch] = useState<Match | null>(null);
  const [active, setActive] = useState(0);
  const items = useMemo(() => listItems(match, fields), [match, fields]);
  /** The menu sets it, because it knows the editor. */
  const choose = useRef<(item: Item) => void>(() => undefined);
  const dismiss = useRef<() => void>(() => undefined);
  const latest = useRef({ items, active });
  latest.current = { items, active };
  const [fixed] = useState(() => ({
    setMatch(next: Match | null) {
      setMatch(next);
      setActive(0);
    },
    onKey(event: KeyboardEvent): boolean {
      const { items: shown, active: at } = latest.current;
      if (event.key === "Escape") {
        // A drawer around the editor stays open.
        event.stopPropagation();
        dismiss.current();
        return true;
      }
      const item = shown[at];
      if (item === undefined) return false;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        const step = event.key === "ArrowDown" ? 1 : -1;
        setActive((at + step + shown.length) % shown.length);
        return true;
      }
      if (event.key !== "Enter" && event.key !== "Tab") return false;
      choose.current(item);
      return true;
    },
  }));
  return { ...fixed, match, items, active, setActive, choose, dismiss };
}

function listItems(match: Match | null, fields: readonly ContactField[]): Item[] {
  if (match === null) return [];
  if (match.kind === "variable") {
    return findVariables(fields, match.query).map(({ name, hint }) => ({
      id: name,
      title: name,
      hint,
      group: "",
      block: null,
    }));
  }
  return findBlocks(match.query).map((block) => {
    const { name, title, hint, group } = block;
    return { id: name, title, hint, group: match.query === "" ? group : "", block };
  });
}

const WIDTH_PX = 300;
const HEIGHT_PX = 320;
const EDGE_PX = 8;

export function PickerMenu(props: {
  picker: PickerState;
  editor: Editor;
  onImage: () => void;
  label: string;
}) {
  const { picker, editor, onImage } = props;
  const { match, items, active } = picker;
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  picker.dismiss.current = () => editor.view.dispatch(dismissPicker(editor.state));
  picker.choose.current = (item) => {
    if (match === null) return;
    const range = { from: match.from, to: match.to };
    if (item.block === null) insertVariable(editor, range, item.title);
    else if (item.block.content !== null) insertBlock(editor, range, item.block);
    else {
      editor.chain().focus().deleteRange(range).run();
      onImage();
    }
  };
  const isOpen = match !== null;
  const activeId = isOpen && items.length > 0 ? `${id}-${active}` : null;
  useEffect(() => {
    // A menu is open only in an editor that is shown; others have no element.
    if (activeId === null) return undefined;
    const { dom } = editor.view;
    dom.setAttribute("aria-activedescendant", activeId);
    dom.setAttribute("aria-controls", id);
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
    return () => {
      dom.removeAttribute("aria-activedescendant");
      dom.removeAttribute("aria-controls");
    };
  }, [editor, id, activeId]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const onDown = (event: PointerEvent) => {
      if (event.target instanceof Node && list.current?.contains(event.target) !== true) {
        picker.dismiss.current();
      }
    };
    addEventListener("pointerdown", onDown);
    return () => removeEventListener("pointerdown", onDown);
  }, [isOpen, picker.dismiss]);
  if (match === null || (match.kind === "block" && items.length === 0)) return null;
  return createPortal(
    <ul
      ref={list}
      id={id}
      className="visual-picker"
      role="listbox"
      aria-label={match.kind === "block" ? "Blocks" : "Variables"}
      style={placeMenu(editor, match.from)}
    >
      {items.length === 0 && (
        <li className="visual-picker-none" role="option" aria-selected="false" aria-disabled="true">
          No variable has this name.
        </li>
      )}
      {items.map((item, at) => (
        <li
          key={item.id}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === active}
          className="visual-picker-item"
          data-group={item.group !== items[at - 1]?.group ? item.group || undefined : undefined}
          onPointerMove={() => at !== active && picker.setActive(at)}
          // The editor keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => picker.choose.current(item)}
          onKeyDown={() => undefined}
        >
          <span className="visual-picker-title">{item.title}</span>
          <span className="visual-picker-hint">{item.hint}</span>
        </li>
      ))}
    </ul>,
    document.body,
  );
}

/** Places the menu below the cursor, or above it where there is no room. */
function placeMenu(editor: Editor, pos: number): CSSProperties {
  const { left, top, bottom } = editor.view.coordsAtPos(
    Math.min(pos, editor.state.doc.content.size),
  );
  const x = Math.max(EDGE_PX, Math.min(left, innerWidth - WIDTH_PX - EDGE_PX));
  const below = innerHeight - bottom - EDGE_PX;
  if (below >= HEIGHT_PX || below >= top) {
    return { left: x, top: bottom + 4, maxHeight: Math.min(HEIGHT_PX, below - 4) };
  }
  return { left: x, bottom: innerHeight - top + 4, maxHeight: Math.min(HEIGHT_PX, top - EDGE_PX) };
}
