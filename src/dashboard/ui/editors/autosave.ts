/**
 * Saves an object while it is edited, and loses nothing. In order: a change is written into the storage
 * of the browser and, a second after the last one, sent to the server with the revision that it was
 * made to. A refused value stays in the editor and in the storage until it is changed. Without an
 * answer the value is sent again later. If another person has saved meanwhile, their changes of other
 * fields are taken over, and a field that both changed waits for a decision.
 */

import type { createDrafts, KeptDraft } from "./drafts.ts";
import {
  areSameFields,
  changedFields,
  compareVersions,
  type FieldValues,
  type Groups,
  pickFields,
} from "./merge.ts";

/** A value with the revision that the server gave it. */
export type Stored<T> = { value: T; revision: number };

export type SaveOptions = {
  /** The names of the fields that differ from the stored value. */
  changed: readonly string[];
  /** The page is being left: the request should survive it. */
  isLeaving: boolean;
};

/** The meaning of a failed request for the editor. */
export type Failure =
  /** The server does not take this value; another one may be good. */
  | "REFUSED"
  /** Another editor has saved since, so that the revision is no longer the newest. */
  | "CONFLICT"
  /** The same request may succeed later. */
  | "LATER";

export type AutosaveState<T> = {
  value: T;
  status: "SAVED" | "CHANGED" | "SAVING" | "REFUSED" | "WAITING" | "CONFLICT";
  /** The time at which the server took the last change of this editor; null before the first. */
  savedAtMs: number | null;
  /** The error of the last attempt; null after a success. */
  error: unknown;
  /** True if the browser has stored the changes that are not saved on the server. */
  isKept: boolean;
  conflict: Conflict<T> | null;
  /** The fields that another person changed and that were taken over. */
  merged: readonly string[];
  /** The time of the changes that an earlier visit left in the browser; null if there are none. */
  restoredFromMs: number | null;
};

export type Conflict<T> = {
  theirs: Stored<T>;
  /** The fields that both changed. All fields of a group are decided together. */
  groups: readonly (readonly string[])[];
};

export type Side = "MINE" | "THEIRS";

export type AutosaveOptions<T extends FieldValues> = {
  stored: Stored<T>;
  /** Resolves to the new revision. */
  save: (value: T, revision: number, options: SaveOptions) => Promise<number>;
  /** Reads the version of the server after another editor has saved. */
  load: () => Promise<Stored<T>>;
  failureOf: (error: unknown) => Failure;
  groups?: Groups;
  /** Changes are sent by `saveNow` alone, for an object whose every version takes effect at once. */
  isManual?: boolean;
  drafts: ReturnType<typeof createDrafts>;
  clock: {
    now: () => number;
    /** Calls `run` after the time. The returned function cancels the call. */
    after: (ms: number, run: () => void) => () => void;
  };
};

/** A change is sent when no other has followed it for this time. */
const SETTLED_MS = 1_000;
/** A change is sent after this time at the latest, also while other changes follow. */
const LONGEST_MS = 8_000;
const DRAFT_MS = 250;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 30_000;

export function createAutosave<T extends FieldValues>(options: AutosaveOptions<T>) {
  const { save, load, failureOf, groups = [], isManual = false, drafts, clock } = options;
  let base = options.stored;
  let state: AutosaveState<T> = {
    value: base.value,
    status: "SAVED",
    savedAtMs: null,
    error: null,
    isKept: true,
    conflict: null,
    merged: [],
    restoredFromMs: null,
  };
  const listeners = new Set<() => void>();
  const nothing = () => undefined;
  let cancelSave: () => void = nothing;
  let cancelDraft: () => void = nothing;
  let firstChangeMs: number | null = null;
  let retryMs = FIRST_RETRY_MS;
  let running: Promise<void> | null = null;

  function set(next: Partial<AutosaveState<T>>): void {
    state = { ...state, ...next };
    for (const listener of listeners) listener();
  }

  const isChanged = () => !areSameFields(state.value, base.value);

  function writeDraft(): void {
    cancelDraft();
    cancelDraft = nothing;
    if (!isChanged()) {
      drafts.clear();
      return;
    }
    const names = changedFields(state.value, base.value);
    const isKept = drafts.write({
      revision: base.revision,
      atMs: clock.now(),
      before: pickFields(base.value, names),
      now: pickFields(state.value, names),
    });
    if (isKept !== state.isKept) set({ isKept });
  }

  function saveAfter(ms: number): void {
    if (isManual) return;
    cancelSave();
    cancelSave = clock.after(ms, () => void saveNow());
  }

  function planSave(): void {
    const now = clock.now();
    firstChangeMs ??= now;
    saveAfter(Math.max(0, Math.min(SETTLED_MS, firstChangeMs + LONGEST_MS - now)));
  }

  function change(next: Partial<T>): void {
    const value = { ...state.value, ...next };
    if (changedFields(value, state.value).length === 0) return;
    const isWaiting = state.status === "CONFLICT" || running !== null;
    set({ value, status: isWaiting ? state.status : "CHANGED", merged: [], restoredFromMs: null });
    cancelDraft();
    cancelDraft = clock.after(DRAFT_MS, writeDraft);
    if (state.status !== "CONFLICT") planSave();
  }

  /** Sends the changes now. Resolves when the request under way has ended; never rejects. */
  async function saveNow(isLeaving = false): Promise<void> {
    cancelSave();
    cancelSave = nothing;
    firstChangeMs = null;
    if (running !== null) {
      await running;
      // The value changed while the request ran.
      if (state.status !== "CHANGED") return;
    }
    if (state.conflict !== null) return;
    if (!isChanged()) {
      settle();
      return;
    }
    running = send(isLeaving);
    await running;
  }

  /** Ends a save that has nothing to send, because the value is the stored one again. */
  function settle(): void {
    writeDraft();
    if (state.status !== "SAVED") set({ status: "SAVED", error: null });
  }

  async function send(isLeaving: boolean): Promise<void> {
    const { value } = state;
    const changed = changedFields(value, base.value);
    writeDraft();
    set({ status: "SAVING" });
    try {
      const revision = await save(value, base.revision, { changed, isLeaving });
      retryMs = FIRST_RETRY_MS;
      base = { value, revision };
      set({ savedAtMs: clock.now(), error: null, status: isChanged() ? "CHANGED" : "SAVED" });
      writeDraft();
      if (isChanged()) planSave();
    } catch (error) {
      await fail(error, value);
    } finally {
      running = null;
    }
  }

  async function fail(error: unknown, sent: T): Promise<void> {
    const failure = failureOf(error);
    if (failure === "CONFLICT") {
      await mergeNewest();
    } else if (failure === "LATER") {
      tryLater(error);
    } else {
      // The server has not seen the text that was typed meanwhile: it may be right.
      const isNewer = !areSameFields(sent, state.value);
      set({ status: isNewer ? "CHANGED" : "REFUSED", error });
      if (isNewer) planSave();
    }
  }

  async function mergeNewest(): Promise<void> {
    try {
      merge(await load());
    } catch (error) {
      tryLater(error);
    }
  }

  function tryLater(error: unknown): void {
    set({ status: "WAITING", error });
    saveAfter(retryMs);
    retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
  }

  /** Takes over the changes of others to fields that were not changed here. */
  function merge(theirs: Stored<T>): void {
    const versions = { base: base.value, ours: state.value, theirs: theirs.value };
    const compared = compareVersions(versions, groups);
    if (compared.conflicts.length > 0) {
      cancelSave();
      set({ status: "CONFLICT", conflict: { theirs, groups: compared.conflicts } });
      writeDraft();
      return;
    }
    const value = { ...theirs.value, ...pickFields(state.value, compared.ours) };
    base = theirs;
    set({
      value,
      merged: compared.theirs,
      conflict: null,
      status: areSameFields(value, base.value) ? "SAVED" : "CHANGED",
      error: null,
    });
    writeDraft();
    if (isChanged()) saveAfter(0);
  }

  /** `choices` has a side for each field in conflict; a field without a choice stays as it is here. */
  function resolve(choices: Readonly<Record<string, Side>>): void {
    const { conflict } = state;
    if (conflict === null) return;
    const { theirs } = conflict;
    const compared = compareVersions(
      { base: base.value, ours: state.value, theirs: theirs.value },
      groups,
    );
    const kept = compared.conflicts.flatMap((group) =>
      group.some((name) => choices[name] === "THEIRS") ? [] : group,
    );
    const value = {
      ...theirs.value,
      ...pickFields(state.value, [...compared.ours, ...kept]),
    };
    base = theirs;
    set({ value, conflict: null, status: "CHANGED", error: null });
    void saveNow();
  }

  /**
   * The server has a newer version that the user made, such as a restored one. Without a change that
   * is not saved, nothing of it is reported as the change of another person.
   */
  function takeOver(newest: Stored<T>): void {
    receive(newest);
    if (base === newest) set({ merged: [] });
  }

  /** The server has a newer version, which a query or another request found. */
  function receive(newest: Stored<T>): void {
    if (newest.revision <= base.revision || running !== null) return;
    if (state.conflict !== null) {
      if (newest.revision <= state.conflict.theirs.revision) return;
      set({ conflict: null });
    }
    merge(newest);
  }

  /** Discards the changes that the server does not have. */
  function discard(): void {
    cancelSave();
    if (state.conflict !== null) base = state.conflict.theirs;
    const { value } = base;
    set({ value, status: "SAVED", error: null, conflict: null, restoredFromMs: null });
    writeDraft();
  }

  function restore(draft: KeptDraft): void {
    const names = changedFields(draft.now, draft.before).filter((name) => name in base.value);
    const now = base.value;
    const value = { ...now, ...typed(now, pickFields(draft.now, names)) };
    if (areSameFields(value, now)) {
      drafts.clear();
      return;
    }
    set({ value, status: "CHANGED", restoredFromMs: draft.atMs });
    if (draft.revision >= base.revision) {
      planSave();
      return;
    }
    // Another editor has saved since these changes were made.
    const theirs = base;
    base = {
      value: { ...now, ...typed(now, pickFields(draft.before, names)) },
      revision: draft.revision,
    };
    merge(theirs);
  }

  const draft = drafts.take(clock.now());
  if (draft !== null) restore(draft);

  return {
    state: () => state,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change,
    /** Resolves to the state after the request, which says whether the changes are saved. */
    async saveNow(): Promise<AutosaveState<T>> {
      await saveNow();
      return state;
    },
    /** Sends at once the changes that wait for a connection. */
    retry(): void {
      if (state.status === "WAITING" && !isManual) void saveNow();
    },
    receive,
    takeOver,
    resolve,
    discard,
    /**
     * Saves when the page is left or the tab is hidden. Nothing is lost if the request does not
     * arrive.
     */
    leave(): void {
      if (!isChanged()) return;
      writeDraft();
      if (state.status !== "REFUSED" && !isManual) void saveNow(true);
    },
    isChanged,
  };
}

/** The members of `draft` whose types are those of the present value. */
function typed<T extends FieldValues>(value: T, draft: FieldValues): Partial<T> {
  const fitting = Object.keys(draft).filter((name) => {
    const [before, after] = [value[name], draft[name]];
    return before === null || after === null || typeof before === typeof after;
  });
  const part: Partial<T> = {};
  for (const name of fitting) Object.assign(part, { [name]: draft[name] });
  return part;
}

export type Autosave<T extends FieldValues> = ReturnType<typeof createAutosave<T>>;
