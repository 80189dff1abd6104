import { fdatasync } from "node:fs";

/**
 * Resolves when the data written to an open file is on disk. A thread waits, not the event loop.
 */
export function syncToDisk(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });
}
