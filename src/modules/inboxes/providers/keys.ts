/** Reads the key of a call from its Authorization header. */

/** A bearer token (RFC 6750 §2.1). */
export function readBearer({ headers }: Request): string | null {
  return /^Bearer +(\S{1,1000})$/i.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

/** The id of the access key in a signature of Amazon (Signature Version 4), which is not checked. */
export function readAccessKeyId({ headers }: Request): string | null {
  const text = (headers.get("authorization") ?? "").slice(0, 2_000);
  return /^AWS4-[A-Z0-9-]+ .*?Credential=([^/,\s]{1,1000})\//.exec(text)?.[1] ?? null;
}
