/** Bounces that follow no standard, in the forms of servers and providers. */

import type { ReplyClass } from "../../../../src/protocols/smtp/reply-classes.ts";
import { KIND_FORMS } from "./text-forms-kinds.ts";
import { MORE_TEXT_FORMS } from "./text-forms-more.ts";
import { type Plain, plain, RECIPIENT as R, type Sample } from "./build.ts";

export type TextRow = readonly [
  kind: string,
  source: string,
  expected: ReplyClass,
  form: Plain,
  rest?: { action?: "delayed" },
];

const NO = "no_such_recipient";
const FULL = "mailbox_full";

const QMAIL =
  "Hi. This is the qmail-send program at mx.example.net.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up. Sorry it didn't work out.\n\n";
const qmail = (words: string): Plain => ({
  from: "MAILER-DAEMON@mx.example.net",
  subject: "failure notice",
  text: `${QMAIL}<${R}>:\n${words}`,
  copy: "--- Below this line is a copy of the message.",
});

const EXIM =
  "This message was created automatically by mail delivery software.\n\nA message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. The following address(es) failed:\n\n";
const exim = (words: string): Plain => ({
  subject: "Mail delivery failed: returning message to sender",
  headers: [`X-Failed-Recipients: ${R}`, "Auto-Submitted: auto-replied"],
  text: `${EXIM}  ${R}\n${words}`,
  copy: "------ This is a copy of the message, including all the headers. ------",
});

const POSTFIX =
  "This is the mail system at host mx.example.net.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n                   The mail system\n\n";
const postfix = (words: string): Plain => ({
  subject: "Undelivered Mail Returned to Sender",
  text: `${POSTFIX}<${R}>: ${words}`,
});

const sendmail = (errors: string, transcript: string): Plain => ({
  subject: "Returned mail: see transcript for details",
  text: `The original message was received at Mon, 2 Nov 2026 10:00:00 GMT\nfrom mail.shop.example [192.0.2.9]\n\n   ----- The following addresses had permanent fatal errors -----\n<${R}>\n    (reason: ${errors})\n\n   ----- Transcript of session follows -----\n${transcript}`,
});

const ROWS: readonly TextRow[] = [
  [
    "qmail",
    "a local user that does not exist",
    NO,
    qmail("Sorry, no mailbox here by that name. (#5.1.1)"),
  ],
  [
    "qmail",
    "the domain has no host",
    NO,
    qmail("Sorry, I couldn't find any host named example.net. (#5.1.2)"),
  ],
  [
    "qmail",
    "a remote server refuses the recipient",
    NO,
    qmail(
      "192.0.2.1 does not like recipient.\nRemote host said: 550 5.1.1 User unknown\nGiving up on 192.0.2.1.",
    ),
  ],
  [
    "qmail",
    "the remote server failed for a week",
    "infrastructure",
    qmail(
      "Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)\nI'm not going to try again; this message has been in the queue too long.",
    ),
  ],
  [
    "qmail",
    "the mailbox is over quota",
    FULL,
    qmail("The users mailfolder is over the allowed quota (size). (#5.2.2)"),
  ],
  ["qmail", "vpopmail: the account is disabled", NO, qmail("This address no longer accepts mail.")],
  [
    "qmail",
    "refused after the data as spam",
    "content",
    qmail(
      "192.0.2.1 failed after I sent the message.\nRemote host said: 554 5.7.1 message looks like spam",
    ),
  ],
  [
    "qmail",
    "not in the list of hosts",
    "policy",
    qmail(
      "192.0.2.1 does not like recipient.\nRemote host said: 553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
    ),
  ],
  ["Exim", "unroutable address", NO, exim("    Unrouteable address")],
  [
    "Exim",
    "refused after RCPT",
    NO,
    exim(
      `    host mx.example.net [192.0.2.1]\n    SMTP error from remote mail server after RCPT TO:<${R}>:\n    550 5.1.1 <${R}>: Recipient address rejected: User unknown`,
    ),
  ],
  [
    "Exim",
    "all MX records name hosts that do not exist",
    NO,
    exim("    all relevant MX records point to non-existent hosts"),
  ],
  [
    "Exim",
    "mailbox full after the retry timeout",
    FULL,
    exim(
      `    SMTP error from remote mail server after RCPT TO:<${R}>:\n    452 4.2.2 mailbox is full: retry timeout exceeded`,
    ),
  ],
  [
    "Exim",
    "refused at the end of the data by a filter",
    "content",
    exim(
      "    SMTP error from remote mail server after end of data:\n    550 This message contains a virus",
    ),
  ],
  ["Exim", "local delivery: disk quota", FULL, exim("    mailbox is full: retry timeout exceeded")],
  [
    "Exim",
    "the server took no connection",
    "infrastructure",
    exim("    retry timeout exceeded: connect to mx.example.net [192.0.2.1]: Connection timed out"),
  ],
  [
    "Exim",
    "the sender is refused",
    "infrastructure",
    exim(
      "    SMTP error from remote mail server after MAIL FROM:<hello@shop.example>:\n    550 Sender verify failed",
    ),
  ],
  [
    "Exim",
    "warning after 24 hours",
    "temporary",
    {
      subject: "Warning: message 1abcde-000001 delayed 24 hours",
      headers: ["Auto-Submitted: auto-replied"],
      text: `This message was created automatically by mail delivery software.\nA message that you sent has not yet been delivered to one or more of its\nrecipients after more than 24 hours on the queue.\n\nThe address to which the message has not yet been delivered is:\n\n  ${R}\n    Delay reason: 451 4.3.0 try later\n\nNo action is required on your part.`,
    },
    { action: "delayed" },
  ],
  [
    "1&1",
    "unknown user, in the words of its own servers",
    NO,
    {
      from: "Mail Delivery System <mailer-daemon@kundenserver.example>",
      subject: "Mail delivery failed: returning message to sender",
      text: `This message was created automatically by mail delivery software.\n\nA message that you have sent could not be delivered to one or more recipients. This is a permanent error.\nThe following address failed:\n\n<${R}>:\nUnrouteable address`,
    },
  ],
  [
    "Postfix",
    "a report without a delivery status",
    NO,
    postfix(
      "host mx.example.net[192.0.2.1] said: 550 5.1.1 unknown user\n    (in reply to RCPT TO command)",
    ),
  ],
  [
    "Postfix",
    "old form of the opening",
    NO,
    {
      subject: "Undelivered Mail Returned to Sender",
      text: `This is the Postfix program at host mx.example.net.\n\nI'm sorry to have to inform you that the message returned\nbelow could not be delivered to one or more destinations.\n\n<${R}>: unknown user: "bob"`,
    },
  ],
  [
    "Postfix",
    "host not found",
    NO,
    postfix(
      "Host or domain name not found. Name service error for name=example.net type=MX: Host not found",
    ),
  ],
  [
    "Postfix",
    "quota",
    FULL,
    postfix("maildir delivery failed: The mailbox of the user is over quota"),
  ],
  [
    "Postfix",
    "greylisted until the queue time ended",
    "greylisted",
    postfix(
      "host mx.example.net[192.0.2.1] said: 451 4.7.1 Greylisting in action, please come back later (in reply to RCPT TO command)",
    ),
  ],
  [
    "Postfix",
    "lost connection",
    "infrastructure",
    postfix("lost connection with mx.example.net[192.0.2.1] while sending RCPT TO"),
  ],
  [
    "Postfix",
    "delay warning",
    "infrastructure",
    {
      subject: "Delayed Mail (still being retried)",
      text: `This is the mail system at host mx.example.net.\n\n####################################################################\n# THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE. #\n####################################################################\n\n<${R}>: connect to mx.example.net[192.0.2.1]:25: Connection timed out`,
    },
    { action: "delayed" },
  ],
  [
    "Sendmail",
    "unknown user",
    NO,
    sendmail(
      "550 5.1.1 <bob@example.net>... User unknown",
      "... while talking to mx.example.net.:\n>>> DATA\n<<< 550 5.1.1 <bob@example.net>... User unknown\n550 5.1.1 <bob@example.net>... User unknown",
    ),
  ],
  [
    "Sendmail",
    "host unknown",
    NO,
    sendmail(
      "550 Host unknown",
      "550 5.1.2 <bob@example.net>... Host unknown (Name server: example.net: host not found)",
    ),
  ],
  [
    "Sendmail",
    "mailbox full",
    FULL,
    sendmail("552 5.2.2 Over quota", "552 5.2.2 <bob@example.net>... Over quota"),
  ],
  [
    "Sendmail",
    "old form with the transcript alone",
    NO,
    {
      subject: "Returned mail: User unknown",
      text: `   ----- Transcript of session follows -----\n550 ${R}... User unknown\n\n   ----- Unsent message follows -----`,
    },
  ],
  [
    "Sendmail",
    "could not send for four hours",
    "temporary",
    {
      subject: "Warning: could not send message for past 4 hours",
      text: `    **********************************************\n    **      THIS IS A WARNING MESSAGE ONLY      **\n    **  YOU DO NOT NEED TO RESEND YOUR MESSAGE  **\n    **********************************************\n\n   ----- The following addresses had transient non-fatal errors -----\n<${R}>\n\n   ----- Transcript of session follows -----\n451 4.3.0 temporary failure`,
    },
    { action: "delayed" },
  ],
  [
    "Exchange",
    "the address was not found",
    NO,
    {
      from: "System Administrator <postmaster@example.net>",
      subject: "Undeliverable: Your order 1001",
      text: `Your message did not reach some or all of the intended recipients.\n\n      Subject:\tYour order 1001\n      Sent:\t11/2/2026 10:00 AM\n\nThe following recipient(s) cannot be reached:\n\n      ${R} on 11/2/2026 10:00 AM\n            The e-mail account does not exist at the organization this message was sent to.  Check the e-mail address, or contact the recipient directly to find out the correct address.\n            <mx.example.net #5.1.1>`,
    },
  ],
  [
    "Exchange",
    "mailbox over its limit",
    FULL,
    {
      from: "System Administrator <postmaster@example.net>",
      subject: "Undeliverable: Your order 1001",
      text: `Your message did not reach some or all of the intended recipients.\n\nThe following recipient(s) could not be reached:\n\n      ${R} on 11/2/2026 10:00 AM\n            The recipient's mailbox is full.\n            <mx.example.net #5.2.2>`,
    },
  ],
  [
    "Exchange",
    "form of Exchange 2010 in HTML",
    NO,
    {
      from: "postmaster@example.net",
      subject: "Undeliverable: Your order 1001",
      type: "text/html; charset=us-ascii",
      text: `<html><body><p><b>Delivery has failed to these recipients or groups:</b></p><p><a href="mailto:${R}">${R}</a><br>The e-mail address you entered couldn't be found. Please check the recipient's e-mail address and try to resend the message.</p></body></html>`,
    },
  ],
  [
    "Exchange Online",
    "couldn't be delivered, unknown recipient",
    NO,
    {
      from: "postmaster@outlook.example",
      subject: "Undeliverable: Your order 1001",
      type: "text/html; charset=utf-8",
      text: `<div>Your message to ${R} couldn't be delivered.</div><div>bob wasn't found at example.net.</div><p>${R}</p><p>Remote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'</p>`,
    },
  ],
  [
    "Exchange Online",
    "German words",
    NO,
    {
      from: "postmaster@example.net",
      subject: "Unzustellbar: Ihre Bestellung",
      text: `Fehler bei der Nachrichtenzustellung an folgende Empfänger oder Gruppen:\n\n${R}\nDie eingegebene Adresse konnte nicht gefunden werden, der Empfänger ist unbekannt.`,
    },
  ],
  [
    "Exchange Online",
    "French words",
    FULL,
    {
      from: "postmaster@example.net",
      subject: "Non remis : Votre commande",
      text: `Échec de la remise pour ces destinataires ou groupes :\n\n${R}\nLa boîte aux lettres du destinataire est pleine.`,
    },
  ],
  [
    "Exchange Online",
    "Spanish words",
    NO,
    {
      from: "postmaster@example.net",
      subject: "No se puede entregar: Su pedido",
      text: `No se pudo entregar el mensaje a estos destinatarios o grupos:\n\n${R}\nLa dirección de correo no existe.`,
    },
  ],
  [
    "Microsoft IIS",
    "the SMTP service of Windows",
    NO,
    {
      from: "postmaster@example.net",
      subject: "Delivery Status Notification (Failure)",
      text: `This is an automatically generated Delivery Status Notification.\n\nDelivery to the following recipients failed.\n\n       ${R}\n\n550 5.1.1 User unknown`,
    },
  ],
  [
    "Gmail",
    "form before 2016",
    NO,
    {
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      subject: "Delivery Status Notification (Failure)",
      headers: [`X-Failed-Recipients: ${R}`],
      text: `Delivery to the following recipient failed permanently:\n\n     ${R}\n\nTechnical details of permanent failure:\nGoogle tried to deliver your message, but it was rejected by the server for the recipient domain example.net by mx.example.net. [192.0.2.1].\n\nThe error that the other server returned was:\n550 5.1.1 User unknown`,
      copy: "----- Original message -----",
    },
  ],
  [
    "Gmail",
    "address not found, in HTML",
    NO,
    {
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      subject: "Delivery Status Notification (Failure)",
      headers: [`X-Failed-Recipients: ${R}`],
      type: "text/html; charset=utf-8",
      text: `<html><body><table><tr><td><h2>Address not found</h2></td></tr><tr><td>Your message wasn't delivered to <a href='mailto:${R}'><b>${R}</b></a> because the address couldn't be found, or is unable to receive mail.</td></tr></table></body></html>`,
    },
  ],
  [
    "Gmail",
    "recipient inbox full",
    FULL,
    {
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      subject: "Delivery Status Notification (Failure)",
      text: `** Recipient inbox full **\n\nYour message couldn't be delivered to ${R}. Their inbox is full, or it's getting too much mail right now.\n\nThere was a problem delivering your message to ${R}. The response was:\n\nThe email account that you tried to reach is over quota.`,
    },
  ],
  [
    "Gmail",
    "delivery incomplete, will be retried",
    "infrastructure",
    {
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      subject: "Delivery Status Notification (Delay)",
      text: `** Delivery incomplete **\n\nThere was a temporary problem while delivering your message to ${R}. Gmail will retry for 45 more hours.\n\nThe response was:\n\nThe recipient server did not accept our requests to connect.`,
    },
    { action: "delayed" },
  ],
  [
    "Gmail",
    "message blocked",
    "reputation",
    {
      from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      subject: "Delivery Status Notification (Failure)",
      text: `** Message blocked **\n\nYour message to ${R} has been blocked. See technical details below for more information.\n\nThe response was:\n\n550 5.7.1 Message rejected due to low reputation of the sending IP`,
    },
  ],
];

export function samplesOf(rows: readonly TextRow[]): Sample[] {
  return rows.map(([kind, source, expected, form, rest]) => ({
    kind,
    source,
    raw: plain(form),
    action: rest?.action ?? "failed",
    class: expected,
    recipient: R,
  }));
}

export const TEXT_FORMS: readonly Sample[] = samplesOf([
  ...ROWS,
  ...MORE_TEXT_FORMS,
  ...KIND_FORMS,
]);
