/** A reserve of file descriptors, for the case that connections use up all others. */

import { closeSync, openSync } from "node:fs";

export type DescriptorReserve = {
  /**
   * Opens the reserve, and the same number of descriptors again to check that they are free.
   * Returns false if there are too few.
   */
  acquire(): boolean;
  /** Closes the reserve, so that its descriptors can be used. */
  release(): void;
};

const PLACEHOLDER = "/dev/null";

export function createDescriptorReserve(size: number): DescriptorReserve {
  let held: number[] = [];
  return {
    acquire() {
      if (held.length > 0) return true;
      const opened = openMany(2 * size);
      const areEnough = opened.length === 2 * size;
      closeMany(opened.splice(areEnough ? size : 0));
      held = opened;
      return areEnough;
    },
    release() {
      closeMany(held.splice(0));
    },
  };
}

/** Whether so many more descriptors can be opened now. */
export function hasFreeDescriptors(count: number): boolean {
  const opened = openMany(count);
  closeMany(opened);
  return opened.length === count;
}

/** Opens up to `count` descriptors; fewer if the limit is reached. */
function openMany(count: number): number[] {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(PLACEHOLDER, "r"));
  } catch (error) {
    if (!isExhaustion(error)) throw error;
  }
  return opened;
}

function closeMany(descriptors: readonly number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor);
}

/** Whether the process (EMFILE) or the system (ENFILE) has no free descriptor. */
export function isExhaustion(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "EMFILE" || code === "ENFILE";
}
