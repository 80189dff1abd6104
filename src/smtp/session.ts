/** Reads values of a session of the package smtp-server. */

import type { SMTPServerSession } from "smtp-server";
import type { MessageEnvelope } from "../modules/inboxes/envelope.ts";

/** The user of AUTH; empty without AUTH. */
export function userOf(session: SMTPServerSession): string {
  const user: unknown = session.user;
  if (typeof user !== "object" || user === null || !("username" in user)) return "";
  return typeof user.username === "string" ? user.username : "";
}

/** The address of MAIL FROM; empty for the null sender. */
export function senderOf({ envelope }: SMTPServerSession): string {
  return envelope.mailFrom === false ? "" : envelope.mailFrom.address;
}

export function envelopeOf(session: SMTPServerSession, hasBareLf: boolean): MessageEnvelope {
  const { envelope, remoteAddress, hostNameAppearsAs, tlsOptions, id } = session;
  return {
    from: senderOf(session),
    to: envelope.rcptTo.map(({ address, args }) => ({
      address,
      notify: textOf(args, "NOTIFY"),
      originalRecipient: textOf(args, "ORCPT"),
    })),
    peer: remoteAddress,
    helo: typeof hostNameAppearsAs === "string" ? hostNameAppearsAs : "",
    tls: session.secure ? (textOf(tlsOptions, "version") ?? "TLS") : null,
    sessionId: id,
    hasBareLf,
  };
}

/** The text of a property; null if there is none. */
export function textOf(from: unknown, name: string): string | null {
  if (typeof from !== "object" || from === null) return null;
  const value: unknown = Reflect.get(from, name);
  return typeof value === "string" ? value : null;
}
