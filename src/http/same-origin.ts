/**
 * Refuses requests that a page of another site made with the session cookie of a user (CSRF). Every
 * request with a cookie that may change something must pass, so all methods but GET and HEAD:
 *
 * 1. Origin must be the origin of `--url` or of the Host header. Browsers send Origin with all other
 *    methods than GET and HEAD, and pages cannot change it.
 * 2. X-Requested-With must be `mailstead`. No HTML form can send this header, and a script of
 *    another origin would need the permission of this server (CORS), which never gives it.
 */

import { AppError } from "../lib/errors.ts";
import { parseUrl } from "../lib/url.ts";

/** Value of the X-Requested-With header of the dashboard. */
const REQUESTED_WITH = "mailstead";

/** Throws 403 unless a page of this server made the request. `url` is the value of `--url`. */
export function requireSameOrigin({ headers }: Pick<Request, "headers">, url: string): void {
  const origin = headers.get("origin");
  if (origin === null || !isOwnOrigin(origin, headers.get("host"), url)) throw foreignOrigin();
  if (headers.get("x-requested-with") !== REQUESTED_WITH) throw missingMark();
}

function isOwnOrigin(origin: string, host: string | null, url: string): boolean {
  const own = parseUrl(url);
  if (own !== null && origin === own.origin) return true;
  if (host === null) return false;
  if (origin === `https://${host}`) return true;
  // A page of the same host over plain http may be forged on its way, so it may not use https.
  return origin === `http://${host}` && !(own?.protocol === "https:" && own.host === host);
}

function foreignOrigin(): AppError {
  return new AppError(403, "FORBIDDEN", "Pages of other origins may not use a session.", {
    suggestion:
      "Send the Origin header of this server. If the dashboard itself gets this answer, set --url " +
      "to the address that the browser shows, or let the proxy pass the Host header on.",
  });
}

function missingMark(): AppError {
  return new AppError(403, "FORBIDDEN", "The header X-Requested-With is missing or wrong.", {
    suggestion: `Send the header X-Requested-With: ${REQUESTED_WITH}.`,
  });
}
