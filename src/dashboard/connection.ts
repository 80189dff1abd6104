/**
 * Whether the server can be reached. Each request says so. A broken live stream, and a browser that
 * goes offline or online, are only reasons to send a request: a proxy cuts streams that are whole,
 * and a server on the same machine answers offline. While the server cannot be reached, a request is
 * sent every three seconds.
 */

import { onlineManager } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { api } from "./api.ts";

const CHECK_EVERY_MS = 3_000;
/** A server that has not answered after this time cannot be reached. */
const CHECK_LIMIT_MS = 8_000;

let check: Promise<void> | null = null;

/** Notes what a request found out; queries are read again when the connection is back. */
export function setConnected(value: boolean): void {
  if (value === onlineManager.isOnline()) return;
  onlineManager.setOnline(value);
  if (!value) checkLater();
}

/** Sends a request, which calls `setConnected` by its outcome. */
export function checkConnection(): Promise<void> {
  check ??= sendCheck();
  return check;
}

async function sendCheck(): Promise<void> {
  const signal = AbortSignal.timeout(CHECK_LIMIT_MS);
  try {
    await api.get("/app/api/state", { project: null, signal });
  } catch {
    // The client of the interface has reported a lost connection, and a refusal is an answer.
  } finally {
    check = null;
  }
}

function checkLater(): void {
  window.setTimeout(() => void checkWhileLost(), CHECK_EVERY_MS);
}

async function checkWhileLost(): Promise<void> {
  await checkConnection();
  if (!onlineManager.isOnline()) checkLater();
}

/** Replaces the listeners of TanStack Query, which take the word of the browser for it. */
export function watchConnection(): void {
  onlineManager.setEventListener(() => {
    const listen = () => void checkConnection();
    window.addEventListener("offline", listen);
    window.addEventListener("online", listen);
    return () => {
      window.removeEventListener("offline", listen);
      window.removeEventListener("online", listen);
    };
  });
}

export const useIsConnected = (): boolean =>
  useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
