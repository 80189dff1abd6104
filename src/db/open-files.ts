/**
 * Compares the open files of a database with the files at their paths. On POSIX systems a file that
 * was deleted, moved or replaced stays open: the system accepts writes to it, and they are lost.
 */

import { type Stats, statSync } from "node:fs";
import type { StorageFault } from "./fault.ts";

/** A path leads to the open file ("same"), to no file ("missing"), or to another file ("other"). */
type PathState = "same" | "missing" | "other";

export type OpenFiles = {
  /** Records the file at the path. From now on the path must lead to the same file. */
  add(path: string): void;
  /** Returns a fault for the first path that leads to no file or another one; null if none does. */
  findDisplaced(): StorageFault | null;
  stateOfPath(path: string): PathState;
};

type Identity = Pick<Stats, "dev" | "ino">;

const FINDINGS = {
  missing: "was deleted or moved",
  other: "was replaced",
} as const satisfies Record<Exclude<PathState, "same">, string>;

export function createOpenFiles(): OpenFiles {
  const files = new Map<string, Identity>();

  function stateOfPath(path: string): PathState {
    const known = files.get(path);
    const found = identify(path);
    if (found === "unknown") return "same";
    if (found === "missing") return "missing";
    return found.dev === known?.dev && found.ino === known.ino ? "same" : "other";
  }

  return {
    add(path) {
      const { dev, ino } = statSync(path);
      files.set(path, { dev, ino });
    },
    findDisplaced() {
      for (const path of files.keys()) {
        const state = stateOfPath(path);
        if (state !== "same") return { kind: "displaced", file: path, finding: FINDINGS[state] };
      }
      return null;
    },
    stateOfPath,
  };
}

/** Returns "unknown" if the path cannot be resolved now (EACCES, EIO): the file may be the same. */
function identify(path: string): Identity | "missing" | "unknown" {
  try {
    return statSync(path);
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : null;
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unknown";
  }
}
