/**
 * The header If-Match (RFC 9110 §13.1.1): a change is made only if the object still has the revision
 * that the caller read, so that two people who edit an object at the same time lose nothing. The
 * revision of an object is its ETag. A request without the header changes the object as it is.
 */

import { AppError } from "../lib/errors.ts";

/** Throws 412 if the request names other revisions than the one that the object has. */
export function ensureRevision(request: Request, noun: string, revision: number): void {
  const given = request.headers.get("if-match");
  if (given === null) return;
  const tags = given.split(",").map((tag) => tag.trim().replace(/^W\//, "").replaceAll('"', ""));
  if (!tags.includes("*") && !tags.includes(String(revision))) {
    throw revisionConflict(noun, revision);
  }
}

export function revisionConflict(noun: string, revision: number): AppError {
  const message = `The ${noun} was changed since it was read: it has the revision ${revision} now.`;
  return new AppError(412, "REVISION_CONFLICT", message, {
    suggestion: `Read the ${noun} again, and send the change with its present ETag in If-Match.`,
    headers: { ETag: `"${revision}"` },
  });
}
