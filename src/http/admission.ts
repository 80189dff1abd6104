/**
 * The way in for every request with a key, in this order (docs/interface.md#requests): authentication,
 * permission, rate limit, body. Only then does a route's schema see anything, so that a stranger
 * never learns it.
 */

import { Elysia } from "elysia";
import type { Change, Sync, Writer } from "../db/writer.ts";
import type { AddressRange } from "../lib/address-ranges.ts";
import { sha256 } from "../lib/crypto.ts";
import { AppError } from "../lib/errors.ts";
import type { Log } from "../lib/log.ts";
import type { Origin, ReadJson } from "./body.ts";
import { clientAddressReader } from "./client-address.ts";
import type { Answer, Idempotency, Storing } from "./idempotency.ts";
import { slidingWindow } from "./rate-limit.ts";
import { createRequestRates } from "./request-rates.ts";

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
  /** Web origins that may use it; empty: any. */
  origins: readonly string[];
  project: Project;
  isProjectEnabled: boolean;
  isUsable: boolean;
};

/** A request that may go on. */
type Admitted = { project: Project; keyKind: KeyKind };

export type AdmissionOptions = {
  /** Looks up a key by the SHA-256 digest of its text. */
  findKey: (digest: string) => KnownKey | null;
  idempotency: Idempotency;
  readJson: ReadJson;
  writer: Pick<Writer, "write">;
  storing: Storing;
  /** Requests per minute and project with secret keys; 0: no limit. */
  apiRate: number;
  /** The same with public keys, and of these from one client address. */
  publicKeyRate: number;
  publicClientRate: number;
  /** Peers whose X-Forwarded-For names the client. */
  trustedProxies: readonly AddressRange[];
  /** Monotonic milliseconds (`Clock.elapsed`), so that a step of the wall clock locks no key out. */
  now: () => number;
  log: Log;
};

/**
 * Commits a prepared change, once per Idempotency-Key. Requests are the same if their bodies are; a
 * route that reads its body itself says what stands for it.
 */
type Once = <T>(
  prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
  body?: unknown,
) => Promise<T>;

/** What Elysia hands over, as far as this file needs it. */
type Incoming = {
  request: Request;
  path: string;
  /** The pattern that the router found. */
  route: string;
  set: { headers: Record<string, string | number | undefined>; status?: number | string };
  server: { requestIP(request: Request): { address: string } | null } | null;
};

const WINDOW_MS = 60_000;
const FAILED_AUTH_PER_MINUTE = 20;
const MOST_ADDRESSES_TRACKED = 10_000;
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(options: AdmissionOptions) {
  const { findKey, idempotency, trustedProxies, now, log } = options;
  const admitted = new WeakMap<Request, Admitted>();
  const readClientAddress = clientAddressReader({ trusted: trustedProxies, log });
  const rates = createRequestRates({
    secretPerProject: options.apiRate,
    publicPerProject: options.publicKeyRate,
    publicPerClient: options.publicClientRate,
    now,
  });
  const failures = slidingWindow({
    limit: FAILED_AUTH_PER_MINUTE,
    windowMs: WINDOW_MS,
    now,
    maxKeys: MOST_ADDRESSES_TRACKED,
  });

  /** Runs once a request, from whichever hook comes first. */
  function admit(incoming: Incoming, kinds: readonly KeyKind[]): Admitted {
    const known = admitted.get(incoming.request);
    if (known !== undefined) return known;
    const key = authenticate(incoming);
    permit(key, kinds);
    permitOrigin(incoming, key);
    limit(incoming, key);
    const { project, kind } = key;
    admitted.set(incoming.request, { project, keyKind: kind });
    return { project, keyKind: kind };
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
    const decision = failures.take(clientOf(incoming));
    return decision.isAllowed ? refusal : rateExceeded(decision.resetSeconds);
  }

  /** The text under which the client of a request is counted. */
  function clientOf({ request, server }: Incoming): string {
    const peer = server?.requestIP(request)?.address ?? null;
    return readClientAddress({ peer, forwardedFor: request.headers.get("x-forwarded-for") });
  }

  function limit(incoming: Incoming, { kind, project }: KnownKey): void {
    const budget =
      kind === "SECRET"
        ? rates.takeSecret(project.seq)
        : rates.takePublic(project.seq, clientOf(incoming));
    if (budget === null) return;
    const { headers } = incoming.set;
    headers["ratelimit-limit"] = String(budget.limit);
    headers["ratelimit-remaining"] = String(budget.remaining);
    headers["ratelimit-reset"] = String(budget.resetSeconds);
    if (!budget.isAllowed) throw rateExceeded(budget.resetSeconds);
  }

  function gate(
    name: string,
    kinds: readonly KeyKind[],
    readBody: (request: Request, origin: Origin) => Promise<unknown>,
  ) {
    return new Elysia({ name })
      .onParse({ as: "scoped" }, async (incoming) => {
        const { project, keyKind } = admit(incoming, kinds);
        const { request, route } = incoming;
        const holder = { projectSeq: project.seq, isPublic: keyKind === "PUBLIC" };
        // Anything but undefined keeps Elysia from reading the body once more.
        return (await readBody(request, { method: request.method, route, holder })) ?? null;
      })
      .derive({ as: "scoped" }, (incoming) => {
        const { project, keyKind } = admit(incoming, kinds);
        const who = { project, keyKind };
        return {
          project,
          keyKind,
          once: onceFor(incoming, { ...who, isWithinQuota: true }),
          /** For what must be possible when the storage is used up. */
          onceWithoutQuota: onceFor(incoming, { ...who, isWithinQuota: false }),
          store: storeFor(project),
        };
      });
  }

  /** Sets the status, too. */
  function onceFor(
    incoming: Incoming & { body?: unknown },
    { project, keyKind, isWithinQuota }: Admitted & { isWithinQuota: boolean },
  ): Once {
    return async <T>(
      prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
      body: unknown = incoming.body,
    ): Promise<T> => {
      const { request, path, set } = incoming;
      const result = await idempotency.once(
        request.headers.get("idempotency-key"),
        {
          projectSeq: project.seq,
          isPublic: keyKind === "PUBLIC",
          method: request.method,
          path,
          body,
          isWithinQuota,
        },
        prepare,
      );
      set.status = result.answer.status;
      if (result.isReplay) set.headers["idempotency-replayed"] = "true";
      return result.answer.body;
    };
  }

  /** Writes a change within the storage quota of the project. */
  function storeFor(project: Project) {
    return <T>(change: Change<Sync<T>>): Promise<T> =>
      options.writer.write<T>(() => options.storing(project.seq, change));
  }

  return {
    /** The project of a request that was admitted. */
    projectOf: (request: Request): Project | null => admitted.get(request)?.project ?? null,
    /** For routes that take a secret key: everything but `/v1/track`. */
    secretKey: gate("secret-key", ["SECRET"], options.readJson),
    /** The same for routes that read the body themselves, as it comes in. */
    secretKeyStreaming: gate("secret-key-streaming", ["SECRET"], leaveUnread),
    /** For `/v1/track`. */
    anyKey: gate("any-key", ["SECRET", "PUBLIC"], options.readJson),
  };
}

async function leaveUnread(): Promise<null> {
  return null;
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

/**
 * A browser sends the Origin header and no page can change it. Other programs can send what they
 * like: the list keeps a key from working on other sites, it does not keep it secret.
 */
function permitOrigin({ request, set }: Incoming, { origins }: KnownKey): void {
  if (origins.length === 0) return;
  set.headers["vary"] = "Origin";
  const origin = request.headers.get("origin");
  if (origin !== null && origins.includes(origin)) {
    set.headers["access-control-allow-origin"] = origin;
    return;
  }
  const found = origin === null ? "there is none" : "it names another one";
  throw new AppError(
    403,
    "FORBIDDEN",
    `This public key works only with the Origin header of its pages, and ${found}.`,
    {
      suggestion:
        "Call it from a page of an allowed origin, or make a key for this one: " +
        "mailstead key create --public --origin https://shop.example.",
    },
  );
}

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
