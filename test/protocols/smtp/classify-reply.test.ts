import { describe, expect, test } from "bun:test";
import type {
  ReplyClass,
  ReplySubject,
  SmtpStep,
} from "../../../src/protocols/smtp/reply-classes.ts";
import { classifyReply } from "../../../src/protocols/smtp/classify-reply.ts";

type StepName = SmtpStep;
type Case = [server: string, step: StepName, reply: string, expected: ReplyClass];

const STEPS: readonly StepName[] = [
  "connect",
  "tls",
  "greeting",
  "ehlo",
  "helo",
  "starttls",
  "auth",
  "mail",
  "rcpt",
  "data",
  "dot",
  "rset",
  "quit",
];

/** Splits "550-5.1.1 text" as an SMTP client does: code, enhanced code, text. */
function classify(step: StepName, reply: string) {
  const parts = /^(\d{3})[ -](?:([245]\.\d{1,3}\.\d{1,3}) )?(.*)$/s.exec(reply);
  const [, code, enhanced, text = ""] = parts ?? [];
  return classifyReply({ step, code: Number(code), enhanced: enhanced ?? null, text });
}

const NO_SUCH: Case[] = [
  [
    "Yahoo",
    "dot",
    "554 delivery error: dd This user doesn't have a yahoo.com account (jane.doe@yahoo.com) [0] - mta1234.mail.bf1.yahoo.com",
    "no_such_recipient",
  ],
  [
    "Yahoo",
    "dot",
    "554 delivery error: dd Sorry your message to jane.doe@yahoo.com cannot be delivered. This account has been disabled or discontinued [#102]. - mta1234.mail.ne1.yahoo.com",
    "no_such_recipient",
  ],
  [
    "Yahoo",
    "dot",
    "554 30 Sorry, your message to jane.doe@aol.com cannot be delivered. This mailbox is disabled (554.30).",
    "no_such_recipient",
  ],
  ["Yahoo", "dot", "552 1 Requested mail action aborted, mailbox not found", "no_such_recipient"],
  [
    "Gmail",
    "rcpt",
    "550-5.1.1 The email account that you tried to reach does not exist. Please try\n550-5.1.1 double-checking the recipient's email address for typos or\n550-5.1.1 unnecessary spaces. For more information, go to\n550 5.1.1  https://support.google.com/mail/?p=NoSuchUser",
    "no_such_recipient",
  ],
  [
    "Gmail",
    "rcpt",
    "550 5.2.1 The email account that you tried to reach is disabled. For more information, go to https://support.google.com/mail/?p=DisabledUser",
    "no_such_recipient",
  ],
  [
    "Gmail",
    "rcpt",
    "550 5.2.1 The email account that you tried to reach is inactive. https://support.google.com/mail/?p=InactiveUser",
    "no_such_recipient",
  ],
  [
    "Outlook.com",
    "rcpt",
    "550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302). [BN2PEPF000055E0.namprd21.prod.outlook.com]",
    "no_such_recipient",
  ],
  [
    "Exchange Online",
    "rcpt",
    "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient jane@example.com not found by SMTP address lookup",
    "no_such_recipient",
  ],
  [
    "Exchange Server",
    "rcpt",
    "550 5.1.1 RESOLVER.ADR.RecipNotFound; not found",
    "no_such_recipient",
  ],
  ["iCloud", "rcpt", "550 5.1.1 <jane@icloud.com>: user does not exist", "no_such_recipient"],
  ["iCloud", "rcpt", "550 5.1.1 unknown or illegal alias: jane@icloud.com", "no_such_recipient"],
  [
    "GMX",
    "rcpt",
    "550-Requested action not taken: mailbox unavailable\n550 For explanation visit https://postmaster.gmx.net/en/case?c=r0601",
    "no_such_recipient",
  ],
  [
    "OVH",
    "rcpt",
    "550 5.1.1 <jane@example.fr>: Recipient address rejected: User unknown",
    "no_such_recipient",
  ],
  [
    "Mail.ru",
    "rcpt",
    "550 Message was not accepted -- invalid mailbox. Local mailbox jane@mail.ru is unavailable: user not found",
    "no_such_recipient",
  ],
  [
    "Mail.ru",
    "rcpt",
    "550 Message was not accepted -- invalid mailbox. Local mailbox jane@mail.ru is unavailable: user is terminated",
    "no_such_recipient",
  ],
  ["Proofpoint", "rcpt", "550 5.1.1 User Unknown", "no_such_recipient"],
  [
    "Mimecast",
    "rcpt",
    "550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550 [abc.uk123]",
    "no_such_recipient",
  ],
  [
    "Barracuda",
    "rcpt",
    "550 cuda_nsu 5.1.1 <jane@example.com> Recipient address rejected: User unknown",
    "no_such_recipient",
  ],
  ["Barracuda", "rcpt", "550 No such user (jane@example.com)", "no_such_recipient"],
  [
    "Postfix",
    "rcpt",
    "550 5.1.1 <spam@example.com>: Recipient address rejected: User unknown in virtual mailbox table",
    "no_such_recipient",
  ],
  [
    "Postfix",
    "rcpt",
    "550 5.1.2 <jane@nowhere.example>: Recipient address rejected: Domain not found",
    "no_such_recipient",
  ],
  [
    "Postfix",
    "rcpt",
    "550 5.1.6 <jane@example.com>: Recipient address rejected: User has moved to jane@example.org",
    "no_such_recipient",
  ],
  ["Postfix", "rcpt", "501 5.1.3 Bad recipient address syntax", "no_such_recipient"],
  ["Exim", "rcpt", "550 Unrouteable address", "no_such_recipient"],
  ["Exim", "rcpt", "550 No Such User Here", "no_such_recipient"],
  ["sendmail", "rcpt", "550 5.1.1 <jane@example.com>... User unknown", "no_such_recipient"],
  ["sendmail", "rcpt", "551 User not local; please try <jane@example.org>", "no_such_recipient"],
  [
    "qmail",
    "rcpt",
    "550 sorry, no mailbox here by that name. (#5.1.1 - chkuser)",
    "no_such_recipient",
  ],
  ["qmail", "dot", "554 delivery error: mailbox does not exist here (#5.1.1)", "no_such_recipient"],
  ["AT&T", "rcpt", "550 5.2.1 <JANE@PRODIGY.NET>... Addressee unknown", "no_such_recipient"],
  [
    "Exchange Online",
    "rcpt",
    "550 5.4.1 Recipient address rejected: Access denied. AS(201806281)",
    "no_such_recipient",
  ],
  [
    "Exchange Online",
    "rcpt",
    "550 5.4.1 [jane@example.com]: Recipient address rejected: Access denied",
    "no_such_recipient",
  ],
  ["Yandex", "rcpt", "550 5.7.1 No such user!", "no_such_recipient"],
  ["Zoho", "rcpt", "550 No user found", "no_such_recipient"],
  ["Zoho", "rcpt", "554 5.7.1 User unknown", "no_such_recipient"],
  [
    "Postfix with a list",
    "rcpt",
    "554 5.7.1 <jane@example.com>: Recipient address rejected: Not in recipient list",
    "no_such_recipient",
  ],
  [
    "qmail with validrcptto",
    "rcpt",
    "553 sorry, this recipient is not in my validrcptto list (#5.7.1)",
    "no_such_recipient",
  ],
  [
    "qmail with badrcptto",
    "rcpt",
    "553 sorry, your envelope recipient is in my badrcptto list (#5.7.1)",
    "no_such_recipient",
  ],
  ["qmail", "rcpt", "511 sorry, no mailbox here by that name (#5.1.1)", "no_such_recipient"],
  [
    "Yahoo",
    "dot",
    "554 delivery error: dd jane.doe@yahoo.com is no longer valid. [-20] - mta1234.mail.yahoo.com",
    "no_such_recipient",
  ],
  [
    "Orange",
    "rcpt",
    "550 5.7.1 Adresse d au moins un destinataire invalide. OFR_416",
    "no_such_recipient",
  ],
  ["any", "rcpt", "550 5.7.1 Recipient not found", "no_such_recipient"],
  ["any", "rcpt", "550 Address unknown", "no_such_recipient"],
  ["any", "rcpt", "554 5.5.0 no valid recipients, bye", "no_such_recipient"],
  ["any", "rcpt", "550 5.7.1 jane@example.com is not a valid mailbox", "no_such_recipient"],
  ["any", "rcpt", "550 5.7.1 jane@example.com is not a known user", "no_such_recipient"],
  ["any", "rcpt", "554 5.7.1 Recipient address rejected: invalid user", "no_such_recipient"],
  ["any", "rcpt", "550 5.7.1 No such person at this address", "no_such_recipient"],
  ["any", "rcpt", "550 This email address is wrong or no longer valid", "no_such_recipient"],
  ["any", "rcpt", "550 5.7.1 Recipient is not local", "no_such_recipient"],
  ["any", "rcpt", "550 5.7.1 this mailbox not present", "no_such_recipient"],
  ["any", "rcpt", "550 jane@example.com No such mailbox", "no_such_recipient"],
  [
    "any",
    "rcpt",
    "550 5.7.1 jane@example.com is not an active address at this host",
    "no_such_recipient",
  ],
  ["any", "dot", "550 5.2.1 The mailbox is disabled", "no_such_recipient"],
];

const MAILBOX_FULL: Case[] = [
  [
    "Yahoo",
    "dot",
    "554 delivery error: dd Requested mail action aborted: exceeded storage allocation (jane@yahoo.com)",
    "mailbox_full",
  ],
  [
    "Gmail",
    "rcpt",
    "452-4.2.2 The recipient's inbox is out of storage space. Please direct the\n452-4.2.2 recipient to https://support.google.com/mail/?p=OverQuotaTemp",
    "mailbox_full",
  ],
  [
    "Gmail",
    "rcpt",
    "552 5.2.2 The recipient's inbox is out of storage space and inactive. https://support.google.com/mail/?p=OverQuotaPerm",
    "mailbox_full",
  ],
  ["iCloud", "rcpt", "552 5.2.2 <jane@icloud.com>: user is over quota", "mailbox_full"],
  [
    "Exchange Online",
    "dot",
    "554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded",
    "mailbox_full",
  ],
  [
    "GMX",
    "dot",
    "552-Requested mail action aborted: exceeded storage allocation\n552 Mailbox quota exceeded",
    "mailbox_full",
  ],
  ["Mail.ru", "rcpt", "550 User jane@mail.ru over quota: mailbox is full", "mailbox_full"],
  ["OVH", "dot", "552 5.2.2 <jane@example.fr>: Mailbox full / Quota exceeded", "mailbox_full"],
  [
    "cPanel",
    "rcpt",
    "550 Mailbox is full / Blocks limit exceeded / Inode limit exceeded",
    "mailbox_full",
  ],
  [
    "Dovecot",
    "dot",
    "452 4.2.2 <jane@example.com> Quota exceeded (mailbox for user is full)",
    "mailbox_full",
  ],
  ["any", "dot", "552 Requested mail action aborted", "mailbox_full"],
];

const GREYLISTED: Case[] = [
  [
    "Postfix with postgrey",
    "rcpt",
    "450 4.2.0 <jane@example.com>: Recipient address rejected: Greylisted, see http://postgrey.schweikert.ch/help/example.com.html",
    "greylisted",
  ],
  [
    "Mimecast",
    "rcpt",
    "451 Internal resources are temporarily unavailable - https://community.mimecast.com/docs/DOC-1369#451",
    "greylisted",
  ],
  ["Exim", "rcpt", "451 Greylisted, please try again later", "greylisted"],
  ["rspamd", "dot", "451 4.7.1 Try again later (grey-listing)", "greylisted"],
  [
    "OVH",
    "rcpt",
    "451 4.7.1 <jane@example.fr>: Recipient address rejected: Greylisting in effect, please come back later",
    "greylisted",
  ],
  [
    "sendmail with milter-greylist",
    "rcpt",
    "451 4.7.1 Greylisting in action, please come back in 00:04:59",
    "greylisted",
  ],
];

const RATE_LIMITED: Case[] = [
  [
    "Gmail",
    "dot",
    "421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating from\n421-4.7.28 your IP address. To protect our users from spam, mail sent from your IP address has been temporarily rate limited.",
    "rate_limited",
  ],
  [
    "Gmail",
    "greeting",
    "421 4.7.0 Our system has detected an unusual rate of unsolicited mail originating from your IP address.",
    "rate_limited",
  ],
  [
    "Gmail",
    "rcpt",
    "450 4.2.1 The user you are trying to contact is receiving mail too quickly. Please resend your message at a later time.",
    "rate_limited",
  ],
  [
    "Gmail",
    "rcpt",
    "550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. https://support.google.com/mail/?p=ReceivingRatePerm",
    "rate_limited",
  ],
  ["Gmail relay", "rcpt", "550 5.4.5 Daily user sending quota exceeded.", "rate_limited"],
  [
    "Yahoo",
    "greeting",
    "421 4.7.0 [TSS04] Messages from 203.0.113.7 temporarily deferred due to unexpected volume or user complaints - 4.16.55.1; see https://postmaster.yahooinc.com/error-codes",
    "rate_limited",
  ],
  ["Yahoo", "rcpt", "450 User is receiving mail too quickly", "rate_limited"],
  [
    "Yahoo",
    "mail",
    "421 Max message per connection reached, closing transmission channel",
    "rate_limited",
  ],
  [
    "Outlook.com",
    "mail",
    "451 4.7.650 The mail server [203.0.113.7] has been temporarily rate limited due to IP reputation. For e-mail delivery information, see https://postmaster.live.com (S775)",
    "rate_limited",
  ],
  [
    "Outlook.com",
    "mail",
    "421 RP-001 (SNT004-MC1F43) Unfortunately, some messages from 203.0.113.7 weren't sent. Please try again. We have limits for how many messages can be sent per hour and per day.",
    "rate_limited",
  ],
  [
    "Exchange Online",
    "mail",
    "451 4.7.500 Server busy. Please try again later from [203.0.113.7]. (AS77713113)",
    "rate_limited",
  ],
  [
    "iCloud",
    "rcpt",
    "421 4.7.1 Messages to jane@icloud.com deferred due to excessive volume. Try again later - https://support.apple.com/en-us/HT204137",
    "rate_limited",
  ],
  ["web.de", "rcpt", "421 Rate limit reached. Please try again later", "rate_limited"],
  ["Mail.ru", "mail", "421 Ratelimit exceeded for sender", "rate_limited"],
  [
    "Postfix",
    "greeting",
    "421 4.7.0 mx.example.com Error: too many connections from 203.0.113.7",
    "rate_limited",
  ],
  ["Postfix", "mail", "450 4.7.1 Error: too much mail from 203.0.113.7", "rate_limited"],
  ["sendmail", "greeting", "421 4.3.2 Connection rate limit exceeded.", "rate_limited"],
  ["Exchange Server", "rcpt", "452 4.5.3 Recipients belong to multiple regions", "rate_limited"],
];

const AUTHENTICATION: Case[] = [
  [
    "Gmail",
    "dot",
    "550-5.7.26 This mail has been blocked because the sender is unauthenticated.\n550-5.7.26 Gmail requires all senders to authenticate with either SPF or DKIM.",
    "authentication",
  ],
  [
    "Gmail",
    "dot",
    "421 4.7.27 Your email has been rate limited because the SPF authentication didn't pass for this message.",
    "authentication",
  ],
  [
    "Gmail",
    "dot",
    "550-5.7.1 Unauthenticated email from example.com is not accepted due to domain's\n550-5.7.1 DMARC policy.",
    "authentication",
  ],
  [
    "Yahoo",
    "dot",
    "554 5.7.9 Message not accepted for policy reasons due to failing DMARC. See https://postmaster.yahooinc.com/error-codes",
    "authentication",
  ],
  [
    "Outlook.com",
    "dot",
    "550 5.7.515 Access denied, sending domain EXAMPLE.COM doesn't meet the required authentication level.",
    "authentication",
  ],
  [
    "Exchange Online",
    "dot",
    "550 5.7.509 Access denied, sending domain example.com does not pass DMARC verification and has a DMARC policy of reject.",
    "authentication",
  ],
  [
    "iCloud",
    "dot",
    "550 5.7.1 Your message was rejected due to example.com DMARC policy.",
    "authentication",
  ],
  [
    "GMX",
    "rcpt",
    "550-Requested action not taken: mailbox unavailable\n550-Reject due to SPF policy.\n550 The originating IP of the message is not permitted by the domain owner",
    "authentication",
  ],
  [
    "Mail.ru",
    "dot",
    "550 5.7.1 This message was not accepted due to domain owner DMARC policy (RFC 7489) https://help.mail.ru/mail-help/postmaster/dmarc",
    "authentication",
  ],
  [
    "Mimecast",
    "dot",
    "550 DMARC Sender Invalid - envelope rejected - https://community.mimecast.com/docs/DOC-1369#550",
    "authentication",
  ],
  [
    "Mimecast",
    "dot",
    "550 Rejected by header based Anti-Spoofing policy: jane@example.com",
    "authentication",
  ],
  [
    "Postfix",
    "rcpt",
    "550 5.7.23 <jane@example.com>: Recipient address rejected: Message rejected due to: SPF fail - not authorized.",
    "authentication",
  ],
];

const REPUTATION: Case[] = [
  [
    "Gmail",
    "dot",
    "550-5.7.1 [203.0.113.7] Gmail has detected that this message is likely suspicious due to the very\n550-5.7.1 low reputation of the sending domain.",
    "reputation",
  ],
  [
    "Gmail",
    "dot",
    "550-5.7.1 [203.0.113.7] The IP you're using to send mail is not authorized to send email\n550-5.7.1 directly to our servers. https://support.google.com/mail/?p=NotAuthorizedError",
    "reputation",
  ],
  [
    "Yahoo",
    "greeting",
    "553 5.7.1 [BL21] Connections will not be accepted from 203.0.113.7, because the ip is in Spamhaus's list; see https://postmaster.yahooinc.com/error-codes",
    "reputation",
  ],
  [
    "Outlook.com",
    "mail",
    "550 5.7.1 Unfortunately, messages from [203.0.113.7] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3150).",
    "reputation",
  ],
  [
    "Outlook.com",
    "greeting",
    "550 SC-001 (BAY004-MC4F3) Unfortunately, messages from 203.0.113.7 weren't sent.",
    "reputation",
  ],
  [
    "Exchange Online",
    "rcpt",
    "550 5.7.606 Access denied, banned sending IP [203.0.113.7]. To request removal from this list please visit https://sender.office.com/",
    "reputation",
  ],
  [
    "Exchange Online",
    "rcpt",
    "550 5.1.8 Access denied, bad outbound sender AS(42004)",
    "reputation",
  ],
  [
    "iCloud",
    "dot",
    "550 5.7.1 Your email was rejected due to having a domain present in the Spamhaus DBL -- see https://www.spamhaus.org/dbl/",
    "reputation",
  ],
  [
    "GMX",
    "greeting",
    "554-gmx.net (mxgmx104) Nemesis ESMTP Service not available\n554-No SMTP service\n554-IP address is block listed.\n554 For explanation visit https://postmaster.gmx.net/en/case?c=r0201&i=ip&v=203.0.113.7",
    "reputation",
  ],
  [
    "OVH",
    "rcpt",
    "554 5.7.1 Service unavailable; Client host [203.0.113.7] blocked using zen.spamhaus.org; https://www.spamhaus.org/query/ip/203.0.113.7",
    "reputation",
  ],
  [
    "Proofpoint",
    "greeting",
    "554 5.7.0 Blocked - see https://ipcheck.proofpoint.com/?ip=203.0.113.7",
    "reputation",
  ],
  [
    "Mimecast",
    "rcpt",
    "550 csi.mimecast.org Poor Reputation Sender. - https://community.mimecast.com/docs/DOC-1369#550",
    "reputation",
  ],
  [
    "Vade",
    "greeting",
    "550 5.7.1 Connection refused - 203.0.113.7 - https://check.spamhaus.org/results?query=203.0.113.7",
    "reputation",
  ],
  [
    "Exim",
    "rcpt",
    "550 JunkMail rejected - mx.example.net [203.0.113.7] is in an RBL on rbl.websitewelcome.com",
    "reputation",
  ],
  [
    "a listed address whose server misuses 5.1.1",
    "rcpt",
    "550 5.1.1 Rejected: 203.0.113.7 is on the blacklist",
    "reputation",
  ],
];

const CONTENT: Case[] = [
  [
    "Gmail",
    "dot",
    "550-5.7.1 [203.0.113.7] Our system has detected that this message is likely unsolicited mail. https://support.google.com/mail/?p=UnsolicitedMessageError",
    "content",
  ],
  [
    "Gmail",
    "dot",
    "552-5.7.0 This message was blocked because its content presents a potential\n552-5.7.0 security issue. https://support.google.com/mail/?p=BlockedMessage",
    "content",
  ],
  ["Gmail", "mail", "552 5.3.4 Your message exceeded Google's message size limits.", "content"],
  [
    "Mail.ru",
    "dot",
    "550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=abc or report details to abuse@corp.mail.ru.",
    "content",
  ],
  ["Postfix", "mail", "552 5.3.4 Message size exceeds fixed limit", "content"],
  ["sendmail", "dot", "554 5.6.1 Body type not supported by Remote Host", "content"],
  ["qmail", "dot", "552 sorry, that message size exceeds my databytes limit (#5.3.4)", "content"],
  ["Exim", "dot", "552 message size exceeds maximum permitted", "content"],
  ["ClamAV milter", "dot", "550 5.7.1 virus Eicar-Test-Signature detected by ClamAV", "content"],
];

const POLICY: Case[] = [
  // Not at MAIL, where no recipient is known, and not for replies that concern the message.
  ["Yahoo", "mail", "554 delivery error: dd This user doesn't have a yahoo.com account", "policy"],
  ["Yahoo", "dot", "554 delivery error: dd Not allowed for this user", "policy"],
  [
    "Yahoo",
    "dot",
    "554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes",
    "policy",
  ],
  [
    "iCloud",
    "dot",
    "550 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137",
    "policy",
  ],
  [
    "web.de",
    "dot",
    "554-Transaction failed\n554-Reject due to policy restrictions.\n554 For explanation visit https://postmaster.web.de/en/case?c=hi",
    "policy",
  ],
  ["Proofpoint", "dot", "550 5.7.0 Local Policy Violation", "policy"],
  [
    "Mimecast",
    "dot",
    "554 Email rejected due to security policies - https://community.mimecast.com/docs/DOC-1369#554",
    "policy",
  ],
  [
    "Postfix",
    "rcpt",
    "554 5.7.1 <jane@example.com>: Recipient address rejected: Access denied",
    "policy",
  ],
  ["a host without mail", "rcpt", "521 5.2.1 This host does not accept mail", "policy"],
  ["AOL", "dot", "521 5.2.1 :  This host will not accept delivery of this message.", "policy"],
  ["AOL", "dot", "554 5.2.1 : (HVU:B1) http://postmaster.info.aol.example/errors", "policy"],
  ["a server with another limit", "dot", "552 Transaction limit of this day", "policy"],
  ["a server that is full", "dot", "552 5.3.1 Insufficient system storage", "policy"],
  [
    "Exchange Online",
    "dot",
    "550 5.7.1 TRANSPORT.RULES.RejectMessage; the message was rejected by organization policy",
    "policy",
  ],
  ["Postfix", "rcpt", "554 5.7.1 <jane@example.com>: Relay access denied", "policy"],
  [
    "qmail",
    "rcpt",
    "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
    "policy",
  ],
  [
    "cPanel with a vague text",
    "rcpt",
    "550-The mail server could not deliver mail to jane@example.com.\n550-The account or domain may not exist, they may be blacklisted, or missing the proper dns entries.",
    "reputation",
  ],
  ["a server without an explanation", "rcpt", "550 No", "policy"],
  ["a greeting that refuses", "greeting", "554 No SMTP service here", "policy"],
];

const INFRASTRUCTURE: Case[] = [
  [
    "Gmail",
    "dot",
    "550-5.7.25 [203.0.113.7] The IP address sending this message does not have a PTR record setup",
    "infrastructure",
  ],
  [
    "Gmail",
    "mail",
    "421 4.7.0 TLS required for RCPT domain, closing connection.",
    "infrastructure",
  ],
  [
    "GMX",
    "greeting",
    "554-gmx.net (mxgmx001) Nemesis ESMTP Service not available\n554-Bad DNS PTR resource record.",
    "infrastructure",
  ],
  [
    "Postfix",
    "rcpt",
    "450 4.7.1 Client host rejected: cannot find your reverse hostname, [203.0.113.7]",
    "infrastructure",
  ],
  [
    "Postfix",
    "rcpt",
    "504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname",
    "infrastructure",
  ],
  [
    "Postfix",
    "rcpt",
    "450 4.1.8 <b@bounce.example.com>: Sender address rejected: Domain not found",
    "infrastructure",
  ],
  [
    "sendmail",
    "mail",
    "553 5.1.8 <b@bounce.example.com>... Domain of sender address b@bounce.example.com does not exist",
    "infrastructure",
  ],
  [
    "Exim",
    "rcpt",
    "550-Verification failed for <b@bounce.example.com>\n550-No Such User Here\n550 Sender verify failed",
    "infrastructure",
  ],
  ["a relay", "auth", "535 5.7.8 Username and Password not accepted", "infrastructure"],
  ["a relay", "mail", "530 5.7.1 Authentication required", "infrastructure"],
  [
    "Exchange Online",
    "mail",
    "530 5.7.57 Client was not authenticated to send anonymous mail during MAIL FROM",
    "infrastructure",
  ],
  ["any", "starttls", "454 4.7.0 TLS not available due to local problem", "infrastructure"],
  ["any", "mail", "503 5.5.1 Bad sequence of commands", "infrastructure"],
];

const TEMPORARY: Case[] = [
  ["Gmail", "dot", "421 4.3.0 Temporary System Problem. Try again later.", "temporary"],
  [
    "Gmail",
    "rcpt",
    "450 4.1.1 The email account that you tried to reach does not exist.",
    "temporary",
  ],
  [
    "Yahoo",
    "rcpt",
    "451 mta1234.mail.ne1.yahoo.com Resources temporarily unavailable. Please try again later [#4.16.1].",
    "temporary",
  ],
  [
    "Exchange Online",
    "dot",
    "451 4.7.0 Temporary server error. Please try again later. PRX2",
    "temporary",
  ],
  ["iCloud", "mail", "451 4.7.1 Service unavailable - try again later", "temporary"],
  ["web.de", "dot", "451 Requested action aborted: local error in processing", "temporary"],
  ["Postfix", "mail", "452 4.3.1 Insufficient system storage", "temporary"],
  [
    "Postfix with soft_bounce",
    "rcpt",
    "450 5.1.1 <jane@example.com>: Recipient address rejected: User unknown in local recipient table",
    "temporary",
  ],
  ["qmail", "dot", "451 qq temporary problem (#4.3.0)", "temporary"],
  ["any", "rcpt", "450 Requested mail action not taken: mailbox unavailable", "temporary"],
  ["any", "rcpt", "421 Service not available, closing transmission channel", "temporary"],
];

const TABLES = [
  NO_SUCH,
  MAILBOX_FULL,
  GREYLISTED,
  RATE_LIMITED,
  AUTHENTICATION,
  REPUTATION,
  CONTENT,
  POLICY,
  INFRASTRUCTURE,
  TEMPORARY,
];

describe("replies of real servers", () => {
  for (const [server, step, reply, expected] of TABLES.flat()) {
    test(`${server} at ${step}: "${reply.slice(0, 70)}" is ${expected}`, () => {
      const verdict = classify(step, reply);
      expect(verdict.class).toBe(expected);
      expect(verdict.kind).toBe(reply.startsWith("5") ? "bounced" : "deferred");
    });
  }
});

describe("no such recipient", () => {
  const permanent = NO_SUCH.map(([, , reply]) => reply);

  test("is never the class of a temporary reply", () => {
    for (const reply of permanent) {
      for (const step of STEPS) {
        const softened = reply.replace(/\b5(\d\d[ -])/g, "4$1");
        expect(classify(step, softened).class).not.toBe("no_such_recipient");
        expect(classify(step, softened.replace(/\b5\./g, "4.")).class).not.toBe(
          "no_such_recipient",
        );
      }
    }
  });

  test("is never the class of a step that does not concern the recipient", () => {
    for (const reply of permanent) {
      for (const step of STEPS.filter((step) => !["rcpt", "data", "dot"].includes(step))) {
        expect(classify(step, reply).class).not.toBe("no_such_recipient");
      }
    }
  });

  test("is not concluded from a usual text after DATA", () => {
    expect(classify("dot", "550 User unknown").class).toBe("policy");
    expect(classify("dot", "552 Mailbox not found").class).toBe("policy");
    expect(classify("dot", "554 This account has been disabled").class).toBe("policy");
  });

  test("is not concluded if basic and enhanced code contradict each other", () => {
    expect(classify("rcpt", "550 4.1.1 User unknown").class).toBe("policy");
  });
});

/** Whom a reply means; about the account it is also told from the mailbox of the recipient. */
const SUBJECTS: [step: StepName, reply: string, about: ReplySubject, expected: ReplyClass][] = [
  ["dot", "550 5.4.5 Daily user sending limit exceeded.", "account", "rate_limited"],
  [
    "dot",
    "554 5.7.0 Your message could not be sent. The limit on the number of allowed outgoing messages was exceeded. Try again later.",
    "account",
    "rate_limited",
  ],
  [
    "dot",
    "552 Message would take you over your relay quota of 500. Current quota used: 487",
    "account",
    "rate_limited",
  ],
  ["dot", "552 5.2.2 You have exceeded your sending quota", "account", "rate_limited"],
  ["mail", "552 5.2.2 Over quota", "account", "rate_limited"],
  ["mail", "550 5.7.1 Quota exceeded", "account", "rate_limited"],
  ["rcpt", "550 5.7.1 Daily SMTP relay limit exceeded for customer.", "account", "rate_limited"],
  ["dot", "454 Throttling failure: Daily message quota exceeded.", "account", "rate_limited"],
  ["mail", "451 Maximum credits exceeded", "account", "rate_limited"],
  [
    "dot",
    "550 Domain example.com has exceeded the max emails per hour (150/150 (100%)) allowed. Message discarded.",
    "account",
    "rate_limited",
  ],
  ["rcpt", "550 5.7.1 only 10 messages per day", "account", "rate_limited"],
  ["mail", "550 Your monthly plan limit has been reached", "account", "rate_limited"],
  [
    "dot",
    "554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; message could not be sent",
    "account",
    "rate_limited",
  ],
  ["dot", "550 5.7.1 Your account has been suspended", "account", "infrastructure"],
  ["dot", "550 5.4.6 Unusual sending activity detected.", "account", "infrastructure"],
  ["dot", "554 5.1.8 Email Outgoing Blocked", "account", "infrastructure"],
  ["rcpt", "550 Sender quota exceeded", "account", "rate_limited"],
  ["dot", "552 5.2.2 Mail quota exceeded for this sender", "account", "rate_limited"],
  ["mail", "550 5.7.0 Payment required", "account", "rate_limited"],
  ["rcpt", "550 5.7.705 Access denied, tenant has exceeded threshold", "account", "reputation"],
  ["rcpt", "553 Relaying disallowed as a@shop.example", "account", "policy"],
  [
    "dot",
    "554 Sending paused for this account. For more information, see the page",
    "account",
    "infrastructure",
  ],
  [
    "rcpt",
    '550 Outgoing mail from "shop.example" has been suspended.',
    "account",
    "infrastructure",
  ],
  ["mail", "530 5.7.0 Authentication Required.", "account", "infrastructure"],
  ["rcpt", "554 5.7.1 <jane@example.com>: Relay access denied", "account", "policy"],
  ["rcpt", "550 5.7.1 Unable to relay", "account", "policy"],
  [
    "dot",
    "554 Transaction failed: Duplicate header 'DKIM-Signature'.",
    "account",
    "authentication",
  ],
  [
    "rcpt",
    "554 5.7.1 Client host [203.0.113.7] blocked using zen.spamhaus.org",
    "account",
    "reputation",
  ],
  [
    "dot",
    "554 Message rejected: Email address is not verified. The following identities failed the check in region EU-WEST-1: a@shop.example",
    "sender",
    "infrastructure",
  ],
  [
    "dot",
    "550 The from address does not match a verified Sender Identity.",
    "sender",
    "infrastructure",
  ],
  [
    "rcpt",
    "553 5.7.1 <a@shop.example>: Sender address rejected: not owned by user b",
    "sender",
    "infrastructure",
  ],
  [
    "dot",
    "550 5.7.60 SMTP; Client does not have permissions to send as this sender",
    "sender",
    "infrastructure",
  ],
  [
    "dot",
    "550 5.7.26 Unauthenticated email from shop.example is not accepted",
    "sender",
    "authentication",
  ],
  [
    "rcpt",
    "552 5.2.2 The email account that you tried to reach is over quota",
    "recipient",
    "mailbox_full",
  ],
  [
    "rcpt",
    "552 5.2.2 <jane@example.com> Quota exceeded (mailbox for user is full)",
    "recipient",
    "mailbox_full",
  ],
  ["dot", "552 5.2.2 Message size exceeds the limit", "message", "content"],
  ["dot", "552 5.2.2 Attachment too large", "message", "content"],
  [
    "rcpt",
    "550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages",
    "recipient",
    "rate_limited",
  ],
  [
    "rcpt",
    "550 5.7.1 RESOLVER.RST.AuthRequired; authentication required",
    "recipient",
    "infrastructure",
  ],
  ["greeting", "421 4.7.0 Too many connections", "site", "rate_limited"],
  ["dot", "451 4.3.0 Temporary system problem", "site", "temporary"],
];

describe("whom a reply means", () => {
  for (const [step, reply, about, expected] of SUBJECTS) {
    test(`the ${about}: "${reply.slice(0, 70)}" at ${step}`, () => {
      expect(classify(step, reply)).toMatchObject({ about, class: expected });
    });
  }
});

const UNKNOWN_RECIPIENTS = [
  "address does not exist",
  "address not present in directory",
  "destination addresses were unknown",
  "email address could not be found",
  "The email address you entered couldn't be found",
  "invalid mailbox path",
  "invalid-recipient",
  "Recipient address rejected: userunknown",
  "mailbox jane unavailable or access denied",
  "no jane in name directory",
  "no mail box available for this user",
  "no thank you, no account by that name here",
  "no existe dicha persona",
  "nessun utente simile in questo indirizzo",
  "not a local address",
  "nonexistent user",
  "<jane@example.com> does not exist",
  "sorry, badrcptto",
  "there is no one at this address",
  "this address no longer accepts mail",
  "Unable to find recipient",
  "user missing home directory",
  "utilisateur inconnu !",
  "Kein solcher Benutzer",
  "użytkownik nie istnieje",
  "Пользователь не найден",
  "用户不存在",
];

const OTHER_ADDRESSES = [
  "Client host rejected: cannot find your hostname",
  "Return path user unknown",
  "The sender's mailbox does not exist",
  "sender rejected: no such user",
  "Unknown user in From: header",
  "callback: MAIL FROM user unknown",
  "Recipient address rejected: unknown client host",
  "address rejected: HELO unknown",
  "user is not accepting mail from unknown senders",
  "your IP address not found in reverse DNS",
  "Recipient has rejected your message: unknown reason",
];

describe("the words alone say that", () => {
  test.each(UNKNOWN_RECIPIENTS)("the recipient does not exist: %s", (text) => {
    for (const codes of ["550", "550 5.7.1", "554 5.7.1"]) {
      expect(classify("rcpt", `${codes} ${text}`).class).toBe("no_such_recipient");
    }
  });

  test.each(OTHER_ADDRESSES)("another address is meant: %s", (text) => {
    for (const codes of ["550", "550 5.7.1", "554 5.7.1"]) {
      expect(classify("rcpt", `${codes} ${text}`).class).not.toBe("no_such_recipient");
    }
  });
});

describe("the delay that a reply asks for", () => {
  const cases: [reply: string, retryAfterMs: number | undefined][] = [
    ["450 4.2.0 Greylisted for 300 seconds", 300_000],
    ["451 4.7.1 Greylisting in action, please come back in 00:04:59", 299_000],
    ["450 4.7.1 Please try again in 5 minutes", 300_000],
    ["450 4.7.1 Greylisted, please wait 5 minutes and 30 seconds", 330_000],
    ["451 greylisted: retry after 2 hours", 7_200_000],
    ["451 Greylisting (delayed for 90s)", 90_000],
    ["450 try again in 5 seconds", 60_000],
    ["450 try again in 99:00:00", 86_400_000],
    ["450 4.2.0 Greylisted, see http://example.com/300", undefined],
    ["450 Too many messages: 100 in 60 minutes", undefined],
    ["450 4.7.1 try again later from 203.0.113.7", undefined],
    ["550 5.7.1 try again in 5 minutes", undefined],
  ];

  for (const [reply, expected] of cases) {
    test(`"${reply}" means ${expected ?? "no delay"}`, () => {
      expect(classify("rcpt", reply).retryAfterMs).toBe(expected);
    });
  }
});

describe("odd replies", () => {
  test("an unexpected code counts as temporary", () => {
    const reply = { enhanced: null, text: "what?" };
    expect(classifyReply({ ...reply, step: "mail", code: 354 })).toEqual({
      kind: "deferred",
      about: "site",
      class: "temporary",
    });
    expect(classifyReply({ ...reply, step: "rcpt", code: 650 }).kind).toBe("deferred");
  });

  test("an address in the text does not influence the class", () => {
    const text = "<blacklist-spf@spamhaus.example>: Recipient address rejected: User unknown";
    const verdict = classifyReply({ step: "rcpt", code: 550, enhanced: "5.1.1", text });
    expect(verdict.class).toBe("no_such_recipient");
  });
});
