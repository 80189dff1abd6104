/** The phases of a backup, in their order, and how far one is. */

export const BACKUP_PHASES = [
  "copy",
  "encrypt",
  "verify",
  "upload",
  "check",
  "publish",
  "remove",
] as const;
export type BackupPhase = (typeof BACKUP_PHASES)[number];

/** The bytes of the phase that are done, and all of them; null if they are not known. */
export type BackupProgress = { phase: BackupPhase; bytes: number; totalBytes: number | null };
