/**
 * A release is a folder with the executables of all platforms, a list of their digests, and the signature
 * of that list, whose trusted comment names the version. It is on a web server or on a disk. Nothing of it is
 * believed before the signature was verified with the key of releases, which this program contains.
 */

import releaseKey from "../../packaging/release.pub" with { type: "text" };
import { MinisignError, verifyMinisign } from "../lib/minisign.ts";
import { SIGNATURE_FILE, SUMS_FILE, versionInComment } from "../lib/release-names.ts";
import { UpgradeError } from "./refusal.ts";

/** Where releases are published: the one place that names it. */
const RELEASES_URL = "https://github.com/mailstead/mailstead/releases";

export type SignedRelease = {
  version: string;
  /** SHA-256 of each file, hexadecimal, by its name. */
  digests: ReadonlyMap<string, string>;
};

/** Reads a file of a release, which is at most this long. */
export type ReadReleaseFile = (name: string, maxBytes: number) => Promise<Uint8Array>;

const MAX_SUMS_BYTES = 64 * 1024;
const MAX_SIGNATURE_BYTES = 16 * 1024;
/** A line of `sha256sum`: the digest, a space, a space or an asterisk, the name. */
const SUM_LINE = /^([0-9a-f]{64}) [ *]([\w.+~-]{1,200})$/;

/** The folder of a published release: of one version, or of the newest. */
export function publishedRelease(version: string | null): string {
  return version === null
    ? `${RELEASES_URL}/latest/download`
    : `${RELEASES_URL}/download/v${version}`;
}

/** The page that tells what is new in a version. */
export function changesUrl(version: string): string {
  return `${RELEASES_URL}/tag/v${version}`;
}

/** The public key with which releases are verified; null if this program was built without one. */
export function builtInReleaseKey(): string | null {
  return releaseKey.trim().split("\n").length > 1 ? releaseKey : null;
}

/** Throws UpgradeError unless the list of digests was signed with the key, and its comment names a version. */
export async function readRelease(
  read: ReadReleaseFile,
  publicKey: string,
): Promise<SignedRelease> {
  const sums = await read(SUMS_FILE, MAX_SUMS_BYTES);
  const signature = Buffer.from(await read(SIGNATURE_FILE, MAX_SIGNATURE_BYTES)).toString("utf8");
  const { trustedComment } = verified(sums, signature, publicKey);
  const version = versionInComment(trustedComment);
  if (version === null) {
    throw new UpgradeError(
      `The trusted comment of ${SIGNATURE_FILE} names no version of Mailstead.`,
      "The comment must be like mailstead 1.2.3.",
    );
  }
  return { version, digests: readSums(Buffer.from(sums).toString("utf8")) };
}

function verified(sums: Uint8Array, signature: string, publicKey: string) {
  try {
    return verifyMinisign(sums, signature, publicKey);
  } catch (error) {
    if (!(error instanceof MinisignError)) throw error;
    throw new UpgradeError(
      `${SUMS_FILE} is not trusted: ${error.message}`,
      "Nothing was changed. If the release is not yours, report this to its publisher.",
      error,
    );
  }
}

function readSums(text: string): Map<string, string> {
  const digests = new Map<string, string>();
  for (const line of text.trimEnd().split("\n")) {
    const [, digest, name] = SUM_LINE.exec(line) ?? [];
    if (digest === undefined || name === undefined) {
      throw new UpgradeError(`${SUMS_FILE} has a line that is no digest with a name.`);
    }
    digests.set(name, digest);
  }
  return digests;
}
