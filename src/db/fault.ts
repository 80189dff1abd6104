/**
 * Faults of the database files that only an operator can repair: a file is damaged, or it was
 * deleted, moved or replaced while it was open. The first fault is final: the process writes
 * nothing more until it ends, because a write would be lost or increase the damage.
 */

import { SQLiteError } from "bun:sqlite";
import { AppError } from "../lib/errors.ts";

export type StorageFault = {
  kind: "damaged" | "displaced";
  /** Absolute path of the file. */
  file: string;
  /** Description of the fault for the operator; never shown to callers of the API. */
  finding: string;
};

/** Remembers the first fault of a database. */
export type FaultLatch = {
  /** The first fault; null if there is none. */
  current(): StorageFault | null;
  /** Records the fault if it is the first one, and returns the error that the caller must throw. */
  raise(fault: StorageFault, cause?: unknown): StorageFaultError;
  /** The error of the first fault; null if there is none. */
  error(): StorageFaultError | null;
  /** Throws the error of the first fault, if there is one. */
  check(): void;
  /** Calls `listener` with the first fault; at once if it was raised before. */
  onRaised(listener: (fault: StorageFault) => void): void;
};

/** The error that callers of the API get: status 503, without details of the fault. */
export class StorageFaultError extends AppError {
  readonly fault: StorageFault;

  constructor(fault: StorageFault, cause?: unknown) {
    super(503, "SERVICE_UNAVAILABLE", "The storage has a fault that the operator must repair.", {
      suggestion: "Try again later. The log of the server shows the cause to the operator.",
      headers: { "Retry-After": "60" },
      cause,
    });
    this.name = "StorageFaultError";
    this.fault = fault;
  }
}

export function createFaultLatch(): FaultLatch {
  let first: StorageFaultError | null = null;
  const listeners: ((fault: StorageFault) => void)[] = [];
  return {
    current: () => first?.fault ?? null,
    raise(fault, cause) {
      if (first !== null) return first;
      first = new StorageFaultError(fault, cause);
      for (const listener of listeners) listener(fault);
      return first;
    },
    error: () => first,
    check() {
      if (first !== null) throw first;
    },
    onRaised(listener) {
      if (first === null) listeners.push(listener);
      else listener(first.fault);
    },
  };
}

/**
 * Result codes for a file with wrong content (https://sqlite.org/rescode.html). SHORT_READ means
 * that the write-ahead log was truncated; SQLite reads the missing end of a database as zeros.
 */
const DAMAGE_CODES = [
  "SQLITE_CORRUPT",
  "SQLITE_NOTADB",
  "SQLITE_IOERR_SHORT_READ",
  "SQLITE_IOERR_CORRUPTFS",
  "SQLITE_IOERR_DATA",
] as const;

/** Returns the fault that an error of SQLite reports; null if the error does not mean damage. */
export function damageOf(error: unknown, file: string): StorageFault | null {
  return error instanceof SQLiteError ? damageByCode(error.code ?? "", error.message, file) : null;
}

/** The same, for an error of a thread. */
export function damageByCode(code: string, message: string, file: string): StorageFault | null {
  if (!DAMAGE_CODES.some((damage) => code === damage || code.startsWith(`${damage}_`))) return null;
  return { kind: "damaged", file, finding: `${code}: ${message}` };
}

/** Describes the fault in one sentence that names the file. */
export function describeFault({ kind, file, finding }: StorageFault): string {
  return kind === "damaged"
    ? `The database ${file} is damaged (${finding}).`
    : `The file ${file} ${finding} while the server had it open.`;
}

/** Returns the steps that the operator can take. */
export function recoverySteps({ kind }: StorageFault): string {
  return kind === "damaged"
    ? "Stop the server if it runs, and copy the data folder away. Then restore the newest backup; " +
        "mailstead check reports the extent of the damage."
    : "Stop the server with SIGTERM. Put the original files back into the data folder, " +
        "or restore the newest backup, and start it again.";
}
