/** Builds the messages of the corpus. */

import type { DsnAction } from "../../../../src/protocols/dsn/delivery-status.ts";
import type { ReplyClass } from "../../../../src/protocols/smtp/reply-classes.ts";

/** A form of bounce. All are written for this test in the form of the named kind of server. */
export type Sample = {
  /** Kind of server or provider. */
  kind: string;
  /** Describes the form and says when the server sends it. */
  source: string;
  raw: string;
  action: DsnAction;
  class: ReplyClass;
  /** The recipient that must be found; null if the form names none. */
  recipient: string | null;
};

export const RECIPIENT = "bob@example.net";
export const MESSAGE_ID = "<01935c1e-0000-7000-8000-000000000001@shop.example>";

export const ORIGINAL = [
  "Received: from mail.shop.example by mx.example.net; Mon, 2 Nov 2026 10:00:00 +0000",
  "From: Shop <hello@shop.example>",
  `To: ${RECIPIENT}`,
  "Subject: Your order 1001",
  `Message-ID: ${MESSAGE_ID}`,
  "MIME-Version: 1.0",
  "Content-Type: text/plain; charset=utf-8",
];

const crlf = (lines: readonly string[]): string => lines.join("\r\n").replace(/\r?\n/g, "\r\n");

export type Standard = {
  from?: string;
  subject?: string;
  /** The words for people. */
  text?: string;
  action?: string;
  status?: string;
  /** The value of Diagnostic-Code, with its type; none if undefined. */
  diagnostic?: string;
  /** More fields of the group. */
  fields?: readonly string[];
  /** All groups of recipients instead of one made from the other members. */
  groups?: readonly (readonly string[])[];
  /** Fields of the message. */
  general?: readonly string[];
  /** Header fields of the report. */
  headers?: readonly string[];
  statusType?: string;
  /** The third part: its type and its lines. */
  returned?: readonly [type: string, lines: readonly string[]] | null;
};

/** A report of RFC 3464 in multipart/report. */
export function standard(options: Standard): string {
  const { action = "failed", status = "5.1.1", diagnostic, fields = [] } = options;
  const group = [
    `Final-Recipient: rfc822; ${RECIPIENT}`,
    `Action: ${action}`,
    `Status: ${status}`,
    ...(diagnostic === undefined ? [] : [`Diagnostic-Code: ${diagnostic}`]),
    ...fields,
  ];
  const returned =
    options.returned === undefined ? (["message/rfc822", ORIGINAL] as const) : options.returned;
  return crlf([
    `From: ${options.from ?? "Mail Delivery System <MAILER-DAEMON@mx.example.net>"}`,
    "To: b+token@bounce.shop.example",
    `Subject: ${options.subject ?? "Undelivered Mail Returned to Sender"}`,
    "Auto-Submitted: auto-replied",
    ...(options.headers ?? []),
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=delivery-status; boundary="=_b1"',
    "",
    "This is a MIME-encapsulated message.",
    "",
    "--=_b1",
    "Content-Type: text/plain; charset=utf-8",
    "",
    options.text ?? "Your message could not be delivered.",
    "",
    "--=_b1",
    `Content-Type: ${options.statusType ?? "message/delivery-status"}`,
    "",
    ...(options.general ?? ["Reporting-MTA: dns; mx.example.net"]),
    "",
    ...(options.groups ?? [group]).flatMap((lines) => [...lines, ""]),
    ...(returned === null
      ? []
      : ["--=_b1", `Content-Type: ${returned[0]}`, "", ...returned[1], "", "Thank you."]),
    "--=_b1--",
    "",
  ]);
}

export type Plain = {
  from?: string;
  subject: string;
  headers?: readonly string[];
  type?: string;
  text: string;
  /** The line before the copy of the message; no copy if null. */
  copy?: string | null;
};

/** A report in words only. */
export function plain(options: Plain): string {
  const { from = "Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>", copy = null } = options;
  return crlf([
    `From: ${from}`,
    "To: b+token@bounce.shop.example",
    `Subject: ${options.subject}`,
    ...(options.headers ?? []),
    `Content-Type: ${options.type ?? "text/plain; charset=utf-8"}`,
    "",
    options.text,
    ...(copy === null ? [] : ["", copy, "", ...ORIGINAL, "", "Thank you for your order."]),
    "",
  ]);
}
