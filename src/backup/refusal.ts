/** A backup cannot be made, read or restored, for a reason that the operator can act on. */
export class BackupError extends Error {
  readonly suggestion: string | null;

  constructor(message: string, suggestion: string | null = null, cause?: unknown) {
    super(message, { cause });
    this.name = "BackupError";
    this.suggestion = suggestion;
  }
}
