/**
 * Decides whether a request of Mailpit's interface is admitted, and which inbox it means.
 *
 * 1. A page of another origin is refused (RFC 6454): its requests carry an Origin header that is not
 *    the address of this server.
 * 2. HTTP Basic with the name or id of an inbox and its password chooses this inbox.
 * 3. Without credentials, `mailstead dev` admits this machine and allowed host names to the default
 *    inbox (http/local-access.ts).
 */

import type { Writer } from "../../../db/writer.ts";
import { AppError } from "../../../lib/errors.ts";
import { DEFAULT_INBOX, type InboxRow, type Inboxes } from "../service.ts";
import { MailpitRefusal } from "./answers.ts";

export type LocalAccess = { isOpen(request: Request, peer: string | null): boolean };

export type MailpitAccess = ReturnType<typeof createMailpitAccess>;

export function createMailpitAccess(deps: {
  inboxes: Inboxes;
  writer: Pick<Writer, "write">;
  localAccess: LocalAccess | null;
}) {
  const { inboxes, writer, localAccess } = deps;

  function isOpen(request: Request, peer: string | null): boolean {
    try {
      return localAccess?.isOpen(request, peer) ?? false;
    } catch (error) {
      if (error instanceof AppError) throw new MailpitRefusal(error.status, error.message);
      throw error;
    }
  }

  return {
    /** The inbox of the request. Throws MailpitRefusal with 401 or 403. */
    async inboxOf(request: Request, peer: string | null): Promise<InboxRow> {
      refuseForeignOrigin(request);
      const projectSeq = inboxes.firstProject();
      const credentials = credentialsOf(request);
      const named = credentials === null ? null : find(projectSeq, credentials.user);
      if (credentials !== null && named !== null) {
        if (inboxes.isPassword(named, credentials.password)) return named;
        throw unauthorised();
      }
      if (projectSeq === null || !isOpen(request, peer)) throw unauthorised();
      const known = inboxes.find(projectSeq, DEFAULT_INBOX);
      return known ?? writer.write(() => inboxes.defaultOf(projectSeq));
    },
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
function credentialsOf({ headers }: Request): Credentials | null {
  const encoded = /^Basic ([A-Za-z0-9+/=]{1,1024})$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString();
  const colon = text.indexOf(":");
  return colon === -1 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function unauthorised(): MailpitRefusal {
  const challenge = { "WWW-Authenticate": `Basic realm="Login", charset="UTF-8"` };
  return new MailpitRefusal(401, "Unauthorised.", challenge);
}
