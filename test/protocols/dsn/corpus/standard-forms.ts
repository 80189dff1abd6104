/** Standard reports (RFC 3464) in the forms of different servers. */

import type { DsnAction } from "../../../../src/protocols/dsn/delivery-status.ts";
import type { ReplyClass } from "../../../../src/protocols/smtp/reply-classes.ts";
import { ORIGINAL, RECIPIENT, type Sample, type Standard, standard } from "./build.ts";

type Row = readonly [
  kind: string,
  source: string,
  expected: ReplyClass,
  form: Standard,
  action?: DsnAction,
];

const NO = "no_such_recipient";
const FULL = "mailbox_full";

const ROWS: readonly Row[] = [
  [
    "Postfix",
    "the server of the recipient refuses RCPT",
    NO,
    {
      diagnostic: `smtp; 550 5.1.1 <${RECIPIENT}>: Recipient address rejected: User unknown in virtual mailbox table`,
    },
  ],
  ["Postfix", "local delivery, unknown user", NO, { diagnostic: 'X-Postfix; unknown user: "bob"' }],
  [
    "Postfix",
    "the domain does not exist",
    NO,
    {
      status: "5.4.4",
      diagnostic:
        "X-Postfix; Host or domain name not found. Name service error for name=example.net type=A: Host not found",
    },
  ],
  [
    "Postfix",
    "the domain has a null MX record",
    NO,
    { status: "5.1.10", diagnostic: "X-Postfix; Domain example.net does not accept mail (nullMX)" },
  ],
  [
    "Postfix",
    "the mailbox is full",
    FULL,
    {
      status: "5.2.2",
      diagnostic: "smtp; 552 5.2.2 Mailbox size limit exceeded (in reply to end of DATA command)",
    },
  ],
  [
    "Postfix",
    "still full when the queue time ended",
    FULL,
    {
      status: "4.2.2",
      diagnostic: "smtp; 452 4.2.2 The email account that you tried to reach is over quota",
    },
  ],
  [
    "Postfix",
    "connection timed out for five days",
    "infrastructure",
    {
      status: "4.4.1",
      diagnostic: "X-Postfix; connect to mx.example.net[192.0.2.1]:25: Connection timed out",
    },
  ],
  [
    "Postfix",
    "the mail loops back",
    "infrastructure",
    { status: "5.4.6", diagnostic: "X-Postfix; mail for example.net loops back to myself" },
  ],
  [
    "Postfix",
    "refused as spam at the end of the data",
    "content",
    {
      status: "5.7.1",
      diagnostic:
        "smtp; 550 5.7.1 This message was classified as spam and may not be delivered (in reply to end of DATA command)",
    },
  ],
  [
    "Postfix",
    "a block list refuses the address",
    "reputation",
    {
      status: "5.7.1",
      diagnostic:
        "smtp; 554 5.7.1 Service unavailable; Client host [192.0.2.9] blocked using zen.spamhaus.org",
    },
  ],
  [
    "Postfix",
    "the message is too large",
    "content",
    { status: "5.3.4", diagnostic: "smtp; 552 5.3.4 Message size exceeds fixed limit" },
  ],
  [
    "Postfix",
    "a delay warning",
    "greylisted",
    {
      action: "delayed",
      status: "4.7.1",
      diagnostic: "smtp; 450 4.7.1 Recipient address rejected: Greylisted, see the manual",
    },
    "delayed",
  ],
  [
    "Postfix",
    "bounce of a message with an internationalised address",
    NO,
    {
      statusType: "message/global-delivery-status",
      groups: [
        [
          "Final-Recipient: utf-8; bob@example.net",
          "Action: failed",
          "Status: 5.1.1",
          "Diagnostic-Code: smtp; 550 5.1.1 unknown user",
        ],
      ],
      returned: ["message/global-headers", ORIGINAL],
    },
  ],
  [
    "Exim",
    "unroutable address",
    NO,
    { status: "5.0.0", diagnostic: "X-Exim; Unrouteable address" },
  ],
  [
    "Exim",
    "refused after RCPT",
    NO,
    {
      status: "5.0.0",
      diagnostic: `smtp; 550 5.1.1 <${RECIPIENT}> User doesn't exist: ${RECIPIENT}`,
    },
  ],
  [
    "Exim",
    "only the words name the reason",
    NO,
    {
      status: "5.0.0",
      text: `This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n  ${RECIPIENT}\n    host mx.example.net [192.0.2.1]\n    SMTP error from remote mail server after RCPT TO:<${RECIPIENT}>:\n    550 5.1.1 User unknown`,
    },
  ],
  [
    "Exim",
    "retry time not reached for any host after a long failure",
    "temporary",
    { status: "4.0.0", diagnostic: "X-Exim; retry timeout exceeded" },
  ],
  [
    "Exim",
    "mailbox is full after retry timeout",
    FULL,
    { status: "5.0.0", diagnostic: "smtp; 452 4.2.2 Mailbox full; retry timeout exceeded" },
  ],
  [
    "Exim",
    "warning after 24 hours",
    "temporary",
    { action: "delayed", status: "4.0.0", subject: "Warning: message 1abcde delayed 24 hours" },
    "delayed",
  ],
  [
    "Sendmail",
    "unknown user",
    NO,
    {
      diagnostic: `SMTP; 550 5.1.1 <${RECIPIENT}>... User unknown`,
      fields: [
        "Remote-MTA: DNS; mx.example.net",
        "Last-Attempt-Date: Mon, 2 Nov 2026 10:00:00 +0000",
      ],
    },
  ],
  [
    "Sendmail",
    "host unknown",
    NO,
    {
      status: "5.1.2",
      diagnostic: "X-Unix; 550 Host unknown (Name server: example.net: host not found)",
      fields: ["Remote-MTA: DNS; example.net"],
    },
  ],
  [
    "Sendmail",
    "could not send for five days",
    "infrastructure",
    {
      status: "4.4.7",
      fields: ["Remote-MTA: DNS; mx.example.net"],
      text: "Message could not be delivered for 5 days",
    },
  ],
  [
    "Sendmail",
    "relaying denied",
    "policy",
    { status: "5.7.1", diagnostic: "SMTP; 550 5.7.1 Relaying denied" },
  ],
  [
    "Sendmail",
    "warning after four hours",
    "temporary",
    { action: "delayed", status: "4.2.0", diagnostic: "SMTP; 451 4.2.0 local error in processing" },
    "delayed",
  ],
  [
    "Sendmail",
    "delivery receipt",
    "temporary",
    { action: "delivered (to mailbox)", status: "2.1.5", subject: "Return receipt" },
    "delivered",
  ],
  [
    "Sendmail",
    "relayed to a server without reports",
    "temporary",
    { action: "relayed (to non-DSN-aware mailer)", status: "2.6.0" },
    "relayed",
  ],
  [
    "Sendmail",
    "expanded to a list of addresses",
    "temporary",
    { action: "expanded (to multi-recipient alias)", status: "2.1.5" },
    "expanded",
  ],
  [
    "Exchange",
    "recipient not found",
    NO,
    { diagnostic: "smtp;550 5.1.1 RESOLVER.ADR.RecipNotFound; not found" },
  ],
  [
    "Exchange Online",
    "recipient not found by SMTP address lookup",
    NO,
    {
      status: "5.1.10",
      diagnostic: `smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient ${RECIPIENT} not found by SMTP address lookup`,
    },
  ],
  [
    "Exchange",
    "mailbox full",
    FULL,
    {
      status: "5.2.2",
      diagnostic: "smtp;554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException",
    },
  ],
  [
    "Exchange Online",
    "message expired, the server did not answer",
    "infrastructure",
    {
      status: "5.4.316",
      diagnostic: "smtp;550 5.4.316 Message expired, connection refused(Socket error code 10061)",
    },
  ],
  [
    "Exchange Online",
    "hop count exceeded",
    "infrastructure",
    {
      status: "5.4.14",
      diagnostic: "smtp;554 5.4.14 Hop count exceeded - possible mail loop ATTR34",
    },
  ],
  [
    "Exchange",
    "the recipient takes no mail from strangers",
    "infrastructure",
    {
      status: "5.7.1",
      diagnostic: "smtp;550 5.7.1 RESOLVER.RST.AuthRequired; authentication required",
    },
  ],
  [
    "Exchange Online",
    "the tenant blocks the sending domain for DMARC",
    "authentication",
    {
      status: "5.7.509",
      diagnostic:
        "smtp;550 5.7.509 Access denied, sending domain shop.example does not pass DMARC verification",
    },
  ],
  [
    "Exchange",
    "delayed",
    "infrastructure",
    {
      action: "delayed",
      status: "4.4.7",
      from: "postmaster@example.net",
      subject: "Delivery Status Notification (Delay)",
    },
    "delayed",
  ],
  [
    "Microsoft IIS",
    "no reason but the status",
    NO,
    {
      from: "postmaster@example.net",
      subject: "Delivery Status Notification (Failure)",
      status: "5.1.1",
    },
  ],
  [
    "Outlook.com",
    "the mailbox does not exist",
    NO,
    {
      status: "5.5.0",
      diagnostic: "smtp;550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).",
    },
  ],
  [
    "Gmail",
    "the account does not exist",
    NO,
    {
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      subject: "Delivery Status Notification (Failure)",
      diagnostic:
        "smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try\n 550-5.1.1 double-checking the recipient's email address for typos or\n 550 5.1.1 unnecessary spaces.",
    },
  ],
  [
    "Gmail",
    "the inbox is out of storage space",
    FULL,
    {
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      status: "5.2.2",
      diagnostic: "smtp; 552-5.2.2 The recipient's inbox is out of storage space.",
    },
  ],
  [
    "Gmail",
    "DNS error: the domain has no servers",
    NO,
    {
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      status: "5.1.2",
      diagnostic:
        "smtp; DNS Error: DNS type 'mx' lookup of example.net responded with code NXDOMAIN Domain name not found: example.net",
    },
  ],
  [
    "Gmail",
    "temporary problem, three days left",
    "infrastructure",
    {
      action: "delayed",
      status: "4.4.1",
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      diagnostic: "smtp; The recipient server did not accept our requests to connect.",
    },
    "delayed",
  ],
  [
    "Gmail",
    "low reputation of the sending domain",
    "reputation",
    {
      status: "5.7.1",
      diagnostic:
        "smtp; 550-5.7.1 Our system has detected that this message is likely suspicious due to the very low reputation of the sending domain.",
    },
  ],
  [
    "Yahoo",
    "no account of that name",
    NO,
    {
      from: "MAILER-DAEMON@yahoo.com",
      status: "5.0.0",
      diagnostic: "smtp; 554 delivery error: dd This user doesn't have a yahoo.com account",
    },
  ],
  [
    "iCloud",
    "user unknown",
    NO,
    { diagnostic: `smtp; 550 5.1.1 <${RECIPIENT}>: user does not exist` },
  ],
  [
    "iCloud",
    "user over quota",
    FULL,
    { status: "5.2.2", diagnostic: `smtp; 552 5.2.2 <${RECIPIENT}>: user is over quota` },
  ],
  [
    "Mail.ru",
    "blocked mailbox",
    NO,
    {
      diagnostic:
        "smtp; 550 Message was not accepted -- invalid mailbox. Local mailbox bob@example.net is unavailable: user not found",
    },
  ],
  [
    "Yandex",
    "words that name the user, with a policy code",
    NO,
    { status: "5.7.1", diagnostic: "smtp; 550 5.7.1 No such user!" },
  ],
  [
    "GMX",
    "mailbox unavailable",
    NO,
    { status: "5.0.0", diagnostic: "smtp; 550-Requested action not taken: mailbox unavailable" },
  ],
  [
    "QQ",
    "mailbox not found",
    NO,
    { status: "5.0.0", diagnostic: "smtp; 550 Mailbox not found. http://service.mail.example/" },
  ],
  [
    "Courier",
    "no such user",
    NO,
    {
      diagnostic: "smtp; 550 User unknown.",
      general: [
        "Reporting-MTA: dns; mx.example.net",
        "Arrival-Date: Mon, 02 Nov 2026 10:00:00 +0000",
        "Received-From-MTA: dns; mail.shop.example",
      ],
    },
  ],
  [
    "OpenSMTPD",
    "the domain does not exist",
    NO,
    {
      status: "5.1.2",
      subject: "Delivery status notification: error",
      diagnostic: "smtp; 550 5.1.2 Domain does not exist",
    },
  ],
  [
    "IronPort",
    "a bounce with the reply in the diagnostic",
    NO,
    {
      status: "5.1.0",
      diagnostic:
        "smtp; 5.1.0 - Unknown address error 550-'5.1.1 User unknown' (delivery attempts: 0)",
    },
  ],
  [
    "Amazon SES",
    "the address is on no list and the server refuses it",
    NO,
    {
      from: "MAILER-DAEMON@amazonses.com",
      diagnostic: "smtp; 550 5.1.1 user unknown",
      text: "An error occurred while trying to deliver the mail to the following recipients:\nbob@example.net",
    },
  ],
  [
    "Amazon SES",
    "a suppressed address, no reply",
    NO,
    {
      status: "5.1.1",
      diagnostic:
        "Amazon SES has suppressed sending to this address because it has a recent history of bouncing as an invalid address.",
    },
  ],
  [
    "Mimecast",
    "the recipient is refused by policy",
    "policy",
    {
      status: "5.7.1",
      diagnostic: "smtp; 550 Rejected by header based Anti-Spoofing policy: hello@shop.example",
      groups: [
        [
          `Final-Recipient: rfc822; ${RECIPIENT}`,
          "Action: failed",
          "Status: 5.7.1",
          "Diagnostic-Code: smtp; 550 Administrative prohibition - envelope blocked",
        ],
      ],
    },
  ],
  [
    "Proofpoint",
    "the address of the sender is blocked",
    "reputation",
    {
      status: "5.7.1",
      diagnostic: "smtp; 554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.9",
    },
  ],
  [
    "Messaging Server",
    "no such user, typed address in brackets",
    NO,
    {
      groups: [
        [
          `Original-Recipient: rfc822;${RECIPIENT}`,
          `Final-Recipient: rfc822;<${RECIPIENT}>`,
          "Action: failed",
          "Status: 5.1.1 (unknown or illegal alias)",
          "Remote-MTA: dns;mx.example.net (TCP|192.0.2.1|25)",
          "Diagnostic-Code: smtp;550 5.1.1 unknown or illegal alias",
        ],
      ],
    },
  ],
  [
    "Domino",
    "a report with a numbered reason",
    NO,
    {
      status: "5.1.1",
      from: "postmaster@example.net",
      subject: "DELIVERY FAILURE: User bob not listed in Domino Directory",
      diagnostic: "X-Notes; User bob (bob@example.net) not listed in Domino Directory",
    },
  ],
  [
    "GroupWise",
    "the mailbox is full",
    FULL,
    { status: "5.2.2", diagnostic: "smtp; 552 5.2.2 Mailbox full" },
  ],
  [
    "Lotus Notes gateway",
    "the delivery status is sent as plain text",
    NO,
    { statusType: "text/plain", diagnostic: "smtp; 550 5.1.1 No such user" },
  ],
  [
    "MDaemon",
    "no empty line before the group of the recipient",
    NO,
    {
      general: [],
      groups: [
        [
          "Reporting-MTA: dns; mx.example.net",
          `Final-Recipient: rfc822; ${RECIPIENT}`,
          "Action: failed",
          "Status: 5.1.1",
          "Diagnostic-Code: smtp; 550 unknown user",
        ],
      ],
    },
  ],
  [
    "hMailServer",
    "action in capitals and a comment",
    NO,
    { action: "FAILED (permanent)", diagnostic: "SMTP; 550 Unknown user" },
  ],
  [
    "Zimbra",
    "returned headers only",
    NO,
    { diagnostic: "smtp; 550 5.1.1 no such address", returned: ["text/rfc822-headers", ORIGINAL] },
  ],
  [
    "Stalwart",
    "nothing returned",
    NO,
    { diagnostic: "smtp; 550 5.1.1 Mailbox does not exist.", returned: null },
  ],
  [
    "Haraka",
    "no Action field",
    NO,
    {
      groups: [
        [
          `Final-Recipient: rfc822; ${RECIPIENT}`,
          "Status: 5.1.1",
          "Diagnostic-Code: smtp; 550 no such user",
        ],
      ],
    },
  ],
  [
    "Cisco",
    "its label before the refusal of spam",
    "content",
    {
      status: "5.1.0",
      diagnostic:
        "smtp; 5.1.0 - Unknown address error 550-'5.7.1 Message rejected due to spam content' (delivery attempts: 0)",
    },
  ],
  [
    "Cisco",
    "its label before a size",
    "content",
    {
      status: "5.1.0",
      diagnostic:
        "smtp; 5.1.0 - Unknown address error 552-'5.3.4 Message size exceeds fixed limit' (delivery attempts: 0)",
    },
  ],
  [
    "Cisco",
    "its label before a block",
    "reputation",
    {
      status: "5.1.0",
      diagnostic:
        "smtp; 5.1.0 - Unknown address error 554-'Service unavailable; client blocked using Spamhaus'",
    },
  ],
  [
    "Cisco",
    "its label before words that say nothing",
    "policy",
    { status: "5.1.0", diagnostic: "smtp; 5.1.0 - Unknown address error 550-'Rejected'" },
  ],
  [
    "Cisco",
    "its label before an unknown user",
    NO,
    {
      status: "5.1.0",
      diagnostic:
        "smtp; 5.1.0 - Unknown address error 550-'5.1.1 User unknown' (delivery attempts: 0)",
    },
  ],
  [
    "Exchange Online",
    "quotes the reply of the other server",
    NO,
    {
      status: "5.1.351",
      diagnostic: `smtp; 550 5.1.351 Remote server returned unknown recipient or mailbox unavailable -> 550 <${RECIPIENT}>: User unknown`,
    },
  ],
  [
    "Exchange Online",
    "quotes a refusal of spam",
    "content",
    {
      status: "5.0.350",
      diagnostic:
        "smtp; 550 5.0.350 Remote server returned an error -> 554 5.7.1 Message identified as spam",
    },
  ],
  [
    "Exchange Online",
    "says that the recipient is unknown, and quotes nothing",
    NO,
    {
      status: "5.1.350",
      diagnostic:
        "smtp; 550 5.1.350 Remote server returned unknown recipient or mailbox unavailable",
    },
  ],
  [
    "IBM",
    "the reply in X-Supplementary-Info",
    NO,
    {
      status: "5.0.0",
      fields: ['X-Supplementary-Info: <192.0.2.32 #5.0.0 smtp; 550 "Unknown User">'],
    },
  ],
  [
    "Sendmail",
    "derived its status from a refusal of the size",
    "content",
    {
      status: "5.1.1",
      diagnostic: `smtp; 550 RCPT TO:<${RECIPIENT}> max message size exceeded`,
    },
  ],
  [
    "Sendmail",
    "derived its status from words about the domain of the sender",
    "infrastructure",
    { status: "5.1.1", diagnostic: "smtp; 550 From: Domain is invalid" },
  ],
  [
    "Postfix",
    "the name servers of the domain are broken",
    "infrastructure",
    {
      status: "5.0.0",
      diagnostic: "x-postfix; Name service error for name=example.net: Malformed name server reply",
    },
  ],
  [
    "Postfix",
    "names the address of the other server before words that say nothing",
    "policy",
    { status: "5.0.0", diagnostic: "x-postfix; host mx.example.net[192.0.2.7] said: 554 No" },
  ],
  [
    "Boxbe",
    "a group without a recipient before the real one",
    "temporary",
    {
      groups: [
        ["Action: failed"],
        [
          `Final-Recipient: rfc822; ${RECIPIENT}`,
          "Action: delayed",
          "Status: 4.7.0",
          "Diagnostic-Code: smtp; Sender not pre-approved",
        ],
      ],
    },
    "delayed",
  ],
];

export const STANDARD_FORMS: readonly Sample[] = ROWS.map(
  ([kind, source, expected, form, action = "failed"]) => ({
    kind,
    source,
    raw: standard(form),
    action,
    class: expected,
    recipient: RECIPIENT,
  }),
);
