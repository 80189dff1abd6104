/**
 * The layers above the page, such as dialogs and drawers. Esc closes one of them: the one that opened
 * last. A menu, a popover or the list of a field closes before the layer that contains it. The
 * components of the library would each close at the same key.
 */

import { useLayoutEffect, useRef } from "react";
import { returnFocus } from "../keyboard-focus.ts";

/** `close` is null for a layer that Esc does not close. */
type Layer = { close: (() => void) | null; isDialog: boolean };

const layers: Layer[] = [];

/** Makes the component a layer while it is open. Behind a dialog, no shortcut of the page works. */
export function useLayer(isOpen: boolean, close: (() => void) | null, isDialog = false): void {
  const layer = useRef<Layer>({ close, isDialog });
  useLayoutEffect(() => {
    layer.current.close = close;
  });
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const added = layer.current;
    const focused = document.activeElement;
    layers.push(added);
    return () => {
      layers.splice(layers.indexOf(added), 1);
      returnFocus(focused);
    };
  }, [isOpen]);
}

export const isDialogOpen = (): boolean => layers.some(({ isDialog }) => isDialog);

/** The menu, popover or list that is open; a closed one is not in the document or has no box. */
function findPopup(): Element | undefined {
  const placed = [...document.querySelectorAll('[class*="-dropdown"][data-position]')];
  return placed.findLast((element) => element.getClientRects().length > 0);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.key !== "Escape" || event.isComposing) return;
  const popup = findPopup();
  const layer = layers.at(-1);
  if (popup === undefined && layer === undefined) return;
  // The shortcuts of the page behind do nothing.
  event.preventDefault();
  if (popup === undefined) layer?.close?.();
  else if (!hasFocus(popup, event.target)) {
    const { key } = event;
    popup.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  }
}

/** Whether the open popup gets the key itself: it has the focus, or the field of the list has. */
function hasFocus(popup: Element, target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  // The library marks the field of a list while the list is open.
  return popup.contains(target) || target.hasAttribute("data-mantine-stop-propagation");
}

// Before the listeners of all components, because it is added first.
window.addEventListener("keydown", onKeyDown, { capture: true });
