/** One setup at a time: two would replace the files of each other. */

import { tryLockFolder } from "../../db/folder-lock.ts";
import { AppError } from "../../lib/errors.ts";
import type { Machine } from "./machine.ts";

/** Returns the function that lets another setup begin; the end of the process does the same. */
export function lockMachine(machine: Machine): () => void {
  const unlock = tryLockFolder(machine.path("/"));
  if (unlock !== null) return once(unlock);
  throw new AppError(
    409,
    "SETUP_RUNS",
    "Another mailstead setup changes this machine. Wait for its end, and run this one again.",
  );
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
