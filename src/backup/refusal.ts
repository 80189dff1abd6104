/** A backup cannot be made, read or restored, for a reason that the operator can act on. */
export class BackupError extends Error {
  readonly suggestion: string | null;

  constructor(message: string, suggestion: string | null = null, cause?: unknown) {
    super(message, { cause });
    this.name = "BackupError";
    this.suggestion = suggestion;
  }
}

/** Another backup of the installation is being made, which is no failure of the backups. */
export class BackupRunsError extends BackupError {
  constructor() {
    super("Another backup of this installation runs.", "Wait for its end, and try again.");
    this.name = "BackupRunsError";
  }
}
