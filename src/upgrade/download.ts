/** Brings the executable of a release beside the installed one, and compares its digest. */

import { chmodSync, rmSync } from "node:fs";
import { type Written, writePieces } from "../backup/files.ts";
import { UpgradeError } from "./refusal.ts";
import type { SignedRelease } from "./release.ts";
import type { ReleaseSource } from "./source.ts";

const MAX_EXECUTABLE_BYTES = 512 * 1024 * 1024;
const EXECUTABLE_MODE = 0o755;

/** Reports the received bytes, and all of them if that is known. */
export type OnProgress = (received: number, all: number | null) => Promise<void>;

/**
 * Writes the file `name` of the release to `to`. A file that was there, or that is refused, is removed.
 */
export async function downloadExecutable(options: {
  source: ReleaseSource;
  release: SignedRelease;
  name: string;
  to: string;
  onProgress: OnProgress;
}): Promise<Written> {
  const { source, release, name, to, onProgress } = options;
  const digest = release.digests.get(name);
  if (digest === undefined) {
    throw new UpgradeError(
      `Version ${release.version} has no executable ${name} for this machine.`,
      "Build it from the source, as docs/contributing.md says.",
    );
  }
  rmSync(to, { force: true });
  try {
    const { bytes, pieces } = await source.open(name);
    const written = await writePieces(to, bounded(pieces, bytes, onProgress));
    if (written.sha256 !== digest) {
      throw new UpgradeError(
        `${source.addressOf(name)} is not the file that was released: its SHA-256 is ${written.sha256}, ` +
          `and the signed list says ${digest}.`,
        "Nothing was changed. Try again, and if it repeats, tell the publisher of the release.",
      );
    }
    chmodSync(to, EXECUTABLE_MODE);
    return written;
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

async function* bounded(
  pieces: AsyncIterable<Uint8Array>,
  all: number | null,
  onProgress: OnProgress,
): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const piece of pieces) {
    received += piece.byteLength;
    if (received > MAX_EXECUTABLE_BYTES) {
      throw new UpgradeError(`The executable is longer than ${MAX_EXECUTABLE_BYTES} bytes.`);
    }
    yield piece;
    await onProgress(received, all);
  }
}
