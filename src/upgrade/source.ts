/** Where the files of a release are read from: a folder on this machine, or a web server. */

import { createReadStream, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../lib/clock.ts";
import { UpgradeError } from "./refusal.ts";
import type { ReadReleaseFile } from "./release.ts";

type OpenFile = {
  /** Null if the server does not tell it. */
  bytes: number | null;
  pieces: AsyncIterable<Uint8Array>;
};

export type ReleaseSource = {
  /** The address of a file, for people. */
  addressOf: (name: string) => string;
  open: (name: string) => Promise<OpenFile>;
};

/** A server that sends nothing for this long is not waited for. */
const STALL_MS = 30_000;
const PIECE_BYTES = 256 * 1024;

/** `from` is a URL, or the absolute path of a folder. */
export function releaseSource(from: string, clock: Pick<Clock, "after">): ReleaseSource {
  if (/^https?:\/\//.test(from)) {
    const base = from.endsWith("/") ? from : `${from}/`;
    const addressOf = (name: string) => base + name;
    return { addressOf, open: (name) => openAt(addressOf(name), clock) };
  }
  const addressOf = (name: string) => join(from, name);
  return { addressOf, open: async (name) => openFile(addressOf(name)) };
}

/** Reads a file that is at most as long as its reader says. */
export function readerOf(source: ReleaseSource): ReadReleaseFile {
  return async (name, maxBytes) => {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of (await source.open(name)).pieces) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) {
        throw new UpgradeError(`${source.addressOf(name)} is longer than ${maxBytes} bytes.`);
      }
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  };
}

function openFile(path: string): OpenFile {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isFile() !== true) {
    throw new UpgradeError(
      `There is no file ${path}.`,
      "Name the folder of one release, or its URL, with --from.",
    );
  }
  return { bytes: file.size, pieces: createReadStream(path, { highWaterMark: PIECE_BYTES }) };
}

/** It follows redirects and uses the proxy variables of the environment, as other commands of a system do. */
async function openAt(url: string, clock: Pick<Clock, "after">): Promise<OpenFile> {
  const ender = new AbortController();
  const limit = () =>
    clock.after(STALL_MS, () =>
      ender.abort(new Error(`nothing was received for ${STALL_MS / 1_000} seconds`)),
    );
  const cancel = limit();
  try {
    const response = await fetch(url, { signal: ender.signal, decompress: false });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new UpgradeError(
        `${url} answers with the status ${response.status}.`,
        "Look whether this release exists, and name another place with --from or another version with --version.",
      );
    }
    const length = Number(response.headers.get("content-length") ?? Number.NaN);
    const bytes = Number.isSafeInteger(length) && length > 0 ? length : null;
    return { bytes, pieces: piecesOf(response.body, url, limit) };
  } catch (error) {
    throw unreachable(url, error);
  } finally {
    cancel();
  }
}

async function* piecesOf(
  body: ReadableStream<Uint8Array> | null,
  url: string,
  limit: () => () => void,
): AsyncGenerator<Uint8Array> {
  let cancel = limit();
  try {
    for await (const piece of body ?? []) {
      cancel();
      yield piece;
      cancel = limit();
    }
  } catch (error) {
    throw unreachable(url, error);
  } finally {
    cancel();
  }
}

function unreachable(url: string, error: unknown): UpgradeError {
  if (error instanceof UpgradeError) return error;
  return new UpgradeError(
    `${url} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    "Check the network of this machine, or copy the release into a folder and name it with --from.",
    error,
  );
}
