/**
 * The files of a database, compared with what their paths lead to. On POSIX systems a file that was
 * deleted, moved or replaced stays open: whatever is written to it is accepted and lost.
 */

import { type Stats, statSync } from "node:fs";
import type { StorageFault } from "./fault.ts";

/** Where a path leads: to the file that is open, to nothing, or to another file. */
export type Place = "same" | "missing" | "other";

export type OpenFiles = {
  /** From now on the path has to lead to the file that it leads to now. */
  add(path: string): void;
  /** The first file whose path leads elsewhere; null if there is none. */
  findDisplaced(): StorageFault | null;
  placeOf(path: string): Place;
};

type Identity = Pick<Stats, "dev" | "ino">;

const FINDINGS = {
  missing: "was deleted or moved",
  other: "was replaced",
} as const satisfies Record<Exclude<Place, "same">, string>;

export function createOpenFiles(): OpenFiles {
  const files = new Map<string, Identity>();

  function placeOf(path: string): Place {
    const known = files.get(path);
    const found = look(path);
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
        const place = placeOf(path);
        if (place !== "same") return { kind: "displaced", file: path, finding: FINDINGS[place] };
      }
      return null;
    },
    placeOf,
  };
}

/** A path that cannot be followed right now (EACCES, EIO) says nothing about the file. */
function look(path: string): Identity | "missing" | "unknown" {
  try {
    return statSync(path);
  } catch (error) {
    const code: unknown = error instanceof Error ? Reflect.get(error, "code") : null;
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unknown";
  }
}
