/** A release cannot be found, trusted or installed, for a reason that the operator can act on. */
export class UpgradeError extends Error {
  readonly suggestion: string | null;

  constructor(message: string, suggestion: string | null = null, cause?: unknown) {
    super(message, { cause });
    this.name = "UpgradeError";
    this.suggestion = suggestion;
  }
}
