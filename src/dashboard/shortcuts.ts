/**
 * Keyboard shortcuts of one key, such as `j`, and of two keys, such as `g e`. They do nothing while a
 * field has the focus or a dialog is open, whose field may get the focus a moment later, or with Ctrl,
 * Alt or Meta, and the user can switch them off (WCAG 2.1.4). The latest `useShortcuts` that names a
 * key wins. The shortcuts of a drawer win over all of the page behind it, whose parts may be shown
 * later than a drawer that is in the address.
 */

import { useLayoutEffect, useRef, useSyncExternalStore } from "react";
import { isDialogOpen } from "./ui/layers.ts";

export type Shortcuts = Readonly<Record<string, () => void>>;

/** Time for the second key of a sequence. */
const SEQUENCE_MS = 1_200;
const OFF_KEY = "mailstead-shortcuts-off";

type Layer = { shortcuts: Shortcuts; isModal: boolean };

const layers: Layer[] = [];
const listeners = new Set<() => void>();
let prefix: { key: string; atMs: number } | null = null;

export function useShortcuts(shortcuts: Shortcuts, isActive = true, isModal = false): void {
  const layer = useRef<Layer>({ shortcuts, isModal });
  // A shortcut works as soon as its page is drawn.
  useLayoutEffect(() => {
    layer.current.shortcuts = shortcuts;
  });
  useLayoutEffect(() => {
    if (!isActive) return undefined;
    const added = layer.current;
    layers.push(added);
    return () => {
      layers.splice(layers.indexOf(added), 1);
    };
  }, [isActive]);
}

export const areShortcutsOn = (): boolean => localStorage.getItem(OFF_KEY) === null;

export function setShortcutsOn(isOn: boolean): void {
  if (isOn) localStorage.removeItem(OFF_KEY);
  else localStorage.setItem(OFF_KEY, "1");
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useAreShortcutsOn = (): boolean => useSyncExternalStore(subscribe, areShortcutsOn);

function findAction(keys: string): (() => void) | undefined {
  const named = layers.filter(({ shortcuts }) => shortcuts[keys] !== undefined);
  return (named.findLast(({ isModal }) => isModal) ?? named.at(-1))?.shortcuts[keys];
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches("input:not([type=checkbox], [type=radio]), textarea, select"))
  );
}

function onKeyDown(event: KeyboardEvent): void {
  const { key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.defaultPrevented || isField(event.target) || !areShortcutsOn()) return;
  if (isDialogOpen()) return;
  const isSecond = prefix !== null && event.timeStamp - prefix.atMs < SEQUENCE_MS;
  const keys = isSecond && prefix !== null ? `${prefix.key} ${key}` : key;
  prefix = null;
  const action = findAction(keys);
  if (action !== undefined) {
    event.preventDefault();
    action();
  } else if (!isSecond && isPrefix(key)) {
    prefix = { key, atMs: event.timeStamp };
  }
}

const isPrefix = (key: string) =>
  layers.some(({ shortcuts }) => Object.keys(shortcuts).some((keys) => keys.startsWith(`${key} `)));

document.addEventListener("keydown", onKeyDown);
