/** Whether the last request reached the server. */

import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let isConnected = true;

export function setConnected(value: boolean): void {
  if (value === isConnected) return;
  isConnected = value;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useIsConnected = (): boolean => useSyncExternalStore(subscribe, () => isConnected);
