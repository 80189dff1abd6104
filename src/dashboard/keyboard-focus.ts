/**
 * The focus of people who use the keyboard, where the browser alone would lose it: a button that is
 * busy gets it back, a new page has it in its content, and a field that is reached with Tab is ready
 * to be overwritten.
 */

import type { AnyRouter } from "@tanstack/react-router";

/** A dialog that has led to the new page returns its focus when it has closed. */
const CLOSED_MS = 300;

export function keepFocus(router: AnyRouter): void {
  router.subscribe("onRendered", ({ fromLocation, hrefChanged }) => {
    if (fromLocation === undefined || !hrefChanged) return;
    requestAnimationFrame(focusContentIfLost);
    window.setTimeout(focusContentIfLost, CLOSED_MS);
  });
  returnFocusToBusyButtons();
  selectTextOfReachedFields();
}

/**
 * Moves the focus to the content of the page if the element that had it is gone. It is the element
 * that scrolls, so that the arrow keys do.
 */
export function focusContentIfLost(): void {
  const main = document.getElementById("main");
  // The content was not there yet when it was to get the focus.
  if (!isFocusLost() && document.activeElement !== main) return;
  const content = main?.querySelector<HTMLElement>(".page") ?? main;
  content?.focus({ preventScroll: true });
}

/** Time after which the library has returned the focus of a dialog that it closed itself. */
const RETURNED_MS = 20;

/**
 * Returns the focus to an element when a dialog has closed; null for the content of the page. The
 * library does not for a dialog that is removed while it is open.
 */
export function returnFocus(before: Element | null): void {
  window.setTimeout(() => {
    if (isFocusLost() && before instanceof HTMLElement) before.focus({ preventScroll: true });
    focusContentIfLost();
  }, RETURNED_MS);
}

/** Moves the focus to an element when a dialog has closed, unless another element has it by then. */
export function focusWhenClosed(find: () => HTMLElement | null): void {
  window.setTimeout(() => {
    focusContentIfLost();
    if (document.activeElement?.matches("#main, .page")) find()?.focus();
  }, CLOSED_MS + RETURNED_MS);
}

const isFocusLost = (): boolean =>
  document.activeElement === null || document.activeElement === document.body;

/** A button is disabled while its request runs, and a disabled element loses the focus. */
function returnFocusToBusyButtons(): void {
  const observer = new MutationObserver(([change]) => {
    const button = change?.target;
    if (button instanceof HTMLButtonElement && !button.disabled && isFocusLost()) {
      button.focus({ preventScroll: true });
    }
  });
  document.addEventListener("focusin", ({ target }) => {
    observer.disconnect();
    if (target instanceof HTMLButtonElement) {
      observer.observe(target, { attributeFilter: ["disabled"] });
    }
  });
  // A click beside it says that the user has left the button.
  document.addEventListener("pointerdown", () => observer.disconnect(), true);
}

/**
 * Browsers select the text of a field that Tab reaches, but dialogs move the focus by themselves. A
 * list that is searched by typing has the text of its choice in its field, also for the mouse.
 */
function selectTextOfReachedFields(): void {
  let isTab = false;
  let focused: Element | null = null;
  document.addEventListener(
    "keydown",
    ({ key }) => {
      if (key !== "Tab") return;
      isTab = true;
      window.setTimeout(() => (isTab = false));
    },
    true,
  );
  document.addEventListener("focusin", ({ target }) => {
    if (isTab && target instanceof HTMLInputElement) target.select();
  });
  document.addEventListener("pointerdown", () => (focused = document.activeElement), true);
  document.addEventListener("click", ({ target }) => {
    if (target instanceof HTMLInputElement && target !== focused && target.matches(SEARCHED_LIST)) {
      target.select();
    }
  });
}

const SEARCHED_LIST = ".mantine-Select-input:not([readonly])";
