/** The trace fields that the receiving server puts before a message (RFC 5321 §4.4). */

import { messageDate } from "../protocols/mime/message.ts";

type Hop = {
  helo: string;
  peer: string;
  hostname: string;
  id: string;
  at: number;
};

export function traceFields(
  session: Hop & {
    from: string;
    recipients: readonly string[];
    hasTls: boolean;
    hasUser: boolean;
  },
): Buffer {
  const { from, recipients } = session;
  const protocol = `ESMTP${session.hasTls ? "S" : ""}${session.hasUser ? "A" : ""}`;
  // Several recipients are not named, because one would see the others.
  const [only] = recipients.length === 1 ? recipients : [];
  return Buffer.from(`Return-Path: <${from}>\r\n${received(session, protocol, only)}`);
}

/** The field for a message that is passed on. `tls` is null without TLS. */
export function receivedField(
  session: Hop & { tls: string | null; recipient: string | undefined },
): Buffer {
  const protocol = session.tls === null ? "ESMTP" : "ESMTPS";
  return Buffer.from(received(session, protocol, session.recipient));
}

function received(
  { helo, peer, hostname, id, at }: Hop,
  protocol: string,
  only: string | undefined,
): string {
  const address = peer.includes(":") ? `IPv6:${peer}` : peer;
  const recipient = only === undefined ? "" : `\r\n\tfor <${only}>`;
  return (
    `Received: from ${helo.replace(/[^!-~]/g, "?")} ([${address}])\r\n` +
    `\tby ${hostname} with ${protocol} id ${id}${recipient};\r\n` +
    `\t${messageDate(new Date(at))}\r\n`
  );
}
