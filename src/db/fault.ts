/**
 * Faults of the database files that only an operator can repair: a file is damaged, or it was
 * deleted, moved or replaced while it was open. The first fault is final. Until the process ends
 * nothing more is written, since it would be lost or make the damage worse.
 */

import { SQLiteError } from "bun:sqlite";
import { AppError } from "../lib/errors.ts";

export type StorageFault = {
  kind: "damaged" | "displaced";
  /** Absolute path of the file concerned. */
  file: string;
  /** What was found; for the operator, never for callers. */
  finding: string;
};

/** Remembers the first fault of a database. */
export type FaultLatch = {
  current(): StorageFault | null;
  /** Keeps the fault if it is the first one, and returns what the caller has to throw. */
  raise(fault: StorageFault, cause?: unknown): StorageFaultError;
  /** What is thrown from the first fault on; null as long as there is none. */
  error(): StorageFaultError | null;
  /** Throws that. */
  check(): void;
  /** Calls `listener` with the first fault, at once where there is one already. */
  onRaised(listener: (fault: StorageFault) => void): void;
};

/** The refusal that callers of the API get: 503, without details. */
export class StorageFaultError extends AppError {
  readonly fault: StorageFault;

  constructor(fault: StorageFault, cause?: unknown) {
    super(503, "SERVICE_UNAVAILABLE", "The storage has a fault that the operator must repair.", {
      suggestion: "Try again later; the operator finds the cause in the log of the server.",
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
 * Result codes that say that the content of a file is wrong (https://sqlite.org/rescode.html).
 * SQLite fills up what is missing at the end of a database with zeros, so SHORT_READ comes from a
 * write-ahead log that is shorter than it was.
 */
const DAMAGE_CODES = [
  "SQLITE_CORRUPT",
  "SQLITE_NOTADB",
  "SQLITE_IOERR_SHORT_READ",
  "SQLITE_IOERR_CORRUPTFS",
  "SQLITE_IOERR_DATA",
] as const;

/** The fault that an error of SQLite stands for; null if it is not about damage. */
export function damageOf(error: unknown, file: string): StorageFault | null {
  if (!(error instanceof SQLiteError)) return null;
  const code = error.code ?? "";
  if (!DAMAGE_CODES.some((damage) => code === damage || code.startsWith(`${damage}_`))) return null;
  return { kind: "damaged", file, finding: `${code}: ${error.message}` };
}

/** One sentence that names the file. */
export function describeFault({ kind, file, finding }: StorageFault): string {
  return kind === "damaged"
    ? `The database ${file} is damaged (${finding}).`
    : `The file ${file} ${finding} while the server had it open.`;
}

/** What the operator can do. */
export function recoveryOf({ kind }: StorageFault): string {
  return kind === "damaged"
    ? "Stop the server if it runs, and copy the data folder away. Then restore the newest backup; " +
        "mailstead check tells how far the damage goes."
    : "Stop the server with SIGTERM. Put the original files back into the data folder, " +
        "or restore the newest backup, and start it again.";
}
