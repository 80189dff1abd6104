/**
 * Decides whether a request of Mailpit's interface is admitted, and which inbox it means.
 *
 * 1. A page of another origin is refused (RFC 6454): its requests carry an Origin header that is not
 *    the address of this server.
 * 2. HTTP Basic with the name or id of an inbox and its password chooses this inbox.
 * 3. HTTP Basic with a user of the operator (`--ui-auth`, and `--send-api-auth` for /send) is
 *    admitted to the default inbox.
 * 4. Without such users, `mailstead dev` admits this machine and those that the operator named to
 *    the default inbox (http/local-access.ts); any credentials of no inbox count as none.
 */

import type { Writer } from "../../../db/writer.ts";
import type { Config } from "../../../config/settings.ts";
import { AppError } from "../../../lib/errors.ts";
import { clientNetwork } from "../../../lib/client-network.ts";
import { QueueFullError } from "../../../lib/fair-queue.ts";
import { createLoginCheck, type LoginCheck } from "../../../lib/logins.ts";
import { DEFAULT_INBOX, type InboxRow, type Inboxes } from "../service.ts";
import { MailpitRefusal } from "./answers.ts";

type LocalAccess = { isOpen(request: Request, peer: string | null): boolean };

export type MailpitAccess = ReturnType<typeof createMailpitAccess>;

export function createMailpitAccess(deps: {
  inboxes: Inboxes;
  writer: Pick<Writer, "write">;
  localAccess: LocalAccess | null;
  config: Pick<Config, "uiAuth" | "sendApiAuth">;
}) {
  const { inboxes, writer, localAccess, config } = deps;
  const isUser = config.uiAuth.length === 0 ? null : createLoginCheck(config.uiAuth);
  const isSender = config.sendApiAuth.length === 0 ? isUser : createLoginCheck(config.sendApiAuth);

  function isOpen(request: Request, peer: string | null): boolean {
    try {
      return localAccess?.isOpen(request, peer) ?? false;
    } catch (error) {
      if (error instanceof AppError) throw new MailpitRefusal(error.status, error.message);
      throw error;
    }
  }

  /** Throws 401 for a request that names no inbox and is not admitted to the default one. */
  async function requireAdmitted(
    request: Request,
    peer: string | null,
    { isLogin, credentials }: { isLogin: LoginCheck | null; credentials: Credentials | null },
  ): Promise<void> {
    if (isLogin === null) {
      if (!isOpen(request, peer)) throw unauthorised();
      return;
    }
    if (credentials === null) throw unauthorised();
    const { user, password } = credentials;
    const network = clientNetwork(peer ?? "");
    if (!(await isLogin(user, password, network).catch(busyIfFull))) throw unauthorised();
  }

  /** The inbox of the request. Throws MailpitRefusal with 401 or 403. */
  async function admit(
    request: Request,
    peer: string | null,
    isLogin: LoginCheck | null,
  ): Promise<InboxRow> {
    refuseForeignOrigin(request);
    const projectSeq = inboxes.firstProject();
    const credentials = credentialsOf(request);
    const named = credentials === null ? null : find(projectSeq, credentials.user);
    if (credentials !== null && named !== null && inboxes.isPassword(named, credentials.password)) {
      return named;
    }
    if (named !== null && isLogin === null) throw unauthorised();
    await requireAdmitted(request, peer, { isLogin, credentials });
    return defaultInbox(projectSeq);
  }

  async function defaultInbox(projectSeq: number | null): Promise<InboxRow> {
    if (projectSeq === null) throw unauthorised();
    const known = inboxes.find(projectSeq, DEFAULT_INBOX);
    return known ?? writer.write(() => inboxes.defaultOf(projectSeq));
  }

  /** The inbox of a send call with one key. Throws MailpitRefusal with 401 or 403. */
  async function admitKey(request: Request, peer: string | null, key: string): Promise<InboxRow> {
    refuseForeignOrigin(request);
    const projectSeq = inboxes.firstProject();
    const credentials = splitCredentials(key) ?? { user: key, password: "" };
    const named = find(projectSeq, credentials.user);
    if (named !== null && inboxes.isPassword(named, credentials.password)) return named;
    await requireAdmitted(request, peer, { isLogin: isSender, credentials });
    return isSender === null && named !== null ? named : defaultInbox(projectSeq);
  }

  return {
    inboxOf: (request: Request, peer: string | null) => admit(request, peer, isUser),

    /** The same for a request that sends a message. */
    inboxOfSender: (request: Request, peer: string | null) => admit(request, peer, isSender),

    /**
     * The same for a send call of another interface, whose key is `NAME` or `NAME:PASSWORD`. Where no
     * login is needed, the name of an inbox chooses it without its password, as over SMTP.
     */
    inboxOfKey: admitKey,
  };

  function find(projectSeq: number | null, user: string): InboxRow | null {
    return inboxes.findById(user) ?? (projectSeq === null ? null : inboxes.find(projectSeq, user));
  }
}

function refuseForeignOrigin({ headers }: Request): void {
  const origin = headers.get("origin");
  if (origin === null) return;
  const host = headers.get("host") ?? "";
  const isOwn = origin === `http://${host}` || origin === `https://${host}`;
  if (!isOwn) throw new MailpitRefusal(403, "Forbidden: the Origin is not this server");
}

type Credentials = { user: string; password: string };

/** The credentials of HTTP Basic (RFC 7617); null without them. */
export function credentialsOf({ headers }: Request): Credentials | null {
  const encoded = /^Basic ([A-Za-z0-9+/=]{1,1024})$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (encoded === undefined) return null;
  return splitCredentials(Buffer.from(encoded, "base64").toString());
}

function splitCredentials(text: string): Credentials | null {
  const colon = text.indexOf(":");
  return colon === -1 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function busyIfFull(error: unknown): never {
  if (!(error instanceof QueueFullError)) throw error;
  throw new MailpitRefusal(503, "Too many passwords are being checked", { "Retry-After": "5" });
}

function unauthorised(): MailpitRefusal {
  const challenge = { "WWW-Authenticate": `Basic realm="Login", charset="UTF-8"` };
  return new MailpitRefusal(401, "Unauthorised.", challenge);
}
