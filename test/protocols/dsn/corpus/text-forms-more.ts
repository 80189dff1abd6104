/** More bounces that follow no standard: gateways, other servers and regional providers. */

import { RECIPIENT as R } from "./build.ts";
import type { TextRow } from "./text-forms.ts";

const NO = "no_such_recipient";
const FULL = "mailbox_full";

export const MORE_TEXT_FORMS: readonly TextRow[] = [
  [
    "Yahoo",
    "the domain has no MX record",
    NO,
    {
      from: "MAILER-DAEMON@yahoo.com",
      subject: "Failure Notice",
      text: `Sorry, we were unable to deliver your message to the following address.\n\n<${R}>:\nNo mx record found for domain=example.net`,
    },
  ],
  [
    "Exchange",
    "the subject quotes that of an automatic reply",
    NO,
    {
      from: "postmaster@example.net",
      subject: "Undeliverable: We have received your order",
      text: `Your message did not reach some or all of the intended recipients.\n\nThe following recipient(s) cannot be reached:\n\n  '${R}' on 11/2/2026\n   550 5.1.1 User unknown`,
    },
  ],
  [
    "Zoho",
    "an error code between words",
    NO,
    {
      from: "mailer-daemon@mail.zoho.example",
      subject: "Undelivered Mail Returned to Sender",
      text: `This message was created automatically by mail delivery software.\n A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\n${R}, ERROR CODE :550 - 5.4.1 Recipient address rejected: Access denied.`,
    },
  ],
  [
    "Yahoo",
    "no account of that name",
    NO,
    {
      from: "MAILER-DAEMON@yahoo.com",
      subject: "Failure Notice",
      text: `Sorry, we were unable to deliver your message to the following address.\n\n<${R}>:\nRemote host said: 550 5.1.1 unknown user [RCPT_TO]`,
      copy: "--- Below this line is a copy of the message.",
    },
  ],
  [
    "Yahoo",
    "full mailbox",
    FULL,
    {
      from: "MAILER-DAEMON@yahoo.com",
      subject: "Failure Notice",
      text: `Sorry, we were unable to deliver your message to the following address.\n\n<${R}>:\n552: 552 1 Requested mail action aborted, mailbox full`,
    },
  ],
  [
    "AOL",
    "old form, user not known",
    NO,
    {
      from: "Mail Delivery Subsystem <MAILER-DAEMON@aol.com>",
      subject: "Returned mail: User unknown",
      text: `Your mail to the following recipients could not be delivered because they are not accepting mail:\n\t${R}\n550 User unknown`,
    },
  ],
  [
    "iCloud",
    "the error follows the details of the message",
    NO,
    {
      from: "Mail Delivery <no-reply@icloud.com>",
      subject: "Undeliverable: Your order",
      text: `This is a system-generated message to inform you that your email could not be delivered to one or more recipients. Details of the email and the error are as follows:\n\n<${R}>: 550 5.1.1 user does not exist`,
    },
  ],
  [
    "Domino",
    "user not listed in the directory",
    NO,
    {
      from: "postmaster@example.net",
      subject: "DELIVERY FAILURE: User bob not listed in Domino Directory",
      text: `Your message\n\n  Subject: Your order 1001\n\nwas not delivered to:\n\n  ${R}\n\nbecause:\n\n  User bob (bob@example.net) not listed in Domino Directory`,
    },
  ],
  [
    "Domino",
    "not listed in the public name and address book",
    NO,
    {
      from: "Mail Router <postmaster@example.net>",
      subject: "DELIVERY FAILURE: User not listed in public Name & Address Book",
      text: `Your message was not delivered to:\n\n  ${R}\n\nbecause:\n\n  User bob not listed in public Name & Address Book`,
    },
  ],
  [
    "Domino",
    "database over its quota",
    FULL,
    {
      from: "postmaster@example.net",
      subject: "DELIVERY FAILURE: mailbox full",
      text: `Your document: Your order\nwas not delivered to:\n  ${R}\nbecause: The mailbox of the user is full, it exceeded its database quota`,
    },
  ],
  [
    "IBM",
    "SMTP server of a host system",
    NO,
    {
      from: "SMTP@mx.example.net",
      subject: "Undeliverable Mail",
      headers: ["Return-Path: <>"],
      text: `Your mail item could not be delivered to the following recipients:\n  ${R}\n\n550 Unknown recipient`,
    },
  ],
  [
    "GMX",
    "the mailbox does not exist",
    NO,
    {
      from: "GMX Mailer Daemon <mailer-daemon@gmx.example>",
      subject: "Mail delivery failed: returning message to sender",
      text: `This message was created automatically by mail delivery software.\n\nUnfortunately, your message could not be delivered to the following address:\n\n${R}:\nSMTP error from remote server for RCPT TO command, host: mx.example.net (192.0.2.1) reason: 550 Requested action not taken: mailbox unavailable`,
    },
  ],
  [
    "GMX",
    "German words, full mailbox",
    FULL,
    {
      from: "GMX Mailer Daemon <mailer-daemon@gmx.example>",
      subject: "Mailzustellung fehlgeschlagen",
      text: `Ihre E-Mail konnte leider nicht zugestellt werden.\n\n${R}:\nDas Postfach des Empfängers ist voll.`,
    },
  ],
  [
    "T-Online",
    "no valid recipients",
    NO,
    {
      from: "mailer-daemon@t-online.example",
      subject: "Undelivered Mail",
      text: `|------------------------- Message log follows: -------------------------|\n no valid recipients were found for this message\n|------------------------- Failed addresses follow: ---------------------|\n <${R}> ... unknown user`,
    },
  ],
  [
    "Mail.ru",
    "Russian words, the user is unknown",
    NO,
    {
      from: "mailer-daemon@corp.mail.example",
      subject: "=?utf-8?B?0J3QtSDQtNC+0YHRgtCw0LLQu9C10L3Qvg==?=",
      text: `Ваше сообщение не может быть доставлено следующим получателям:\n\n${R}\nПользователь не найден`,
    },
  ],
  [
    "Mail.ru",
    "Russian words, the mailbox is full",
    FULL,
    {
      from: "mailer-daemon@corp.mail.example",
      subject: "Mail failure.",
      text: `Ваше письмо не было доставлено:\n\n${R}\nПочтовый ящик получателя переполнен`,
    },
  ],
  [
    "Yandex",
    "words of Postfix with its own reply",
    "policy",
    {
      from: "mailer-daemon@yandex.example",
      subject: "Undelivered Mail Returned to Sender",
      text: `This is the mail system at host mxback.yandex.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients.\n\n<${R}>: host mx.yandex.example said: 550 5.7.1 Policy rejection on the target address (in reply to RCPT TO command)`,
    },
  ],
  [
    "QQ",
    "Chinese words, no such mailbox",
    NO,
    {
      from: "postmaster@qq.example",
      subject: "=?utf-8?B?57O757uf6YCA5L+h?=",
      text: `抱歉，您的邮件被退回来了……\n\n收件人：${R}\n退信原因：收件人邮箱不存在`,
    },
  ],
  [
    "QQ",
    "Chinese words in GB18030, full mailbox",
    FULL,
    {
      from: "postmaster@qq.example",
      subject: "Undelivered mail",
      text: `退信原因\n${R}\nmailbox is full (552 5.2.2)`,
      type: "text/plain; charset=utf-8",
    },
  ],
  [
    "NetEase",
    "the mail could not be delivered",
    NO,
    {
      from: "Postmaster@163.example",
      subject: "系统退信/Systems bounce",
      text: `The following mail can not be delivered to the recipients:\n\n${R}\nSMTP error, RCPT TO: 550 User not found: ${R}`,
    },
  ],
  [
    "IronPort",
    "undeliverable with the numbered reason",
    NO,
    {
      subject: "Delivery Status Notification (Failure)",
      text: `The following message to <${R}> was undeliverable.\nThe reason for the problem:\n5.1.0 - Unknown address error 550-'5.1.1 User unknown'`,
    },
  ],
  [
    "Proofpoint",
    "a message of its gateway",
    "content",
    {
      from: "postmaster@proofpoint.example",
      subject: "Undeliverable mail",
      text: `The message you attempted to send could not be delivered.\n\nRecipient: <${R}>\nReason: 554 5.7.1 message contains a virus`,
    },
  ],
  [
    "InterMail",
    "the message was undeliverable",
    NO,
    {
      from: "Mail Administrator <postmaster@mx.example.net>",
      subject: "Mail System Error - Returned Mail",
      text: `This Message was undeliverable due to the following reason:\n\nThe user(s) account does not exist.\n\nUnknown user: ${R}`,
    },
  ],
  [
    "InterMail",
    "the recipient's server did not answer",
    "infrastructure",
    {
      from: "Mail Administrator <postmaster@mx.example.net>",
      subject: "Mail System Error - Returned Mail",
      text: `This Message was undeliverable due to the following reason:\n\nYour message was not delivered because the destination computer was\nnot reachable: the remote server did not answer within the allowed queue period.\n\n     Host mx.example.net did not respond\n\n<${R}>`,
    },
  ],
  [
    "Mimecast",
    "could not deliver",
    NO,
    {
      from: "Mail Delivery System <postmaster@mimecast.example>",
      subject: "[Postmaster] Email Delivery Failure",
      text: `We were unable to deliver your message to\n\n${R}\n\n550 Invalid Recipient`,
    },
  ],
  [
    "Barracuda",
    "blocked by the filter of the recipient",
    "content",
    {
      from: "Postmaster <postmaster@example.net>",
      subject: "**Message you sent blocked by our bulk email filter**",
      text: `Your message to: ${R}\nwas blocked by our Spam Firewall. The email you sent with the following subject has NOT BEEN DELIVERED:\n\nSubject: Your order 1001`,
    },
  ],
  [
    "Messaging Server",
    "illegal alias",
    NO,
    {
      from: "Internet Mail Delivery <postmaster@example.net>",
      subject: "Delivery Notification: Delivery has failed",
      text: `This report relates to a message you sent with the following header fields:\n\n  Subject: Your order 1001\n\nYour message cannot be delivered to the following recipients:\n\n  Recipient address: ${R}\n  Reason: Illegal host/domain name found, unknown user`,
    },
  ],
  [
    "CommuniGate Pro",
    "the account is unknown",
    NO,
    {
      from: "<>",
      subject: "Undeliverable mail: Your order",
      text: `Failed to deliver to '${R}'\nLOCAL module(account bob) reports:\n account is unknown`,
    },
  ],
  [
    "MDaemon",
    "permanent fatal delivery errors",
    NO,
    {
      from: "MDaemon at mx.example.net <MDaemon@mx.example.net>",
      subject: "Permanent Delivery Failure",
      text: `The attached message had PERMANENT fatal delivery errors!\n\nFailed address: ${R}\n\n--- Session Transcript ---\n<-- 550 5.1.1 User unknown`,
    },
  ],
  [
    "MailEnable",
    "could not be delivered to some recipients",
    NO,
    {
      from: "Postmaster@example.net",
      subject: "Message Delivery Failure",
      text: `MailEnable: Message could not be delivered to some recipients.\nThe following recipient(s) could not be reached:\n\n\tRecipient: [SMTP:${R}]\n\tReason: Remote SMTP Server Returned: 550 No such user here`,
    },
  ],
  [
    "hMailServer",
    "unknown user on a remote server",
    NO,
    {
      from: "mailer-daemon@example.net",
      subject: "Message undeliverable: Your order 1001",
      text: `Your message did not reach some or all of the intended recipients.\n\n   Sent: Mon, 2 Nov 2026 10:00:00 +0000\n   Subject: Your order 1001\n\nThe following recipient(s) could not be reached:\n\n${R}\n   Error Type: SMTP\n   Remote server replied: 550 Unknown user`,
    },
  ],
  [
    "IMail",
    "the user is unknown",
    NO,
    {
      from: "Postmaster <postmaster@example.net>",
      subject: "Undeliverable Mail",
      text: `Delivery failed 20 attempts: ${R}\nUnknown user: ${R}`,
    },
  ],
  [
    "IMail",
    "the mailbox is too large",
    FULL,
    {
      from: "Postmaster <postmaster@example.net>",
      subject: "Undeliverable Mail",
      text: `User mailbox exceeds allowed size: ${R}`,
    },
  ],
  [
    "SmarterMail",
    "remote host said",
    NO,
    {
      from: "System Administrator <postmaster@example.net>",
      subject: "Delivery Failure",
      text: `Could not deliver message to the following recipient(s):\n\nFailed Recipient: ${R}\nReason: Remote host said: 550 No such recipient`,
    },
  ],
  [
    "Courier",
    "words without a status part",
    NO,
    {
      from: "Mail Delivery System <MAILER-DAEMON@mx.example.net>",
      subject: "NOTICE: mail delivery status.",
      text: `UNDELIVERABLE MAIL\n\nYour message to the following recipients cannot be delivered:\n\n<${R}>:\n    mx.example.net [192.0.2.1]:\n    >>> RCPT TO:<${R}>\n    <<< 550 User unknown`,
    },
  ],
  [
    "GroupWise",
    "no such user in the post office",
    NO,
    {
      from: "Mailer-Daemon@example.net",
      subject: "Message status - undeliverable",
      text: `The message that you sent was undeliverable to the following:\n\t${R} (user not found)`,
    },
  ],
  [
    "GroupWise",
    "mailbox full",
    FULL,
    {
      from: "Mailer-Daemon@example.net",
      subject: "Message status - undeliverable",
      text: `The message that you sent was undeliverable to the following:\n\t${R} (mailbox is full)`,
    },
  ],
  [
    "IceWarp",
    "failed permanently",
    NO,
    {
      from: "Mail Delivery <postmaster@example.net>",
      subject: "Undelivered mail",
      text: `Message could not be delivered to the following recipient(s):\n<${R}> unknown user account`,
    },
  ],
  [
    "OpenSMTPD",
    "an error for a list of recipients",
    NO,
    {
      from: "Mailer Daemon <MAILER-DAEMON@mx.example.net>",
      subject: "Delivery status notification: error",
      text: `    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this email.\n\n    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\n${R}: 550 5.1.1 Invalid recipient`,
    },
  ],
  [
    "OpenSMTPD",
    "delayed for four hours",
    "infrastructure",
    {
      from: "Mailer Daemon <MAILER-DAEMON@mx.example.net>",
      subject: "Delivery status notification: warning",
      text: `    A message is delayed for more than 4 hours for the following\n    list of recipients:\n\n${R}: Network is unreachable`,
    },
    { action: "delayed" },
  ],
  [
    "Haraka",
    "words of its bounce plugin",
    NO,
    {
      from: "MAILER-DAEMON@mx.example.net",
      subject: "Failed Mail Delivery",
      text: `This is the Haraka mail server at mx.example.net.\nI'm afraid your message was not delivered:\n\n<${R}>: 550 5.1.1 no such user`,
    },
  ],
  [
    "Amazon SES",
    "words of its reports",
    NO,
    {
      from: "MAILER-DAEMON@amazonses.com",
      subject: "Delivery Status Notification (Failure)",
      text: `An error occurred while trying to deliver the mail to the following recipients:\n${R}\n\n550 5.1.1 user unknown`,
    },
  ],
  [
    "SendGrid",
    "forwarded by its relay",
    FULL,
    {
      from: "MAILER-DAEMON@sendgrid.example",
      subject: "Undelivered Mail Returned to Sender",
      text: `This is an automatically generated message.\nI'm sorry to have to tell you that your message was not able to be delivered to one of its intended recipients.\n\n<${R}>: 552 5.2.2 mailbox full`,
    },
  ],
  [
    "Apache James",
    "unknown local user",
    NO,
    {
      from: "postmaster@example.net",
      subject: "Re: Your order 1001",
      headers: ["Return-Path: <>"],
      text: `Hi. This is the James mail server at mx.example.net.\nI'm afraid I wasn't able to deliver your message to the following addresses.\nThis is a permanent error; I've given up.\n\n${R}\n550 Requested action not taken: no such user here`,
    },
  ],
  [
    "Trend Micro",
    "gateway cannot deliver",
    NO,
    {
      from: "MAILER-DAEMON@imss.example.net",
      subject: "Mail could not be delivered",
      text: `****** Message from InterScan Messaging Security Suite ******\n\nSent <<< RCPT TO:<${R}>\nReceived >>> 550 5.1.1 No such user\n\nUnable to deliver message to <${R}>.`,
    },
  ],
  [
    "MailMarshal",
    "the recipient's server refuses",
    NO,
    {
      from: "MailMarshal <postmaster@example.net>",
      subject: "Undeliverable Mail: Your order",
      text: `Your message:\n   Subject: Your order 1001\nCould not be delivered to the recipient because of the error below. Your message could not be delivered to ${R}.\n\n550 5.1.1 unknown recipient`,
    },
  ],
  [
    "EarthLink",
    "unable to deliver",
    NO,
    {
      from: "Mail Delivery Subsystem <mailer-daemon@earthlink.example>",
      subject: "Undeliverable mail",
      text: `Sorry, unable to deliver your message to ${R} for the following reason:\n\n550 ${R}...User unknown`,
    },
  ],
  [
    "Biglobe",
    "disabled account",
    NO,
    {
      from: "postmaster@biglobe.example",
      subject: "Returned mail",
      text: `   ----- The following addresses had delivery problems -----\n<${R}>\n   ----- Non-delivered information -----\nThe user(s) account is disabled.`,
    },
  ],
  [
    "KDDI",
    "rejected by a remote server",
    NO,
    {
      headers: ["Return-Path: <>"],
      from: "no-reply@kddi.example",
      subject: "Mail System Error - Returned Mail",
      text: `Each of the following recipients was rejected by a remote mail server.\n\n    Recipient: <${R}>\n    >>> RCPT TO:<${R}>\n    <<< 550 <${R}>: User unknown`,
    },
  ],
  [
    "Yahoo Japan",
    "Japanese words",
    NO,
    {
      from: "MAILER-DAEMON@yahoo.co.example",
      subject: "送信エラー",
      text: `次の宛先にメールを配信できませんでした。\n\n<${R}>:\n宛先のアドレスは存在しません。`,
    },
  ],
  [
    "Orange",
    "French words, unknown recipient",
    NO,
    {
      from: "Mail Delivery System <mailer-daemon@orange.example>",
      subject: "Non remis",
      text: `Votre message n'a pu être délivré au destinataire suivant :\n\n${R}\nAdresse inconnue`,
    },
  ],
  [
    "Libero",
    "Italian words, full mailbox",
    FULL,
    {
      from: "postmaster@libero.example",
      subject: "Messaggio non consegnato",
      text: `Il messaggio non è stato consegnato a:\n\n${R}\nLa casella del destinatario è piena`,
    },
  ],
  [
    "UOL",
    "Portuguese words, unknown address",
    NO,
    {
      from: "postmaster@uol.example",
      subject: "Falha na entrega",
      text: `A mensagem não pôde ser entregue para:\n\n${R}\nEndereço inexistente`,
    },
  ],
  [
    "Terra",
    "Spanish words, unknown user",
    NO,
    {
      from: "postmaster@terra.example",
      subject: "Mensaje no entregado",
      text: `Su mensaje no pudo ser entregado a:\n\n${R}\nUsuario desconocido`,
    },
  ],
  [
    "Onet",
    "Polish words, unknown account",
    NO,
    {
      from: "mailer-daemon@onet.example",
      subject: "Zwrot: zamówienie",
      text: `Twoja wiadomość nie została dostarczona do:\n\n${R}\nOdbiorca nieznany`,
    },
  ],
  [
    "Zoho",
    "words of its servers",
    NO,
    {
      from: "mailer-daemon@mail.zoho.example",
      subject: "Undelivered Mail Returned to Sender",
      text: `This message was created automatically by mail delivery software.\n A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.\n\n${R}, ERROR CODE :550 - 5.1.1 User unknown`,
    },
  ],
  [
    "Kerio",
    "not delivered",
    NO,
    {
      from: "MAILER-DAEMON@kerio.example",
      subject: "Undeliverable mail",
      text: `Your message has not been delivered to the following recipients:\n\n<${R}>\n   Error: 550 No such user`,
    },
  ],
  [
    "SurgeMail",
    "failed for a reason",
    NO,
    {
      from: "postmaster@surge.example",
      subject: "Mail delivery failed",
      text: `Mail delivery to ${R} failed because the account does not exist.`,
    },
  ],
  [
    "X.400 gateway",
    "non-delivery report",
    NO,
    {
      from: "mailer-daemon@x400.example",
      subject: "Delivery Report (failure)",
      text: `Your message was not delivered to the following recipients:\n\n  ${R}\n  unknown recipient (unrecognised O/R name)`,
    },
  ],
];
