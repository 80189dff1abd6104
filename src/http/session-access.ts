/**
 * Admits requests of users who are signed in, by the cookie of their session. The checks run in this
 * order: the session (401), the origin of a request that may change something, the membership in the
 * project, the least role of the route, and whether the password was entered lately (all 403).
 */

import { sha256 } from "../lib/crypto.ts";
import { AppError } from "../lib/errors.ts";
import type { Project } from "./admission.ts";
import { projectDisabledForUsers } from "./admission-errors.ts";
import { includesRole, type Role } from "./roles.ts";
import type { RouteRule } from "./route-rules.ts";
import { requireSameOrigin } from "./same-origin.ts";

/** The user of a session, as far as requests need it. */
export type SessionUser = {
  seq: number;
  id: string;
  email: string;
  name: string;
  isOwner: boolean;
  /** The only project of a user whose address is not proven; null for all others. */
  unprovenProjectSeq: number | null;
};

/** A session that has not ended. */
type Session = {
  user: SessionUser;
  /** When the user last proved who they are, in Unix milliseconds. */
  confirmedAt: number;
  /** The role of the user in a project; null without a membership. */
  roleOf: (projectSeq: number) => Role | null;
};

export type SignedInUser = { user: SessionUser; project: null; role: Role | null };
export type SignedInMember = { user: SessionUser; project: Project; role: Role };

/** `peer` is the address of the socket. `projectId` is null if the request names no project. */
type SessionRequest = { request: Request; peer: string | null; rule: RouteRule };

/** The header that names the project. Frames and event streams use the parameter `project`. */
const PROJECT_HEADER = "x-project";

export type SessionAccess = ReturnType<typeof createSessionAccess>;

export function createSessionAccess(deps: {
  /** Finds a session by the SHA-256 digest of its cookie. */
  findSession: (digest: string, options?: { isUse: boolean }) => Session | null;
  /** Whether the digest is that of a sign-in whose second step is missing. */
  isPending: (digest: string) => boolean;
  readCookie: (request: Request, peer: string | null) => string | null;
  findProject: (id: string) => { project: Project; isEnabled: boolean } | null;
  /** The public address of the server. */
  url: string;
  /** Wall clock in Unix milliseconds. */
  now: () => number;
  /** Time for which a user who entered the password needs not enter it again. */
  confirmationMs: number;
}) {
  const { findSession, isPending, readCookie, findProject, url, now, confirmationMs } = deps;

  function requireSession({ request, peer }: SessionRequest): Session {
    const cookie = readCookie(request, peer);
    const session = cookie === null ? null : findSession(sha256(cookie));
    if (session === null) throw sessionMissing();
    if (isChange(request)) requireSameOrigin(request, url);
    return session;
  }

  function requireConfirmation({ confirmedAt }: Session, { rule }: SessionRequest): void {
    if (!rule.needsConfirmation || now() - confirmedAt < confirmationMs) return;
    throw confirmationRequired();
  }

  return {
    /** Whether a request without an API key has the cookie of a session. */
    hasCookie: (request: Request, peer: string | null): boolean =>
      readCookie(request, peer) !== null,

    /** Whether the cookie of a request belongs to a session that has not ended. */
    isSignedIn(request: Request, peer: string | null): boolean {
      const cookie = readCookie(request, peer);
      return cookie !== null && findSession(sha256(cookie)) !== null;
    },

    /** The same, and for a sign-in whose second step is missing. It admits to nothing. */
    isSigningIn(request: Request, peer: string | null): boolean {
      const cookie = readCookie(request, peer);
      if (cookie === null) return false;
      const digest = sha256(cookie);
      return findSession(digest) !== null || isPending(digest);
    },

    /** Whether the user of an admitted request is still signed in and still has the role of the route. */
    watchMember({ request, peer, rule }: SessionRequest, projectSeq: number): () => boolean {
      const cookie = readCookie(request, peer);
      if (cookie === null) return () => false;
      const digest = sha256(cookie);
      return () => {
        const session = findSession(digest, { isUse: false });
        return session !== null && includesRole(session.roleOf(projectSeq), rule.role);
      };
    },

    /** For a route that belongs to no project. */
    admitUser(incoming: SessionRequest): SignedInUser {
      const session = requireSession(incoming);
      const role = session.user.isOwner ? "OWNER" : null;
      if (!includesRole(role, incoming.rule.role)) throw roleMissing(incoming.rule, role);
      requireConfirmation(session, incoming);
      return { user: session.user, project: null, role };
    },

    /**
     * For a route of a project. `projectId` is null if the path does not name the project; then the
     * request does. A disabled project can be read, and `allowsDisabled` lets it be changed.
     */
    admitMember(
      incoming: SessionRequest,
      { projectId, allowsDisabled }: { projectId: string | null; allowsDisabled: boolean },
    ): SignedInMember {
      const { request, rule } = incoming;
      const session = requireSession(incoming);
      const id = projectId ?? projectIdOf(request);
      if (id === null) throw projectMissing();
      const found = findProject(id);
      const role = found === null ? null : session.roleOf(found.project.seq);
      if (found === null || role === null) throw notMember();
      if (!includesRole(role, rule.role)) throw roleMissing(rule, role);
      if (!found.isEnabled && !allowsDisabled && isChange(request)) throw projectDisabledForUsers();
      requireConfirmation(session, incoming);
      return { user: session.user, project: found.project, role };
    },
  };
}

function isChange({ method }: Request): boolean {
  return method !== "GET" && method !== "HEAD";
}

function projectIdOf(request: Request): string | null {
  const header = request.headers.get(PROJECT_HEADER);
  if (header !== null) return header;
  return request.url.includes("project=") ? new URL(request.url).searchParams.get("project") : null;
}

/** For an action that needs a fresh proof of who the user is. */
export function confirmationRequired(): AppError {
  return new AppError(
    403,
    "CONFIRMATION_REQUIRED",
    "This needs the password or a passkey once more.",
    {
      suggestion: "Confirm that it is you, then repeat the request.",
    },
  );
}

function sessionMissing(): AppError {
  return new AppError(401, "MISSING_AUTH", "You are not signed in, or the session has ended.", {
    suggestion: "Sign in again.",
  });
}

/** The same for a project that does not exist, so that the answer does not show which exist. */
function notMember(): AppError {
  return new AppError(403, "FORBIDDEN", "You are not a member of this project.", {
    suggestion: "Ask an admin of the project for an invitation.",
  });
}

function projectMissing(): AppError {
  return new AppError(400, "BAD_REQUEST", "The request with a session names no project.", {
    suggestion: "Send the header X-Project: <project id>, or the parameter project.",
  });
}

function roleMissing({ role: needed }: RouteRule, role: Role | null): AppError {
  const own = role === null ? "you are no owner" : `your role is ${role}`;
  return new AppError(403, "FORBIDDEN", `This needs the role ${needed}, and ${own}.`, {
    suggestion: "Ask an admin of the project or an owner of the installation.",
  });
}
