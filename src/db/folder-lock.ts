/**
 * A lock on the data folder itself: flock(2) on an open descriptor of the folder. Unlike the lock on the
 * file "lock", it cannot be removed by deleting a file. The system releases it when the process ends.
 */

import { dlopen, FFIType, read } from "bun:ffi";
import { closeSync, openSync } from "node:fs";

const LOCK_EXCLUSIVE = 2;
const LOCK_NONBLOCKING = 4;
/** EWOULDBLOCK on Linux. */
const IS_LOCKED = 11;

type LibC = {
  /** Returns false if another process has the lock, and true as well if the system has no such lock. */
  tryLock(descriptor: number): boolean;
};

let known: LibC | null | undefined;

/** Null where the C library is another one or no code may be generated; the lock file is left then. */
function openLibC(): LibC | null {
  if (process.platform !== "linux") return null;
  try {
    const { symbols } = dlopen("libc.so.6", {
      flock: { args: [FFIType.i32, FFIType.i32], returns: FFIType.i32 },
      __errno_location: { args: [], returns: FFIType.ptr },
    });
    const errno = symbols["__errno_location"]();
    return {
      tryLock: (descriptor) =>
        symbols.flock(descriptor, LOCK_EXCLUSIVE | LOCK_NONBLOCKING) === 0 ||
        errno === null ||
        read.i32(errno, 0) !== IS_LOCKED,
    };
  } catch {
    return null;
  }
}

/** Returns the function that releases the lock; null if another process has it. */
export function tryLockFolder(path: string): (() => void) | null {
  known ??= openLibC();
  if (known === null) return () => {};
  const descriptor = openSync(path, "r");
  if (known.tryLock(descriptor)) return () => closeSync(descriptor);
  closeSync(descriptor);
  return null;
}
