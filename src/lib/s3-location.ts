/** The address of a place in an S3 bucket: `s3://BUCKET/PREFIX`. */

export type S3Location = {
  bucket: string;
  /** Without slashes at its ends; "" for the whole bucket. */
  prefix: string;
};

const SCHEME = "s3://";
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** A part of a key that needs no encoding in a URL. */
const SEGMENT = /^[\w.!*'()-]{1,100}$/;
const MAX_SEGMENTS = 10;

export const isS3 = (text: string): boolean => text.startsWith(SCHEME);

/** Null if the text is not such an address. */
export function parseS3Location(text: string): S3Location | null {
  if (!isS3(text)) return null;
  const [bucket = "", ...rest] = text.slice(SCHEME.length).split("/", MAX_SEGMENTS + 2);
  const segments = rest.filter((segment) => segment !== "");
  const isValid =
    BUCKET.test(bucket) &&
    segments.length <= MAX_SEGMENTS &&
    segments.every((segment) => SEGMENT.test(segment) && !/^\.+$/.test(segment));
  return isValid ? { bucket, prefix: segments.join("/") } : null;
}

export const s3Address = ({ bucket, prefix }: S3Location): string =>
  `${SCHEME}${bucket}${prefix === "" ? "" : `/${prefix}`}`;
