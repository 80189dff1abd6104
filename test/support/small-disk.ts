/** A disk that a test can fill. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Mounts a disk and returns its folder; null if mounting is not permitted. */
export function mountSmallDisk(megabytes = 32): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), "mailstead-disk-"));
  const { exitCode } = Bun.spawnSync([
    "mount",
    "-t",
    "tmpfs",
    "-o",
    `size=${megabytes}m`,
    "tmpfs",
    folder,
  ]);
  if (exitCode === 0) return folder;
  rmSync(folder, { recursive: true });
  return null;
}

/** The unmount is lazy, because SQLite holds files open as long as statements exist. */
export function unmountDisk(folder: string): void {
  Bun.spawnSync(["umount", "-l", folder]);
  rmSync(folder, { recursive: true, force: true });
}

/** Writes a file until no byte is free. */
export function fillDisk(file: string): void {
  for (const size of [1 << 20, 1 << 12, 1]) {
    try {
      for (;;) writeFileSync(file, new Uint8Array(size), { flag: "a" });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
}
