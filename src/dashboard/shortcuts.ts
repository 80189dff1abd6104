/**
 * Keyboard shortcuts of one key, such as `j`, and of two keys, such as `g e`. They do nothing while
 * a field has the focus or with Ctrl, Alt or Meta, and the user can switch them off (WCAG 2.1.4).
 * The latest `useShortcuts` that names a key wins, so a drawer replaces the keys of its page.
 */

import { useEffect, useRef, useSyncExternalStore } from "react";

export type Shortcuts = Readonly<Record<string, () => void>>;

/** Time for the second key of a sequence. */
const SEQUENCE_MS = 1_200;
const OFF_KEY = "mailstead-shortcuts-off";

const layers: { current: Shortcuts }[] = [];
const listeners = new Set<() => void>();
let prefix: { key: string; atMs: number } | null = null;

export function useShortcuts(shortcuts: Shortcuts, isActive = true): void {
  const layer = useRef(shortcuts);
  useEffect(() => {
    layer.current = shortcuts;
  });
  useEffect(() => {
    if (!isActive) return undefined;
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
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

const findAction = (keys: string) =>
  layers.findLast(({ current }) => current[keys] !== undefined)?.current[keys];

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("input:not([type=checkbox]), textarea, select"))
  );
}

function onKeyDown(event: KeyboardEvent): void {
  const { key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.defaultPrevented || isField(event.target) || !areShortcutsOn()) return;
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
  layers.some(({ current }) => Object.keys(current).some((keys) => keys.startsWith(`${key} `)));

document.addEventListener("keydown", onKeyDown);
