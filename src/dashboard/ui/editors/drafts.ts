/**
 * Changes that the server does not have yet, kept in the storage of the browser. Each open editor has
 * an entry of its own, so that two tabs never overwrite each other; an editor that opens takes over
 * the newest entry of its object.
 */

import { isRecord } from "../is-record.ts";
import type { FieldValues } from "./merge.ts";

export type KeptDraft = {
  /** The revision that the changes were made to. */
  revision: number;
  atMs: number;
  /** `before` has the stored values of the changed fields, and `now` those of the editor. */
  before: FieldValues;
  now: FieldValues;
};

export type DraftStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const PREFIX = "mailstead-draft";
const OLDEST_MS = 30 * 86_400_000;

export function createDrafts(storage: DraftStorage, object: string, editor: string) {
  const prefix = `${PREFIX}:${object}:`;
  const own = prefix + editor;

  return {
    /**
     * Returns false if the browser does not keep the draft, for example because its storage is
     * full.
     */
    write(draft: KeptDraft): boolean {
      try {
        storage.setItem(own, JSON.stringify(draft));
        return true;
      } catch (error) {
        if (error instanceof DOMException) return false;
        throw error;
      }
    },

    clear: () => storage.removeItem(own),

    /** The newest changes that an editor of the object left; they are now those of this one. */
    take(nowMs: number): KeptDraft | null {
      removeOld(storage, nowMs);
      const [newest] = keysOf(storage, prefix)
        .flatMap((key) => {
          const draft = readDraft(storage.getItem(key));
          return draft === null ? [] : [{ key, draft }];
        })
        .toSorted((a, b) => b.draft.atMs - a.draft.atMs);
      if (newest === undefined) return null;
      storage.removeItem(newest.key);
      this.write(newest.draft);
      return newest.draft;
    },
  };
}

function keysOf(storage: DraftStorage, prefix: string): string[] {
  return Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? "").filter((key) =>
    key.startsWith(prefix),
  );
}

/** Removes drafts that no editor has taken over for a month, and entries that cannot be read. */
function removeOld(storage: DraftStorage, nowMs: number): void {
  for (const key of keysOf(storage, `${PREFIX}:`)) {
    const draft = readDraft(storage.getItem(key));
    if (draft === null || draft.atMs < nowMs - OLDEST_MS) storage.removeItem(key);
  }
}

function readDraft(text: string | null): KeptDraft | null {
  if (text === null) return null;
  const value: unknown = parsed(text);
  if (!isRecord(value)) return null;
  const { revision, atMs, before, now } = value;
  return typeof revision === "number" &&
    typeof atMs === "number" &&
    isRecord(before) &&
    isRecord(now)
    ? { revision, atMs, before, now }
    : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
