/**
 * The steps that all routes of accounts share: the check of the origin, the session of the cookie, the client
 * and the body. They run before the schema of the route, so that a request without a session gets no
 * validation errors.
 */

import type { App } from "../../core/app.ts";
import { confirmationRequired } from "../../http/session-access.ts";
import { peerOf, type RequestServer } from "../../http/incoming.ts";
import { Elysia } from "elysia";
import type { ReadJson } from "../../http/body.ts";
import type { clientAddressReader } from "../../http/client-address.ts";
import type { createLocalAccess } from "../../http/local-access.ts";
import { requireSameOrigin } from "../../http/same-origin.ts";
import type { createSessionCookies } from "../../http/session-cookie.ts";
import { sha256 } from "../../lib/crypto.ts";
import { AppError } from "../../lib/errors.ts";
import type { Accounts } from "./service.ts";
import type { EnrollingSession } from "./second-step.ts";
import {
  type Client,
  CONFIRMATION_MS,
  COOKIE_SECONDS,
  type KnownSession,
  type PendingSession,
} from "./sessions.ts";
import { notSignedIn, type SignedIn } from "./sign-in.ts";

/** The part of Elysia's context that this file needs. */
type Incoming = {
  request: Request;
  /** The pattern of the matched route. */
  route: string;
  set: { headers: Record<string, string | number | undefined> };
  server: RequestServer | null;
};

type RequestDeps = {
  accounts: Pick<Accounts, "findSession" | "findPending">;
  cookies: ReturnType<typeof createSessionCookies>;
  /** The cookie to which a challenge is bound before the sign-in. */
  challengeCookies: ReturnType<typeof createSessionCookies>;
  readClientAddress: ReturnType<typeof clientAddressReader>;
  readJson: ReadJson;
  url: string;
  /** Only in `mailstead dev`: refuses other names in the Host header on this machine. */
  localAccess: ReturnType<typeof createLocalAccess> | null;
};

/** These requests have no project, and anyone may send them. */
const HOLDER = { projectSeq: 0, isPublic: true };

export type AccountRequests = ReturnType<typeof createAccountRequests>;

export function createAccountRequests(deps: RequestDeps) {
  const { accounts, cookies, challengeCookies, readClientAddress, readJson, url, localAccess } =
    deps;

  function refuseForeign({ request, server }: Incoming): void {
    // Throws for a name of another site that leads to this machine (DNS rebinding).
    localAccess?.isOpen(request, peerOf({ request, server }));
    if (request.method !== "GET" && request.method !== "HEAD") requireSameOrigin(request, url);
  }

  function sessionOf({ request, server }: Incoming): KnownSession | null {
    const cookie = cookies.read(request, peerOf({ request, server }));
    return cookie === null ? null : accounts.findSession(sha256(cookie));
  }

  function pendingOf({ request, server }: Incoming): PendingSession | null {
    const cookie = cookies.read(request, peerOf({ request, server }));
    return cookie === null ? null : accounts.findPending(sha256(cookie));
  }

  function requirePending(incoming: Incoming): PendingSession {
    const pending = pendingOf(incoming);
    if (pending?.step !== "SECOND_FACTOR") throw notSignedIn();
    return pending;
  }

  /** Also a user who may do nothing else before. */
  function requireEnrolling(incoming: Incoming): EnrollingSession {
    const pending = pendingOf(incoming);
    if (pending?.step === "ENROLMENT") return { ...pending, isPending: true };
    return { ...requireSession(incoming), isPending: false };
  }

  function requireSession(incoming: Incoming): KnownSession {
    const session = sessionOf(incoming);
    if (session === null) throw notSignedIn();
    return session;
  }

  function requireOwner(incoming: Incoming): KnownSession {
    const session = requireSession(incoming);
    if (!session.user.isOwner) throw ownersOnly();
    return session;
  }

  function contextOf(incoming: Incoming) {
    const { request, set, server } = incoming;
    const peer = peerOf({ request, server });
    const client: Client = {
      address: readClientAddress({ peer, forwardedFor: request.headers.get("x-forwarded-for") }),
      userAgent: request.headers.get("user-agent") ?? "",
      earlierSession: (sessionOf(incoming) ?? pendingOf(incoming))?.sessionSeq ?? null,
    };
    return {
      client,
      /** The session that waits for a step of its user; null if there is none. */
      pending: pendingOf(incoming),
      /** The digest of the cookie to which challenges of this browser are bound; null without one. */
      readChallengeCookie(): string | null {
        const cookie = challengeCookies.read(request, peer);
        return cookie === null ? null : sha256(cookie);
      },
      setChallengeCookie(value: string, maxAgeSeconds: number): void {
        set.headers["set-cookie"] = challengeCookies.set(request, peer, value, maxAgeSeconds);
      },
      /** Stores the session in the browser, in place of an earlier one. */
      setCookie(signedIn: SignedIn): void {
        set.headers["set-cookie"] = cookies.set(request, peer, signedIn.cookie, COOKIE_SECONDS);
      },
      clearCookie(): void {
        set.headers["set-cookie"] = cookies.clear(request, peer);
      },
    };
  }

  /** `admit` returns the session, and throws if the route needs one that the request has not. */
  function plugin<Session>(name: string, admit: (incoming: Incoming) => Session) {
    return new Elysia({ name })
      .onParse({ as: "scoped" }, async (incoming) => {
        const { request, route } = incoming;
        refuseForeign(incoming);
        admit(incoming);
        // If this returned undefined, Elysia would read the body again.
        return (await readJson(request, { method: request.method, route, holder: HOLDER })) ?? null;
      })
      .derive({ as: "scoped" }, (incoming) => {
        refuseForeign(incoming);
        incoming.set.headers["cache-control"] = "no-store";
        return { session: admit(incoming), ...contextOf(incoming) };
      });
  }

  return {
    /** For routes that need no session: it may be null. */
    open: plugin("account-open", sessionOf),
    /** For routes of users who are signed in; others get 401. */
    signedIn: plugin("account-signed-in", requireSession),
    /** For the second step of a sign-in. */
    pending: plugin("account-pending", requirePending),
    /** For the set-up of a second factor. */
    enrolling: plugin("account-enrolling", requireEnrolling),
    /** For routes of owners; other users get 403. */
    owner: plugin("account-owner", requireOwner),
  };
}

/** Throws 403 unless the user has proven lately who they are. */
export function requireRecent(
  { clock }: Pick<App, "clock">,
  session: KnownSession | EnrollingSession,
): void {
  // A user who has just signed in.
  if ("isPending" in session && session.isPending) return;
  if (clock.now() - session.confirmedAt >= CONFIRMATION_MS) throw confirmationRequired();
}

function ownersOnly(): AppError {
  return new AppError(403, "FORBIDDEN", "Only owners of the installation may do this.", {
    suggestion: "Ask an owner, or use the command line of the server.",
  });
}
