/**
 * Saves an object while it is edited (autosave.ts). The hook holds the value: a page shows `value`,
 * calls `change` with the new fields, and renders `SaveState` and `ConflictDialog`.
 *
 *     const editor = useAutosave({
 *       key: `templates:${id}`,
 *       value: { subject, body },
 *       revision,
 *       save: async (value, revision, { changed, isLeaving }) => newRevision,
 *       load: async () => ({ value, revision }),
 *     });
 *
 * `value` and `revision` are those of the server; a newer revision is joined with the changes here.
 * A page whose object may change has a `key` of React with the id.
 */

import { onlineManager } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { ApiError, newIdempotencyKey, NO_RESPONSE } from "../../api.ts";
import { useAppState } from "../../state.ts";
import {
  type Autosave,
  createAutosave,
  type Failure,
  type SaveOptions,
  type Stored,
} from "./autosave.ts";
import { createDrafts } from "./drafts.ts";
import type { FieldValues, Groups } from "./merge.ts";

/**
 * Answers after which the same request may succeed: no session, too many requests, or a failure.
 */
const LATER = new Set([NO_RESPONSE, 401, 408, 425, 429]);
const FAILURE = 500;
const PRECONDITION_FAILED = 412;

export function failureOf(error: unknown): Failure {
  if (!(error instanceof ApiError)) return "LATER";
  if (error.status === PRECONDITION_FAILED) return "CONFLICT";
  return LATER.has(error.status) || error.status >= FAILURE ? "LATER" : "REFUSED";
}

const clock = {
  now: () => Date.now(),
  after(ms: number, run: () => void) {
    const timer = window.setTimeout(run, ms);
    return () => window.clearTimeout(timer);
  },
};

export function useAutosave<T extends FieldValues>(options: {
  /** Names the object, for the storage of the browser. */
  key: string;
  value: T;
  revision: number;
  save: (value: T, revision: number, options: SaveOptions) => Promise<number>;
  load: () => Promise<Stored<T>>;
  /** The fields that belong together. */
  groups?: Groups;
  /** Nothing is sent before `saveNow`. */
  isManual?: boolean;
}) {
  const { key, value, revision, groups = [], isManual = false } = options;
  const { user } = useAppState();
  const latest = useRef(options);
  latest.current = options;
  const [autosave] = useState(() =>
    createAutosave<T>({
      stored: { value, revision },
      groups,
      isManual,
      clock,
      failureOf,
      // People who share a browser do not get each other's changes.
      drafts: createDrafts(localStorage, `${user?.id ?? ""}:${key}`, newIdempotencyKey()),
      save: (...given) => latest.current.save(...given),
      load: () => latest.current.load(),
    }),
  );
  const state = useSyncExternalStore(autosave.subscribe, autosave.state);

  useEffect(() => autosave.receive({ value, revision }), [revision]);
  useSaveMoments(autosave);
  const { change, saveNow, resolve, discard, takeOver } = autosave;
  return { ...state, change, saveNow, resolve, discard, takeOver };
}

/** Saves at mod S, when the connection is back, and when the page or the tab is left. */
function useSaveMoments<T extends FieldValues>(autosave: Autosave<T>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isSave = event.key.toLowerCase() === "s" && (event.ctrlKey || event.metaKey);
      if (!isSave || event.altKey || event.shiftKey) return;
      event.preventDefault();
      void autosave.saveNow();
    };
    const onHide = () => {
      if (document.visibilityState === "hidden") autosave.leave();
    };
    const onUnload = (event: BeforeUnloadEvent) => {
      if (autosave.isChanged() && !autosave.state().isKept) event.preventDefault();
    };
    const stopWatching = onlineManager.subscribe((isOnline) => {
      if (isOnline) autosave.retry();
    });
    window.addEventListener("keydown", onKeyDown);
    window.addEventListener("beforeunload", onUnload);
    window.addEventListener("pagehide", autosave.leave);
    document.addEventListener("visibilitychange", onHide);
    return () => {
      stopWatching();
      window.removeEventListener("keydown", onKeyDown);
      window.removeEventListener("beforeunload", onUnload);
      window.removeEventListener("pagehide", autosave.leave);
      document.removeEventListener("visibilitychange", onHide);
      autosave.leave();
    };
  }, [autosave]);
}

export type Editing<T extends FieldValues> = ReturnType<typeof useAutosave<T>>;
