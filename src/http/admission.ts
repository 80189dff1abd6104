/**
 * Admits every request that needs an API key or the session of a user. The checks run in this order
 * (docs/interface.md#requests): authentication, permission, rate limit, body. The schema of the
 * route is checked after them, so a request without a valid key gets no validation errors. The rate
 * of a session (session-access.ts) is that of its user.
 */

import { Elysia } from "elysia";
import type { KEY_KINDS } from "../db/schema/projects.ts";
import { type AddressRange, isInRanges, parseAddressRange } from "../lib/address-ranges.ts";
import { sha256 } from "../lib/crypto.ts";
import type { AppError } from "../lib/errors.ts";
import type { Log } from "../lib/log.ts";
import {
  addressNotAllowed,
  invalidKey,
  missingAuth,
  originNotAllowed,
  projectDisabled,
  rateExceeded,
  secretKeyRequired,
  smtpPasswordRefused,
} from "./admission-errors.ts";
import { createAdmittedWrites, type RequestActor } from "./admitted-writes.ts";
import type { Origin, ReadJson } from "./body.ts";
import { clientAddressReader, clientBehind } from "./client-address.ts";
import { slidingWindow } from "./rate-limit.ts";
import { type Budget, createRequestRates } from "./request-rates.ts";
import type { Role } from "./roles.ts";
import type { RouteRules } from "./route-rules.ts";
import { type KeyScope, requireScope, ROLE_OF_SCOPE } from "./scopes.ts";
import type { SessionAccess, SignedInUser } from "./session-access.ts";
import { createSessionPlugins, MEMBER, sessionRequest, userActor } from "./session-plugins.ts";
import { type Incoming, peerOf } from "./incoming.ts";
import type { UnknownFields } from "./unknown-fields.ts";

/** SMTP: a password that only sends over SMTP (smtp/submission.ts). */
export type KeyKind = (typeof KEY_KINDS)[number];
/** The sender of a mail. */
export type Sender = { address: string; name: string | null };
export type Project = {
  seq: number;
  id: string;
  name: string;
  /** The language of its mail. */
  language: string;
  /** The default sender, for mail that names none; null if the project has no default sender. */
  sender: Sender | null;
};

/** A key found by its digest. It may be unusable. */
export type KnownKey = {
  /** Id, name and last four characters; null for the access without a key. */
  shown: { id: string; name: string; last4: string } | null;
  kind: KeyKind;
  scope: KeyScope;
  /** Web origins that may use the key; empty if all may. */
  origins: readonly string[];
  /** Domains of the senders that the key may use; empty for all domains of the project. */
  domains: readonly string[];
  /** IP addresses and ranges of the clients that may use the key; empty if all may. */
  ipRanges: readonly string[];
  project: Project;
  isProjectEnabled: boolean;
  isUsable: boolean;
};

/** A request that was admitted to a project by a key or a session. */
type Admitted = {
  project: Project;
  /** A session counts as a secret key. */
  keyKind: KeyKind;
  /** A secret key has a role by its scope, and a public key has none. */
  role: Role | null;
  /** The scope of the key; null for a session. */
  scope: KeyScope | null;
  /** Domains of the senders that the request may use; empty for all domains of the project. */
  senderDomains: readonly string[];
  /** Null for a request with a key. */
  user: SignedInUser["user"] | null;
  /** The key of the request; null for a session. */
  shownKey: KnownKey["shown"];
};

/** `isOpen`: the routes of inboxes, which may need no key (local-access.ts). */
type Access = { kinds: readonly KeyKind[]; isOpen?: true };

type AdmissionOptions = {
  /** Finds a key by the SHA-256 digest of its text. */
  findKey: (digest: string) => KnownKey | null;
  /** Counts a request of a key, by its id. */
  countUse: (keyId: string) => void;
  sessions: SessionAccess;
  routeRules: RouteRules;
  readJson: ReadJson;
  unknownFields: UnknownFields;
  /** Requests per minute and project with secret keys; 0 means no limit. */
  apiRate: number;
  /** Requests per minute and project with public keys; 0 means no limit. */
  publicKeyRate: number;
  /** Requests per minute, project and client address with public keys; 0 means no limit. */
  publicClientRate: number;
  /** Requests per minute and user with sessions; 0 means no limit. */
  userRate: number;
  /** Finds the project of a request for inboxes that needs no key; null if it needs one. */
  findOpenProject: (request: Request, peer: string | null) => KnownKey | null;
  /** Peers whose X-Forwarded-For names the client. */
  trustedProxies: readonly AddressRange[];
  /** Monotonic milliseconds (`Clock.elapsed`), so that a step of the wall clock blocks no key. */
  now: () => number;
  log: Log;
} & Parameters<typeof createAdmittedWrites>[0];

const SECRET_KEYS: Access = { kinds: ["SECRET"] };
const INBOX_ACCESS: Access = { ...SECRET_KEYS, isOpen: true };
const WINDOW_MS = 60_000;
const MAX_FAILED_AUTH_PER_MINUTE = 20;
const MAX_TRACKED_ADDRESSES = 10_000;
const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission(options: AdmissionOptions) {
  const { sessions, trustedProxies, unknownFields, now, log } = options;
  const admitted = new WeakMap<Request, Admitted>();
  const writesOf = createAdmittedWrites(options);
  const readClientAddress = clientAddressReader({ trusted: trustedProxies, log });
  const rates = createRequestRates({
    secretPerProject: options.apiRate,
    publicPerProject: options.publicKeyRate,
    publicPerClient: options.publicClientRate,
    perUser: options.userRate,
    now,
  });
  const authenticate = createAuthenticator(options, clientOf);

  /** Runs once per request, from the first hook that needs it. */
  function admit(incoming: Incoming, access: Access): Admitted {
    const known = admitted.get(incoming.request);
    if (known !== undefined) return known;
    const admission = hasSession(incoming, access) ? bySession(incoming) : byKey(incoming, access);
    admitted.set(incoming.request, admission);
    return admission;
  }

  function byKey(incoming: Incoming, access: Access): Admitted {
    const key = (access.isOpen && findOpen(options, incoming)) || authenticate(incoming, access);
    requireAddress(incoming, key);
    requirePermission(key, access.kinds);
    if (key.kind === "SECRET") requireScopeOfRoute(incoming, key);
    requireOrigin(incoming, key);
    enforceRateLimit(incoming, key);
    const { project, kind: keyKind, shown: shownKey, domains: senderDomains } = key;
    if (shownKey !== null) options.countUse(shownKey.id);
    const role = keyKind === "SECRET" ? ROLE_OF_SCOPE[key.scope] : null;
    return { project, keyKind, role, scope: key.scope, senderDomains, user: null, shownKey };
  }

  function requireScopeOfRoute({ request, route }: Incoming, { scope }: KnownKey): void {
    if (scope === "EVERYTHING") return;
    requireScope(scope, options.routeRules.ruleOf(request.method, route).scopes);
  }

  /** The address itself is compared, not the network by which clients are counted. */
  function requireAddress(incoming: Incoming, key: KnownKey): void {
    if (key.ipRanges.length === 0) return;
    const forwardedFor = incoming.request.headers.get("x-forwarded-for");
    const client = clientBehind(trustedProxies, { peer: peerOf(incoming), forwardedFor });
    if (!isAddressAllowed(key, client)) throw addressNotAllowed(client);
  }

  /** A key is preferred to a cookie. An open route does not refuse a cookie of another server. */
  function hasSession(incoming: Incoming, access: Access): boolean {
    const { request } = incoming;
    if (request.headers.has("authorization")) return false;
    if (options.routeRules.ruleOf(request.method, incoming.route).access === "KEY") return false;
    const peer = peerOf(incoming);
    return access.isOpen === true
      ? sessions.isSignedIn(request, peer)
      : sessions.hasCookie(request, peer);
  }

  function bySession(incoming: Incoming): Admitted {
    const member = sessions.admitMember(sessionRequest(options, incoming), MEMBER);
    enforceUserRate(incoming, member.user);
    return { ...member, keyKind: "SECRET", scope: null, senderDomains: [], shownKey: null };
  }

  /** Whether an admitted request would be admitted again; a live connection ends when it would not. */
  function watch(incoming: Incoming, { user, project, shownKey }: Admitted): () => boolean {
    if (user !== null) return sessions.watchMember(sessionRequest(options, incoming), project.seq);
    if (shownKey === null) return () => true; // It needed no key.
    const digest = sha256(tokenOf(incoming) ?? "");
    return () => {
      const key = options.findKey(digest);
      return key !== null && key.isUsable && key.isProjectEnabled;
    };
  }

  /** Returns the key by which the client of a request is counted. */
  function clientOf(incoming: Incoming): string {
    const forwardedFor = incoming.request.headers.get("x-forwarded-for");
    return readClientAddress({ peer: peerOf(incoming), forwardedFor });
  }

  function enforceRateLimit(incoming: Incoming, { kind, project }: KnownKey): void {
    const budget =
      kind === "SECRET"
        ? rates.takeSecret(project.seq)
        : rates.takePublic(project.seq, clientOf(incoming));
    enforceBudget(incoming, budget);
  }

  function enforceUserRate(incoming: Incoming, { seq }: { seq: number }): void {
    enforceBudget(incoming, rates.takeUser(seq));
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
        const body = (await readBody(request, { method: request.method, route, holder })) ?? null;
        unknownFields.checkBody(incoming, body, project);
        return body;
      })
      .derive({ as: "scoped" }, (incoming) => {
        const admission = admit(incoming, access);
        const { project, keyKind, role, scope, senderDomains, user } = admission;
        unknownFields.checkQuery(incoming, project);
        const actor = () => actorOf(admission);
        const writes = writesOf(incoming, {
          projectSeq: project.seq,
          userId: null,
          isPublic: keyKind === "PUBLIC",
          actor,
          address: () => clientOf(incoming),
        });
        const watchAdmission = () => watch(incoming, admission);
        const admitted = { project, keyKind, role, scope, senderDomains, user };
        return { ...admitted, actor, watchAdmission, ...writes };
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
    ...createSessionPlugins({ ...options, writesOf, clientOf, enforceUserRate }),
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
    const token = tokenOf(incoming);
    if (token === undefined) throw refusalOf(incoming, missingAuth(access));
    const key = findKey(sha256(token));
    if (key === null || !key.isUsable) throw refusalOf(incoming, invalidKey());
    return key;
  };
}

function tokenOf({ request }: Incoming): string | undefined {
  return BEARER.exec(request.headers.get("authorization") ?? "")?.[1];
}

/** Shows the budget in the headers of the response. Throws 429 if it is used up. */
function enforceBudget({ set: { headers } }: Incoming, budget: Budget | null): void {
  if (budget === null) return;
  headers["ratelimit-limit"] = String(budget.limit);
  headers["ratelimit-remaining"] = String(budget.remaining);
  headers["ratelimit-reset"] = String(budget.resetSeconds);
  if (!budget.isAllowed) throw rateExceeded(budget.resetSeconds);
}

function findOpen(
  { findOpenProject }: Pick<AdmissionOptions, "findOpenProject">,
  incoming: Incoming,
): KnownKey | null {
  if (incoming.request.headers.has("authorization")) return null;
  return findOpenProject(incoming.request, peerOf(incoming));
}

function actorOf({ user, shownKey }: Admitted): RequestActor {
  if (user !== null) return userActor(user);
  const label = shownKey === null ? "without a key" : `${shownKey.name} (…${shownKey.last4})`;
  return { kind: "KEY", id: shownKey?.id ?? null, label };
}

async function leaveUnread(): Promise<null> {
  return null;
}

function requirePermission(key: KnownKey, kinds: readonly KeyKind[]): void {
  if (!key.isProjectEnabled) throw projectDisabled();
  if (key.kind === "SMTP") throw smtpPasswordRefused();
  if (!kinds.includes(key.kind)) throw secretKeyRequired();
}

/** Tells whether a client may use a key. A range that cannot be read allows no client. */
export function isAddressAllowed(
  { ipRanges }: Pick<KnownKey, "ipRanges">,
  client: string,
): boolean {
  if (ipRanges.length === 0) return true;
  return ipRanges.some((text) => {
    const range = parseAddressRange(text);
    return range !== null && isInRanges(client, [range]);
  });
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
