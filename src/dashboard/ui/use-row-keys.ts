import { type RefObject, useRef } from "react";
import { useShortcuts } from "../shortcuts.ts";

/** The selected rows, by their keys. */
export type Selection = {
  keys: ReadonlySet<string>;
  onChange: (keys: ReadonlySet<string>) => void;
};

/**
 * The keys `j`, `k` and `x` of a table. The row that has the focus is the current one, so Enter opens
 * it without further code, and a reader of the screen follows.
 */
export function useRowKeys(options: {
  scroller: RefObject<HTMLElement | null>;
  keys: readonly string[];
  scrollTo: (index: number) => void;
  selection: Selection | undefined;
}) {
  const { scroller, keys, scrollTo, selection } = options;
  const current = useRef(-1);
  /** The frame that will move the focus; until then the focus is on an earlier row. */
  const frame = useRef<number | null>(null);
  /** The row of the last click, from which a click with Shift selects. */
  const anchor = useRef(-1);

  function focusRow(index: number): void {
    if (keys.length === 0) return;
    const target = Math.min(Math.max(index, 0), keys.length - 1);
    current.current = target;
    scrollTo(target);
    if (frame.current !== null) cancelAnimationFrame(frame.current);
    // The row may enter the document only after the scroll.
    frame.current = requestAnimationFrame(() => {
      frame.current = null;
      const row = scroller.current?.querySelector(`[data-row="${target}"]`);
      const control =
        row?.querySelector<HTMLElement>("[data-primary]") ??
        row?.querySelector<HTMLElement>("input");
      control?.focus({ preventScroll: true });
    });
  }

  function focusedRow(): number {
    const row = document.activeElement?.closest("[data-row]");
    if (frame.current !== null) return current.current;
    return row instanceof HTMLElement && scroller.current?.contains(row) === true
      ? Number(row.dataset["row"])
      : current.current;
  }

  function selectRow(index: number, isRange: boolean): void {
    const key = keys[index];
    if (selection === undefined || key === undefined) return;
    const isOn = !selection.keys.has(key);
    const from = isRange && anchor.current >= 0 ? anchor.current : index;
    anchor.current = index;
    const range = keys.slice(Math.min(from, index), Math.max(from, index) + 1);
    const next = new Set(selection.keys);
    for (const each of range) {
      if (isOn) next.add(each);
      else next.delete(each);
    }
    selection.onChange(next);
  }

  useShortcuts({
    j: () => focusRow(focusedRow() + 1),
    k: () => focusRow(focusedRow() - 1),
    ...(selection === undefined ? {} : { x: () => selectRow(focusedRow(), false) }),
  });
  return { selectRow };
}
