/** Errors of the storage, told apart from those of a statement or a caller. */

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

/** Errors that say the disk or the file is at fault, not the statement. */
export function isStorageError(error: unknown): boolean {
  if (error instanceof StorageFaultError) return true;
  if (!(error instanceof SQLiteError)) return false;
  const code = error.code ?? "";
  return STORAGE_CODES.some((name) => code.startsWith(name));
}

/** Whether a write failed because the storage refused it: the same write may succeed later. */
export function isStorageRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status === 503;
}

/** What a write is refused with that the storage did not take. */
export function storageRefused(cause: unknown): AppError {
  if (cause instanceof StorageFaultError) return cause;
  return new AppError(503, "SERVICE_UNAVAILABLE", "The service cannot store anything right now.", {
    suggestion: "Nothing was changed. Try again in a little while.",
    headers: { "Retry-After": "5" },
    cause,
  });
}
