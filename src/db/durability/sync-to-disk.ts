import { fdatasync } from "node:fs";

/** Resolves when what was written to an open file is on disk; the waiting is a thread's. */
export function syncToDisk(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });
}
