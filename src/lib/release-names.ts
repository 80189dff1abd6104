/** The names of the files of a release, which its maker (scripts/release.ts) and its users share. */

/** Lists the digest and the name of each file of the release, as `sha256sum` writes it. */
export const SUMS_FILE = "SHA256SUMS";
/** The signature of that list, in the format of minisign. Its trusted comment is `releaseComment`. */
export const SIGNATURE_FILE = `${SUMS_FILE}.minisig`;

const COMMENT = "mailstead ";
const MAX_VERSION = 64;
/** A version by https://semver.org, such as 1.2.3 or 1.2.3-rc.1. */
const VERSION_FORM = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

/**
 * The trusted comment of a release. It is signed, so that the signed list of an old version cannot be
 * offered as that of a new one.
 */
export function releaseComment(version: string): string {
  if (isVersion(version)) return COMMENT + version;
  throw new Error(`"${version}" is no version, such as 1.2.3`);
}

/** Returns the version that the trusted comment names; null if it names none. */
export function versionInComment(comment: string): string | null {
  const version = comment.startsWith(COMMENT) ? comment.slice(COMMENT.length) : "";
  return isVersion(version) ? version : null;
}

export function isVersion(text: string): boolean {
  return text.length <= MAX_VERSION && VERSION_FORM.test(text);
}

export function isNewerVersion(version: string, than: string): boolean {
  return Bun.semver.order(version, than) > 0;
}
