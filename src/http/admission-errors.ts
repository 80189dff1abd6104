/** The refusals of requests without a usable key, without its permission, or above their rate. */

import { AppError } from "../lib/errors.ts";

/** A 401 response names the authentication scheme (RFC 9110 §11.6.1, RFC 6750 §3). */
const CHALLENGE = { "WWW-Authenticate": "Bearer" } as const;
const INBOX_SUGGESTION =
  "Send the header Authorization: Bearer <API key>. Without a key, mailstead dev answers this " +
  "machine, and those of --keyless-peer that call it by a name of --allowed-host.";

/** `isOpen`: the route needs no key in `mailstead dev`, but this request did (local-access.ts). */
export function missingAuth({ isOpen }: { isOpen?: true }): AppError {
  return new AppError(401, "MISSING_AUTH", "No API key was sent, or the header is malformed.", {
    headers: CHALLENGE,
    ...(isOpen === true && { suggestion: INBOX_SUGGESTION }),
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

export function projectDisabled(): AppError {
  return new AppError(403, "PROJECT_DISABLED", "The project of this key is disabled.", {
    suggestion: "Ask the operator to enable it: mailstead project enable.",
  });
}

/** For a user who wants to change a disabled project. */
export function projectDisabledForUsers(): AppError {
  return new AppError(
    403,
    "PROJECT_DISABLED",
    "The project is disabled, so it cannot be changed.",
    {
      suggestion: "Ask an owner of the installation to enable it in its settings.",
    },
  );
}

/** For a request that waited, and whose key, session or role ended meanwhile. */
export function accessEnded(): AppError {
  return new AppError(403, "FORBIDDEN", "Your access ended while the request waited.", {
    suggestion: "Sign in again, or use another key.",
  });
}

/** For a route that accepts only users who are signed in. */
export function sessionRequired(): AppError {
  return new AppError(403, "FORBIDDEN", "API keys may not do this; a user who is signed in may.", {
    suggestion: "Use the dashboard, or the command line of the server.",
  });
}

/** For a route that does not accept public keys. */
export function secretKeyRequired(): AppError {
  return new AppError(403, "FORBIDDEN", "A public key may only be used for /v1/track.", {
    suggestion: "Use a secret key (sk_…), and only from your server.",
  });
}

/** For a request over HTTP with a password for SMTP. */
export function smtpPasswordRefused(): AppError {
  return new AppError(403, "FORBIDDEN", "An SMTP password only sends mail over SMTP.", {
    suggestion: "Use a secret key (sk_…), such as one that can only send.",
  });
}

/** For a client outside the IP ranges of its key; `client` is empty if the socket is closed. */
export function addressNotAllowed(client: string): AppError {
  const address = client === "" ? "unknown" : client;
  return new AppError(
    403,
    "ADDRESS_NOT_ALLOWED",
    `This key may not be used from this address, which is ${address}.`,
    { suggestion: "Use the key from an address of its IP ranges, or create a key for this one." },
  );
}

/** For the Origin header of a request with a public key; null if it has none. */
export function originNotAllowed(origin: string | null): AppError {
  const found = origin === null ? "the request has none" : "the request has another one";
  return new AppError(
    403,
    "FORBIDDEN",
    `This public key works only with the Origin header of an allowed page, and ${found}.`,
    {
      suggestion:
        "Send the request from a page of an allowed origin, or create a key for this origin: " +
        "mailstead key create --public --origin https://shop.example.",
    },
  );
}
