/** Undo and redo: the values before and after the present one. */

export type History<T> = {
  past: readonly T[];
  future: readonly T[];
  /** Names the subject of the last change; changes with the same name are undone together. */
  topic: string | null;
};

const MOST = 200;

export const noHistory = <T>(): History<T> => ({ past: [], future: [], topic: null });

/** The history after a change of `present`. */
export function recorded<T>(history: History<T>, present: T, topic: string | null): History<T> {
  const isContinued = topic !== null && topic === history.topic && history.past.length > 0;
  const past = isContinued ? history.past : [...history.past, present].slice(-MOST);
  return { past, future: [], topic };
}

/** The value before the present one, and the history then; null at the beginning. */
export function undone<T>({ past, future }: History<T>, present: T) {
  const value = past.at(-1);
  if (value === undefined) return null;
  return { value, history: { past: past.slice(0, -1), future: [present, ...future], topic: null } };
}

export function redone<T>({ past, future }: History<T>, present: T) {
  const [value, ...rest] = future;
  if (value === undefined) return null;
  return { value, history: { past: [...past, present], future: rest, topic: null } };
}
