/**
 * The way in for every request with a key, in this order (interface decision A): authentication,
 * permission, rate limit, body. Only then does a route's schema see anything, so that a stranger
 * never learns it.
 */

import { Elysia } from "elysia";
import type { Sync, Change } from "../db/writer.ts";
import { sha256 } from "../lib/crypto.ts";
import { AppError } from "../lib/errors.ts";
import { readJson } from "./body.ts";
import type { Answer, Idempotency } from "./idempotency.ts";
import { slidingWindow, type SlidingWindow } from "./rate-limit.ts";

export type KeyKind = "SECRET" | "PUBLIC";
/** Who a mail is from. */
export type Sender = { address: string; name: string | null };
export type Project = {
  seq: number;
  id: string;
  name: string;
  /** Of mail that names no other one; null: there is none. */
  sender: Sender | null;
};

/** A key as found by its digest, usable or not. */
export type KnownKey = {
  kind: KeyKind;
  project: Project;
  isProjectEnabled: boolean;
  isUsable: boolean;
};

export type AdmissionOptions = {
  /** Looks up a key by the SHA-256 digest of its text. */
  findKey: (digest: string) => KnownKey | null;
  idempotency: Idempotency;
  /** Requests per minute and project; 0: no limit. */
  apiRate: number;
  now: () => number;
};

/** What Elysia hands over, as far as this file needs it. */
type Incoming = {
  request: Request;
  path: string;
  set: { headers: Record<string, string | number | undefined>; status?: number | string };
  server: { requestIP(request: Request): { address: string } | null } | null;
};

const WINDOW_MS = 60_000;
const MOST_PROJECTS_TRACKED = 10_000;
const FAILED_AUTH_PER_MINUTE = 20;
const MOST_ADDRESSES_TRACKED = 10_000;
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(options: AdmissionOptions) {
  const { findKey, idempotency, now } = options;
  const admitted = new WeakMap<Request, Project>();
  const requests = windowOrNull(options.apiRate, MOST_PROJECTS_TRACKED, now);
  const failures = slidingWindow({
    limit: FAILED_AUTH_PER_MINUTE,
    windowMs: WINDOW_MS,
    now,
    maxKeys: MOST_ADDRESSES_TRACKED,
  });

  /** Runs once a request, from whichever hook comes first. */
  function admit(incoming: Incoming, kinds: readonly KeyKind[]): Project {
    const known = admitted.get(incoming.request);
    if (known !== undefined) return known;
    const key = authenticate(incoming);
    permit(key, kinds);
    limit(incoming, key.project);
    admitted.set(incoming.request, key.project);
    return key.project;
  }

  function authenticate(incoming: Incoming): KnownKey {
    const header = incoming.request.headers.get("authorization");
    const token = BEARER.exec(header ?? "")?.[1];
    if (token === undefined) throw refuseStranger(incoming, missingAuth());
    const key = findKey(sha256(token));
    if (key === null || !key.isUsable) throw refuseStranger(incoming, invalidKey());
    return key;
  }

  /** Guessing is limited by address; a good key is never held up by somebody else's bad ones. */
  function refuseStranger(incoming: Incoming, refusal: AppError): AppError {
    const address = incoming.server?.requestIP(incoming.request)?.address ?? "unknown";
    const decision = failures.take(address);
    return decision.isAllowed ? refusal : rateExceeded(decision.resetSeconds);
  }

  function limit(incoming: Incoming, project: Project): void {
    if (requests === null) return;
    const decision = requests.take(project.seq);
    const { headers } = incoming.set;
    headers["ratelimit-limit"] = String(options.apiRate);
    headers["ratelimit-remaining"] = String(decision.remaining);
    headers["ratelimit-reset"] = String(decision.resetSeconds);
    if (!decision.isAllowed) throw rateExceeded(decision.resetSeconds);
  }

  function gate(
    name: string,
    kinds: readonly KeyKind[],
    readBody: (request: Request) => Promise<unknown>,
  ) {
    return new Elysia({ name })
      .onParse({ as: "scoped" }, async (incoming) => {
        admit(incoming, kinds);
        // Anything but undefined keeps Elysia from reading the body once more.
        return (await readBody(incoming.request)) ?? null;
      })
      .derive({ as: "scoped" }, (incoming) => {
        const project = admit(incoming, kinds);
        return { project, once: onceFor(incoming, project) };
      });
  }

  /**
   * Commits a prepared change, once per Idempotency-Key, and sets the status. Requests are the same
   * if their bodies are; a route that reads its body itself says what stands for it.
   */
  function onceFor(incoming: Incoming & { body?: unknown }, project: Project) {
    return async <T>(
      prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
      body: unknown = incoming.body,
    ): Promise<T> => {
      const { request, path, set } = incoming;
      const result = await idempotency.once(
        request.headers.get("idempotency-key"),
        { projectSeq: project.seq, method: request.method, path, body },
        prepare,
      );
      set.status = result.answer.status;
      if (result.isReplay) set.headers["idempotency-replayed"] = "true";
      return result.answer.body;
    };
  }

  return {
    /** The project of a request that was admitted. */
    projectOf: (request: Request): Project | null => admitted.get(request) ?? null,
    /** For routes that take a secret key: everything but `/v1/track`. */
    secretKey: gate("secret-key", ["SECRET"], readJson),
    /** The same for routes that read the body themselves, as it comes in. */
    secretKeyStreaming: gate("secret-key-streaming", ["SECRET"], leaveUnread),
    /** For `/v1/track`. */
    anyKey: gate("any-key", ["SECRET", "PUBLIC"], readJson),
  };
}

async function leaveUnread(): Promise<null> {
  return null;
}

function windowOrNull(limit: number, maxKeys: number, now: () => number): SlidingWindow | null {
  return limit === 0 ? null : slidingWindow({ limit, windowMs: WINDOW_MS, now, maxKeys });
}

function permit(key: KnownKey, kinds: readonly KeyKind[]): void {
  if (!key.isProjectEnabled) {
    throw new AppError(403, "PROJECT_DISABLED", "The project of this key is disabled.", {
      suggestion: "Ask the operator to enable it: mailstead project enable.",
    });
  }
  if (!kinds.includes(key.kind)) {
    throw new AppError(403, "FORBIDDEN", "A public key may only be used for /v1/track.", {
      suggestion: "Use a secret key (sk_…), and only from your server.",
    });
  }
}

/** Names the scheme to authenticate with (RFC 9110 §11.6.1, RFC 6750 §3). */
const CHALLENGE = { "WWW-Authenticate": "Bearer" } as const;

function missingAuth(): AppError {
  return new AppError(401, "MISSING_AUTH", "No API key was sent, or the header is malformed.", {
    headers: CHALLENGE,
  });
}

function invalidKey(): AppError {
  return new AppError(401, "INVALID_API_KEY", "This API key is unknown, revoked or expired.", {
    headers: CHALLENGE,
    suggestion: "List the keys with mailstead key list, or make one with mailstead key create.",
  });
}

function rateExceeded(seconds: number): AppError {
  return new AppError(429, "RATE_LIMIT_EXCEEDED", "Too many requests in a minute.", {
    headers: { "Retry-After": String(seconds) },
  });
}
