/** The trace fields that the receiving server puts before a message (RFC 5321 §4.4). */

import { messageDate } from "../protocols/mime/message.ts";

export function traceFields(session: {
  from: string;
  recipients: readonly string[];
  helo: string;
  peer: string;
  hasTls: boolean;
  hasUser: boolean;
  hostname: string;
  id: string;
  at: number;
}): Buffer {
  const { from, recipients, helo, peer, hostname, id, at } = session;
  const address = peer.includes(":") ? `IPv6:${peer}` : peer;
  const protocol = `ESMTP${session.hasTls ? "S" : ""}${session.hasUser ? "A" : ""}`;
  // Several recipients are not named, because one would see the others.
  const [only] = recipients.length === 1 ? recipients : [];
  const recipient = only === undefined ? "" : `\r\n\tfor <${only}>`;
  return Buffer.from(
    `Return-Path: <${from}>\r\n` +
      `Received: from ${helo} ([${address}])\r\n` +
      `\tby ${hostname} with ${protocol} id ${id}${recipient};\r\n` +
      `\t${messageDate(new Date(at))}\r\n`,
  );
}
