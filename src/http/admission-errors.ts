/** The refusals of requests without a usable key, or above their rate. */

import { AppError } from "../lib/errors.ts";

/** A 401 response names the authentication scheme (RFC 9110 §11.6.1, RFC 6750 §3). */
const CHALLENGE = { "WWW-Authenticate": "Bearer" } as const;

export function missingAuth(): AppError {
  return new AppError(401, "MISSING_AUTH", "No API key was sent, or the header is malformed.", {
    headers: CHALLENGE,
  });
}

export function invalidKey(): AppError {
  return new AppError(401, "INVALID_API_KEY", "This API key is unknown, revoked or expired.", {
    headers: CHALLENGE,
    suggestion: "List the keys with mailstead key list, or create one with mailstead key create.",
  });
}

export function rateExceeded(seconds: number): AppError {
  return new AppError(429, "RATE_LIMIT_EXCEEDED", "Too many requests in one minute.", {
    headers: { "Retry-After": String(seconds) },
  });
}
