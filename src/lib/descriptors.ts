/** File descriptors kept in reserve, for when connections have used up all the others. */

import { closeSync, openSync } from "node:fs";

export type DescriptorReserve = {
  /** Opens the reserve, and as many descriptors again to see that they are free. False: there are too few. */
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

/** Whether another descriptor can be opened now. */
export function hasFreeDescriptor(): boolean {
  const opened = openMany(1);
  closeMany(opened);
  return opened.length > 0;
}

/** Fewer than `count` where the limit is reached. */
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

/** Of the process (EMFILE) or of the whole system (ENFILE). */
export function isExhaustion(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "EMFILE" || code === "ENFILE";
}
