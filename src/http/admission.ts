/**
 * Admits every request that needs an API key. The checks run in this order
 * (docs/interface.md#requests): authentication, permission, rate limit, body. The schema of the
 * route is checked after them, so a request without a valid key gets no validation errors.
 */

import { Elysia } from "elysia";
import type { Change, Sync, Writer } from "../db/writer.ts";
import type { AddressRange } from "../lib/address-ranges.ts";
import { sha256 } from "../lib/crypto.ts";
import type { AppError } from "../lib/errors.ts";
import type { Log } from "../lib/log.ts";
import {
  invalidKey,
  missingAuth,
  originNotAllowed,
  projectDisabled,
  rateExceeded,
  secretKeyRequired,
} from "./admission-errors.ts";
import type { Origin, ReadJson } from "./body.ts";
import { clientAddressReader } from "./client-address.ts";
import type { Answer, Idempotency } from "./idempotency.ts";
import { slidingWindow } from "./rate-limit.ts";
import { createRequestRates } from "./request-rates.ts";

export type KeyKind = "SECRET" | "PUBLIC";
/** The sender of a mail. */
export type Sender = { address: string; name: string | null };
export type Project = {
  seq: number;
  id: string;
  name: string;
  /** The default sender, for mail that names none; null if the project has no default sender. */
  sender: Sender | null;
};

/** A key found by its digest. It may be unusable. */
export type KnownKey = {
  kind: KeyKind;
  /** Web origins that may use the key; empty if all may. */
  origins: readonly string[];
  project: Project;
  isProjectEnabled: boolean;
  isUsable: boolean;
};

/** The project and the key kind of a request that was admitted. */
type Admitted = { project: Project; keyKind: KeyKind };

/** `isOpen`: the routes of inboxes, which may need no key (local-access.ts). */
type Access = { kinds: readonly KeyKind[]; isOpen?: true };

/**
 * Runs a part of a change. It is undone, with 409, if it exceeds the storage quota of the project.
 */
type WithinQuota = <T>(projectSeq: number, change: () => T, isPublic?: boolean) => T;

type AdmissionOptions = {
  /** Finds a key by the SHA-256 digest of its text. */
  findKey: (digest: string) => KnownKey | null;
  idempotency: Idempotency;
  readJson: ReadJson;
  writer: Pick<Writer, "write">;
  storing: WithinQuota;
  /** Requests per minute and project with secret keys; 0 means no limit. */
  apiRate: number;
  /** Requests per minute and project with public keys; 0 means no limit. */
  publicKeyRate: number;
  /** Requests per minute, project and client address with public keys; 0 means no limit. */
  publicClientRate: number;
  /** Finds the project of a request for inboxes that needs no key; null if it needs one. */
  findOpenProject: (request: Request, peer: string | null) => KnownKey | null;
  /** Peers whose X-Forwarded-For names the client. */
  trustedProxies: readonly AddressRange[];
  /** Monotonic milliseconds (`Clock.elapsed`), so that a step of the wall clock blocks no key. */
  now: () => number;
  log: Log;
};

/**
 * Commits a prepared change, once per Idempotency-Key. Two requests are the same if their bodies
 * are equal. A route that reads its body itself passes a value to compare instead.
 */
type Once = <T>(
  prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
  body?: unknown,
) => Promise<T>;

/** The part of Elysia's context that this file needs. */
type Incoming = {
  request: Request;
  path: string;
  /** The pattern of the matched route. */
  route: string;
  set: { headers: Record<string, string | number | undefined>; status?: number | string };
  server: { requestIP(request: Request): { address: string } | null } | null;
};

const SECRET_KEYS: Access = { kinds: ["SECRET"] };
const INBOX_ACCESS: Access = { ...SECRET_KEYS, isOpen: true };
const WINDOW_MS = 60_000;
const MAX_FAILED_AUTH_PER_MINUTE = 20;
const MAX_TRACKED_ADDRESSES = 10_000;
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(options: AdmissionOptions) {
  const { trustedProxies, now, log } = options;
  const admitted = new WeakMap<Request, Admitted>();
  const readClientAddress = clientAddressReader({ trusted: trustedProxies, log });
  const rates = createRequestRates({
    secretPerProject: options.apiRate,
    publicPerProject: options.publicKeyRate,
    publicPerClient: options.publicClientRate,
    now,
  });
  const authenticate = createAuthenticator(options, clientOf);

  /** Runs once per request, from the first hook that needs it. */
  function admit(incoming: Incoming, access: Access): Admitted {
    const known = admitted.get(incoming.request);
    if (known !== undefined) return known;
    const key = (access.isOpen && findOpen(options, incoming)) || authenticate(incoming, access);
    requirePermission(key, access.kinds);
    requireOrigin(incoming, key);
    enforceRateLimit(incoming, key);
    const { project, kind } = key;
    admitted.set(incoming.request, { project, keyKind: kind });
    return { project, keyKind: kind };
  }

  /** Returns the key by which the client of a request is counted. */
  function clientOf({ request, server }: Incoming): string {
    const peer = server?.requestIP(request)?.address ?? null;
    return readClientAddress({ peer, forwardedFor: request.headers.get("x-forwarded-for") });
  }

  function enforceRateLimit(incoming: Incoming, { kind, project }: KnownKey): void {
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

  function keyPlugin(
    name: string,
    access: Access,
    readBody: (request: Request, origin: Origin) => Promise<unknown>,
  ) {
    return new Elysia({ name })
      .onParse({ as: "scoped" }, async (incoming) => {
        const { project, keyKind } = admit(incoming, access);
        const { request, route } = incoming;
        const holder = { projectSeq: project.seq, isPublic: keyKind === "PUBLIC" };
        // If this returned undefined, Elysia would read the body again.
        return (await readBody(request, { method: request.method, route, holder })) ?? null;
      })
      .derive({ as: "scoped" }, (incoming) => {
        const admission = admit(incoming, access);
        return {
          ...admission,
          once: onceFor(options, incoming, { ...admission, isWithinQuota: true }),
          /** For requests that must be possible when the storage quota is used up. */
          onceWithoutQuota: onceFor(options, incoming, { ...admission, isWithinQuota: false }),
          store: storeWithin(options, admission.project),
        };
      });
  }

  return {
    /** Counts a message that was not sent over HTTP against the rate of secret keys. */
    takeRate: (projectSeq: number) => rates.takeSecret(projectSeq),
    /** The project of an admitted request; null for other requests. */
    projectOf: (request: Request): Project | null => admitted.get(request)?.project ?? null,
    /** For routes that accept only secret keys: all but `/v1/track`. */
    secretKey: keyPlugin("secret-key", SECRET_KEYS, options.readJson),
    /** The same, for routes that read the body themselves as it arrives. */
    secretKeyStreaming: keyPlugin("secret-key-streaming", SECRET_KEYS, leaveUnread),
    /** For inboxes, which need no key in `mailstead dev`. */
    inboxKey: keyPlugin("inbox-key", INBOX_ACCESS, options.readJson),
    /** The same, for messages, which are read as they arrive. */
    inboxKeyStreaming: keyPlugin("inbox-key-streaming", INBOX_ACCESS, leaveUnread),
    /** For `/v1/track`, which also accepts public keys. */
    anyKey: keyPlugin("any-key", { kinds: ["SECRET", "PUBLIC"] }, options.readJson),
  };
}

/**
 * Creates a function that returns the key of a request, or throws. Failed authentication is limited
 * per client address; requests with a valid key are not affected.
 */
function createAuthenticator(
  { findKey, now }: Pick<AdmissionOptions, "findKey" | "now">,
  clientOf: (incoming: Incoming) => string,
) {
  const failures = slidingWindow({
    limit: MAX_FAILED_AUTH_PER_MINUTE,
    windowMs: WINDOW_MS,
    now,
    maxKeys: MAX_TRACKED_ADDRESSES,
  });

  function refusalOf(incoming: Incoming, refusal: AppError): AppError {
    const decision = failures.take(clientOf(incoming));
    return decision.isAllowed ? refusal : rateExceeded(decision.resetSeconds);
  }

  return (incoming: Incoming, access: Access): KnownKey => {
    const header = incoming.request.headers.get("authorization");
    const token = BEARER.exec(header ?? "")?.[1];
    if (token === undefined) throw refusalOf(incoming, missingAuth(access));
    const key = findKey(sha256(token));
    if (key === null || !key.isUsable) throw refusalOf(incoming, invalidKey());
    return key;
  };
}

/** Returns the function `once` of a request, which also sets the status of the response. */
function onceFor(
  { idempotency, writer, storing }: AdmissionOptions,
  incoming: Incoming & { body?: unknown },
  { project, keyKind, isWithinQuota }: Admitted & { isWithinQuota: boolean },
): Once {
  const isPublic = keyKind === "PUBLIC";
  const run = <T>(change: Change<T>): T =>
    isWithinQuota ? storing(project.seq, change, isPublic) : change();
  return async <T>(
    prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
    body: unknown = incoming.body,
  ): Promise<T> => {
    const { request, path, set } = incoming;
    const key = request.headers.get("idempotency-key");
    if (key === null) {
      const change = await prepare();
      const answer = await writer.write<Answer<T>>(() => run(change));
      set.status = answer.status;
      return answer.body;
    }
    const { method } = request;
    const keyed = { projectSeq: project.seq, isPublic, method, path, body, run };
    const { answer, isReplay } = await idempotency.once(key, keyed, prepare);
    set.status = answer.status;
    if (isReplay) set.headers["idempotency-replayed"] = "true";
    return answer.body;
  };
}

/** Returns a function that writes a change within the storage quota of the project. */
function storeWithin({ writer, storing }: AdmissionOptions, project: Project) {
  return <T>(change: Change<Sync<T>>): Promise<T> =>
    writer.write<T>(() => storing(project.seq, change));
}

function findOpen(
  { findOpenProject }: Pick<AdmissionOptions, "findOpenProject">,
  { request, server }: Incoming,
): KnownKey | null {
  if (request.headers.has("authorization")) return null;
  return findOpenProject(request, server?.requestIP(request)?.address ?? null);
}

async function leaveUnread(): Promise<null> {
  return null;
}

function requirePermission(key: KnownKey, kinds: readonly KeyKind[]): void {
  if (!key.isProjectEnabled) throw projectDisabled();
  if (!kinds.includes(key.kind)) throw secretKeyRequired();
}

/**
 * Refuses a key on pages of other origins. Browsers send the Origin header, and pages cannot change
 * it. Other programs can send any origin, so this does not make a public key secret.
 */
function requireOrigin({ request, set }: Incoming, { origins }: KnownKey): void {
  if (origins.length === 0) return;
  set.headers["vary"] = "Origin";
  const origin = request.headers.get("origin");
  if (origin !== null && origins.includes(origin)) {
    set.headers["access-control-allow-origin"] = origin;
    return;
  }
  throw originNotAllowed(origin);
}
