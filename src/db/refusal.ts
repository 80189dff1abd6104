/** Distinguishes errors of the storage from errors of a statement or a caller. */

import { SQLiteError } from "bun:sqlite";
import { AppError } from "../lib/errors.ts";
import { StorageFaultError } from "./fault.ts";

const STORAGE_CODES = [
  "SQLITE_FULL",
  "SQLITE_READONLY",
  "SQLITE_IOERR",
  "SQLITE_CANTOPEN",
  "SQLITE_BUSY",
] as const;

/** Whether the disk or the database file caused the error, and not the statement. */
export function isStorageError(error: unknown): boolean {
  if (error instanceof StorageFaultError) return true;
  return error instanceof SQLiteError && isStorageCode(error.code ?? "");
}

export function isStorageCode(code: string): boolean {
  return STORAGE_CODES.some((name) => code.startsWith(name));
}

/** Whether another connection has the lock that the statement needs. */
export function isLocked(error: unknown): boolean {
  return error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY") === true;
}

/** Whether a write failed because the storage refused it. The same write may succeed later. */
export function isStorageRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status === 503;
}

/** Returns the error for the caller of a write that the storage refused. */
export function storageRefused(cause: unknown): AppError {
  if (cause instanceof StorageFaultError) return cause;
  return new AppError(503, "SERVICE_UNAVAILABLE", "The service cannot store anything right now.", {
    suggestion: "Nothing was changed. Try again in a few seconds.",
    headers: { "Retry-After": "5" },
    cause,
  });
}
