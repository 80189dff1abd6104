/** Bounces that follow no standard, of servers that are older or rarer than those of text-forms.ts. */

import type { ReplyClass } from "../../../../src/protocols/smtp/reply-classes.ts";
import { type Plain, RECIPIENT as R } from "./build.ts";
import type { TextRow } from "./text-forms.ts";

const NO = "no_such_recipient";
const FULL = "mailbox_full";

const DRAGONFLY = "This is the DragonFly Mail Agent v0.13 at host.example.\n\n";
const dragonfly = (words: string): Plain => ({
  from: "MAILER-DAEMON <>",
  subject: "Mail delivery failed",
  headers: [`X-Original-To: <${R}>`],
  text: `${DRAGONFLY}There was an error delivering your mail to <${R}>.\n\n${words}`,
  copy: "Message headers follow.",
});

const yahoo = (words: string): Plain => ({
  from: "MAILER-DAEMON@yahoo.example",
  subject: "Delivery failure",
  text: `Message from  yahoo.example.\nUnable to deliver message to the following address(es).\n\n<${R}>:\n${words}`,
  copy: "--- Original message follows.",
});

const imail = (words: string): Plain => ({
  from: '"Postmaster" <postmaster@mx.example.net>',
  subject: "Undeliverable Mail",
  headers: ["X-Mailer: <SMTP32 v8.15>"],
  text: `${words}\n\nOriginal message follows.\n`,
});

const exchange = (words: string, recipient = R): Plain => ({
  from: "System Administrator <postmaster@mx.example.net>",
  subject: "Undeliverable: Your order 1001",
  text: `Your message\n\n  To:      orders@shop.example\n  Subject: Your order 1001\n  Sent:    Mon, 2 Nov 2026 10:00:00 -0000\n\ndid not reach the following recipient(s):\n\n${recipient} on Mon, 2 Nov 2026 10:00:01 -0000\n    ${words}\n\tThe MTS-ID of the original message is: c=us;a= ;p=mx;l=MX0106021509251D\n    MSEXCH:IMS:MX:MAIN:MX1 0 (000C05A6)`,
});

const groups = (text: string): Plain => ({
  from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
  subject: "Delivery Status Notification (Failure)",
  headers: [`X-Failed-Recipients: ${R}`, "Auto-Submitted: auto-replied"],
  text,
  copy: "----- Original message -----",
});

const postmaster = (subject: string, text: string, more: Partial<Plain> = {}): Plain => ({
  from: "postmaster@mx.example.net",
  subject,
  text,
  ...more,
});

type Row = readonly [kind: string, source: string, expected: ReplyClass, form: Plain];

const ROWS: readonly Row[] = [
  [
    "DragonFly",
    "the server of the recipient refuses RCPT",
    NO,
    dragonfly(
      `mx.example.net [192.0.2.25] did not like our RCPT TO:\n550 5.1.1 <${R}>: Recipient address rejected: User unknown`,
    ),
  ],
  [
    "DragonFly",
    "the mailbox is full",
    FULL,
    dragonfly(
      "mx.example.net [192.0.2.25] did not like our RCPT TO:\n552 5.2.2 The mailbox is over quota",
    ),
  ],
  [
    "DragonFly",
    "a reply of several lines, with an empty line after each",
    "authentication",
    dragonfly(
      "mx.example.net [192.0.2.25] did not like our final DATA:\n550-5.7.26 Unauthenticated mail from shop.example is not accepted due to its\n\n550-5.7.26 DMARC policy.\n\n550 5.7.26 See https://mx.example.net/dmarc",
    ),
  ],
  [
    "DragonFly",
    "the queue time ended",
    "infrastructure",
    dragonfly("Could not deliver for the last 432000 seconds. Giving up. Connection timed out"),
  ],
  [
    "DragonFly",
    "the domain does not exist",
    NO,
    dragonfly("host not found: example.net: no such host"),
  ],
  [
    "Yahoo",
    "the user has no account",
    NO,
    yahoo(`This user doesn't have a yahoo.example account (${R}) [-9]`),
  ],
  [
    "Yahoo",
    "the account is over quota",
    FULL,
    yahoo("Sorry, your message cannot be delivered. This account is over quota."),
  ],
  ["IMail", "unknown user", NO, imail(`Unknown user: ${R}`)],
  [
    "IMail",
    "unknown user, with the reply",
    NO,
    imail(
      `Unknown user: ${R}\n\nRCPT TO generated following response:\n553 5.3.0 <${R}>... Addressee unknown, relay=[192.0.2.9]`,
    ),
  ],
  ["IMail", "invalid final user", NO, imail(`Invalid final delivery userid: ${R}`)],
  ["IMail", "unknown host", NO, imail(`Unknown host: ${R}`)],
  ["IMail", "gave up", "infrastructure", imail(`Delivery failed 20 attempts: ${R}`)],
  ["IMail", "says no reason", "policy", imail(`undeliverable to ${R}`)],
  ["Exchange", "the name is not recognised", NO, exchange("The recipient name is not recognized")],
  [
    "Exchange",
    "the recipient as an X.400 address",
    NO,
    exchange("The recipient name is not recognized", `c=US;a= ;p=Shop;o=Main;dda:SMTP=${R};`),
  ],
  [
    "Google Groups",
    "the group may not exist, or may not be written to",
    "policy",
    groups(
      "Hello,\n\nWe're writing to let you know that the group you tried to contact (bob) may not exist, or you may not have permission to post messages to the group.\n\n * The owner of the group may have removed this group.\n\nThanks,\n\nGoogle Groups\n",
    ),
  ],
  [
    "Google Groups",
    "in Japanese",
    "policy",
    groups(
      "連絡しようとしたグループ（bob）が存在しないか、グループにメッセージを投稿する権限がない可能性があります。\n\nGoogle Groups\n",
    ),
  ],
  [
    "KDDI",
    "the mailbox is full",
    FULL,
    {
      from: "no-reply@x01.dion.ne.jp",
      subject: "メールエラー通知",
      text: `Your mail sent on: Mon, 2 Nov 2026 10:00:00 +0900\n     Could not be delivered to: <${R}>\n     As their mailbox is full.`,
    },
  ],
  [
    "MailMarshal",
    "quotes the reply before the recipients",
    NO,
    postmaster(
      'Undeliverable Mail: "Your order 1001"',
      `Your message:\n   From:    hello@shop.example\n   Subject: Your order 1001\n\nCould not be delivered because of\n\n550 5.1.1 User unknown\n\nThe following recipients were affected: \n    ${R}\n`,
    ),
  ],
  [
    "Lotus SMTP",
    "the reason before the recipient",
    NO,
    postmaster(
      "Undeliverable message",
      `------- Failure Reasons  --------\n\nUser not listed in public Name & Address Book\n${R}\n\n------- Returned Message --------\n`,
    ),
  ],
  [
    "m-FILTER",
    "the reply of the server in a section",
    NO,
    postmaster(
      "failure notice",
      `${R}\n\n\n-------server message\n550 unknown user <${R}>\n\n-------SMTP command\nDATA\n\n-------original message`,
    ),
  ],
  [
    "InterScan",
    "the dialogue of the session",
    NO,
    {
      from: "imss@mx.example.net",
      subject: "Mail could not be delivered",
      text: `****** Message from InterScan Messaging Security Suite ******\n\nSent <<< RCPT TO:<${R}>\nReceived >>> 550 5.1.1 unknown user.\n\nUnable to deliver message to <${R}>.\n\n************************     End of message     **********************`,
    },
  ],
  [
    "SurfControl",
    "a transcript of the attempts",
    NO,
    {
      subject: "Your order 1001",
      text: `Your message could not be sent.\nA transcript of the attempts to send the message follows.\nThe number of attempts made: 1\nAddressed To: ${R}\n\nMon 2 Nov 2026 10:00:00 +0900\nFailed to send to identified host,\n${R}: [192.0.2.5], 550 ${R}... No such user`,
    },
  ],
  [
    "XWall",
    "spam",
    "content",
    postmaster(
      "Undeliverable: Your order",
      `Your message\n From:\tShop <hello@shop.example>\n\t(mail from:b+token@bounce.shop.example)\n To:\tBob <${R}>\n Subj:\tYour order\n\nhas encountered a delivery problem.\n\nReason: Spam\nThe message seems to be spam and was not delivered to the recipient.`,
    ),
  ],
  [
    "phquery",
    "the directory of a university",
    NO,
    {
      subject: "Returned mail - nameserver error report",
      text: ` --------Message not delivered to the following addresses:\n\n            ${R}\n\n --------Error Detail (phquery V3.0):\n\n---- ${R}\n     Does not have a final email delivery point,\n     please contact this person by alternate means.\n\n --------Unsent Message below:`,
    },
  ],
  [
    "MDaemon",
    "no such user",
    NO,
    {
      from: "MDaemon@mx.example.net",
      subject: `Warning: ${R} - User unknown!`,
      text: `${R} - no such user here.\n\nThere is no user by that name at this server.`,
    },
  ],
  [
    "LSMTP",
    "a list of errors for programs",
    "infrastructure",
    {
      from: '"LSMTP for Windows NT v1.1b" <postmaster@mx.example.net>',
      subject: "Undelivered mail",
      text: `An error was detected while processing the enclosed message.  A list of\nthe affected recipient follows.\n\n--> Error description:\n\nError-for:  ${R}\nError-Code: 0\nError-Text: Mailer mx.example.net said:\n            "554 Message looping (received 6 times)"\n\nError-End:  One error reported.`,
      copy: "------------------------------ Original message ------------------------------",
    },
  ],
  [
    "hosted mail",
    "a full mailbox",
    FULL,
    postmaster(
      "Mail Delivery Failure",
      `Delivery of email to this address\n\n"${R}"\n\nhas failed due to a full mailbox.  We have already made numerous\nattempts to deliver this message over the last few days.`,
    ),
  ],
  [
    "Exim",
    "names the sender before the recipients",
    "infrastructure",
    {
      subject: "Mail delivery failed",
      text: `This message was created automatically by mail delivery software.\n\nA message sent by\n\n  <b+token@bounce.shop.example>\n\ncould not be delivered to one or more of its recipients. The following\naddress(es) failed:\n\n  ${R}\n    (ultimately generated from bob@forward.example)\n    all hosts have been failing for a long time and were last tried after this message arrived`,
      copy: "------ This is a copy of the message, including all the headers. ------",
    },
  ],
  [
    "Netscape",
    "the reason before the recipients",
    "infrastructure",
    {
      from: "Mail Administrator <Postmaster@mx.example.net>",
      subject: "Mail System Error - Returned Mail",
      text: `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the destination computer was\nnot reachable within the allowed queue period.\n\nThe following recipients did not receive your message:\n\n     <${R}>\n\nPlease reply to Postmaster@mx.example.net if you feel this message to be in error.`,
    },
  ],
  [
    "Gmail",
    "the settings of an alias are wrong",
    "infrastructure",
    groups(
      "** Message not delivered **\n\nThe settings for your 'Send mail as' account are misconfigured or out of date.\n\nThe response was:\n\nUnspecified Error (SENT_SECOND_EHLO): Smtp server does not advertise AUTH capability\n",
    ),
  ],
  [
    "Verizon",
    "the details of the message after the reply",
    NO,
    {
      from: "post_master@mobile.example",
      subject: "Re:Your order 1001",
      text: `Error: Invalid user address\n\nError message below:\n550 - Requested action not taken: no such user here\n\nMessage details:\n  Subject: Your order 1001\n  MAIL FROM: b+token@bounce.shop.example\n  RCPT TO: ${R}\n  From: hello@shop.example\n`,
    },
  ],
  [
    "EZweb",
    "rejected by another server",
    NO,
    postmaster(
      "Mail System Error - Returned Mail",
      `Each of the following recipients was rejected by a remote\nmail server.\n\n    Recipient: <${R}>\n    >>> RCPT TO:<${R}>\n    <<< 550 <${R}>: User unknown\n`,
    ),
  ],
  [
    "EZweb",
    "a disabled account",
    NO,
    postmaster(
      "Mail System Error - Returned Mail",
      `次のあて先へのメッセージはエラーのため送信できませんでした。\n\nThe user(s) account is disabled.\n\n<${R}>\n`,
    ),
  ],
  [
    "EZweb",
    "an account over quota",
    FULL,
    postmaster(
      "Mail System Error - Returned Mail",
      `The user(s) account is temporarily over quota.\n\n<${R}>\n`,
    ),
  ],
  [
    "OpenMail",
    "the reason in brackets after the recipient",
    NO,
    {
      subject: "Returned Mail: User unknown",
      text: `The original message was received at Mon, 2 Nov 2026 10:00:00 +0900 (JST) \nfrom hello@shop.example\n\n---The following addresses had delivery errors---\n\n${R} [User unknown]\n`,
    },
  ],
  [
    "Active!hunter",
    "the reply after the recipients",
    NO,
    {
      subject: "FAILURE NOTICE : Your order",
      text: `The original message was received at Mon, 2 Nov 2026 10:00:00 +0900\nfrom shop.example\n\n  ----- The following addresses had permanent fatal errors -----\n\n>>> ${R} <${R}>\n\n  ----- Transcript of session follows -----\n550 sorry, no mailbox here by that name (#5.1.1 - chkusr)`,
    },
  ],
  [
    "hosted mail",
    "the reply in brackets within a sentence",
    "infrastructure",
    {
      from: "mailer-daemon",
      subject: "There was an error sending your mail",
      text: `We had trouble delivering your message. Full details follow:\n\nSubject: 'Your order'\n\n1 error(s):\n\nThe following recipients returned permanent errors: ${R}. Reason: SMTP Server <192.0.2.223> refused to accept your message (DATA), with the following error message: [554 5.4.6 Hop count exceeded - possible mail loop]\n`,
    },
  ],
  [
    "unknown server",
    "the reply of the server, in words of nobody else",
    NO,
    {
      subject: "Delivery failure",
      text: `Alas! Our pigeon came back.\n\n<${R}>\n   550 5.1.1 no such mailbox`,
    },
  ],
  [
    "unknown server",
    "no subject and no sender",
    NO,
    { from: "<>", subject: "", text: `You sent mail to ${R}. That's not a valid user here.` },
  ],
];

/** Reports of servers that pass through a list or a relay, which adds its fields. */
const WITH_LIST_FIELDS: readonly Row[] = [
  ["Feedback-ID: 1.eu-west-1.abc=:AmazonSES", "List-Id: <orders.shop.example>"],
  ["List-Unsubscribe: <https://shop.example/u>", "Precedence: bulk"],
].map((headers) => [
  "Postfix",
  `with ${headers.join(" and ").replace(/: [^ ]+/g, "")}`,
  NO,
  {
    from: "MAILER-DAEMON@mx.example.net (Mail Delivery System)",
    subject: "Undelivered Mail Returned to Sender",
    headers,
    text: `This is the Postfix program at host mx.example.net.\n\nI'm sorry to have to inform you that the message returned\nbelow could not be delivered to one or more destinations.\n\n<${R}>: host mx.example.net[192.0.2.7] said: 550 5.1.1 User unknown`,
  },
]);

const DELAYS: readonly Row[] = [
  [
    "Symantec",
    "the server will try again",
    "policy",
    {
      from: "Symantec_AntiVirus_for_SMTP_Gateways@mx.example.net",
      subject: "Delivery failure notification",
      text: `Your message with Subject: Your order\ncould not be delivered to the following recipients:\n\n${R}\n\nPlease do not resend your original message.\nDelivery attempts will continue to be made for 5  day(s).`,
    },
  ],
  [
    "hosted mail",
    "a delay in the subject, and a server that goes on",
    FULL,
    postmaster(
      "Delivery Status Notification (Delay)",
      `Delivery to <${R}> has been delayed. We will keep retrying.\n\n<${R}>: 452 4.2.2 mailbox full`,
    ),
  ],
  [
    "an unknown server",
    "a warning that the message is delayed",
    NO,
    postmaster(
      "Warning: message delayed",
      `Your message to <${R}> could not be delivered yet and the server will retry.\n\n<${R}>: 550 5.1.1 user unknown`,
    ),
  ],
  [
    "hosted mail",
    "a full mailbox, for now",
    FULL,
    postmaster(
      "Mail Delivery Warning",
      `This is an advisory-only email.  Please do not reply to it.\n\nDelivery of email to this address\n\n"${R}"\n\nhas been postponed due to a full mailbox.\n\nWe will continue to try to deliver your message over the next few days.`,
    ),
  ],
];

export const KIND_FORMS: readonly TextRow[] = [
  ...ROWS,
  ...WITH_LIST_FIELDS,
  ...DELAYS.map((row): TextRow => [...row, { action: "delayed" }]),
];
