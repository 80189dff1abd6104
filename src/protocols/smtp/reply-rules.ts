/**
 * The meanings of negative SMTP replies: one table, from which the first rule that fits is taken. To
 * teach a new phrase, add it to the rule of its meaning, and the reply to
 * test/protocols/smtp/classify-reply.test.ts. Each rule says of whom the server speaks (`about`),
 * because that decides what happens: a mailbox may be suppressed, a message bounces, and what
 * concerns the account or the sender is for the operator to mend.
 */

import { DNS_FAILURE, NO_SUCH_DOMAIN } from "./dns-words.ts";
import { MAILBOX_FULL, UNKNOWN_RECIPIENT } from "./mailbox-words.ts";
import type { ReplyClass, ReplySubject, SmtpStep } from "./reply-classes.ts";

export type ReplyRule = {
  about: ReplySubject;
  class: ReplyClass;
  /** The steps at which the rule holds; without them at all. */
  at?: readonly SmtpStep[];
  /** Without it, the rule holds for 4yz and 5yz. */
  only?: "temporary" | "permanent";
  /** Subjects and details of enhanced codes (`1.1` of `5.1.1`); without them, any code or none. */
  codes?: readonly string[];
  /** Basic codes; without them, all. */
  basicCodes?: readonly number[];
  /** One of these expressions matches the text, in any case; without it, any text. */
  text?: RegExp;
  /** The text must match this expression as well. */
  needs?: RegExp;
  /** The rule does not hold for texts that this expression matches. */
  unless?: RegExp;
  /** True if the rule holds only for texts that speak of the sender (sender-words.ts). */
  meansSender?: true;
  /** True if a code that names the recipient (X.1.z) at RCPT is more precise than these words. */
  isVague?: true;
};

/** The steps before the server knows a recipient. */
const BEFORE_RECIPIENT: readonly SmtpStep[] = ["greeting", "ehlo", "helo", "mail"];
const AT_RECIPIENT: readonly SmtpStep[] = ["rcpt"];
const BEFORE_MESSAGE: readonly SmtpStep[] = [...BEFORE_RECIPIENT, "rcpt"];
const AT_MESSAGE: readonly SmtpStep[] = ["data", "dot"];

/** No code, or "other or undefined" (RFC 3463 §3), which says nothing: the text decides. */
const UNDEFINED_CODES: readonly string[] = ["", "0.0", "1.0", "2.0", "5.0"];

const MICROSOFT_BLOCKS: readonly string[] = [
  "7.501",
  "7.502",
  "7.503",
  "7.511",
  ...Array.from({ length: 44 }, (_, i) => `7.${606 + i}`),
  ...Array.from({ length: 100 }, (_, i) => `7.${700 + i}`),
];

/** An address in the text is ours, because the server knows no other. */
const IP_ADDRESS =
  /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.])|\[(?:ipv6:)?[0-9a-f]{0,4}:[0-9a-f:.]{2,45}\]/;

const REPUTATION = anyOf([
  /spam ?haus|spamcop|barracuda(?:central|networks)|\bsorbs\b|uceprotect|abusix|manitu|invaluement|sender ?score|spamrats|backscatterer|cloudmark sender/,
  /dns-?bl|\b(?:rbl|sbl|xbl|pbl|csi|zen)\b/,
  /(?<!\b(?:url|uri|link)s? (?:is |are )?(?:\S{1,40} )?)(?:block|black|deny)[- ]?list(?!ed (?:url|uri|link)|.{0,20} (?:url|uri|link)s?\b)/,
  /reputation/,
  /banned sending ip|bad outbound sender|banned sender|spam abuse detected/,
  /blocked using(?! spam)|blocked - see|blocked by \S*(?:senderbase|trustedsource|talos)/,
  /ipcheck\.proofpoint|csi\.(?:mimecast|cloudmark)/,
  /not authorized to send e-?mail directly|connections? (?:will )?not (?:be )?accepted from|traffic not accepted from this ip|dynamic ip/,
  /\[bl\d+\]|\b(?:s3140|s3150)\b|\b(?:sc|dy|ou)-00\d\b/,
  /(?:your|sending|client) (?:ip|host|server|network)(?: address)? (?:\S+ )?(?:is|has been|was) (?:\w+ )?(?:blocked|banned|listed|denied)/,
  /user complaints|likely suspicious due to the very low/,
  /host network not allowed|client host (?:\S+ )?(?:rejected|refused|denied)|not allowed to connect|access from (?:ip address )?\S+ (?:is )?(?:blocked|denied)|no access from (?:mail server|your)|forbidden by your ip/,
  /(?:bad|poor) ip profile|spam ips? blocked|suspected spam ip|open proxy|listed as abusive|suspiciously like spammer|(?:many|much) spams? from your|currently sending spam|\baup#/,
]);

/** Words for a recipient that other refusals use as well. */
const VAGUE_RECIPIENT = anyOf([
  /(?:mail ?box|account) (?:is )?(?:unavailable|not available)|mail ?box name (?:is )?not allowed/,
  /(?:user|account|mail ?box)\b.{0,40}\b(?:deactivated|disabled|inactive)|(?:user|mail ?box|recipient|addressee) (?:is |has been |was )?(?:currently )?(?:suspended|frozen)|deactivated (?:mail ?box|user|account|recipient)|inactive (?:user|mail ?box|account)/,
  /(?:invalid|bad) (?:e-?mail )?(?:user|recipient|address)|address (?:is )?invalid|user not (?:local|active)/,
]);

export const REPLY_RULES: readonly ReplyRule[] = [
  {
    // A permanent reply is never greylisting.
    about: "site",
    class: "greylisted",
    only: "temporary",
    text: anyOf([
      /gr[ea]y-?\s?list/,
      // Greylisting of Mimecast contains neither that word nor a time.
      /internal resources? (?:are |is )?temporarily (?:unavailable|not available)/,
    ]),
  },

  // A recipient of Exchange who takes no mail from outside; the words sound like a missing log-in.
  { about: "recipient", class: "infrastructure", text: anyOf([/resolver\.rst\.auth/]) },
  {
    about: "recipient",
    class: "rate_limited",
    text: anyOf([
      /receiving (?:e-?mail|mail|messages) (?:too quickly|at a rate)/,
      /(?:recipient|user|mail ?box|account)\b.{0,60}\bexceed\w* (?:\S+ )?receiving limits?/,
    ]),
  },

  {
    // Rate limits and payments of the account, but not refusals of a message that mentions payments.
    about: "account",
    class: "rate_limited",
    unless: anyOf([
      /\b(?:message|mail|e-?mail|attachment|body|content) (?:contain(?:s|ed)|is part|appears|looks)|phish|virus|malware|trojan/,
      /\b(?:recipient|addressee) (?:is |has |was )?(?:over|reached|exceeded)\b/,
    ]),
    text: anyOf([
      /(?:daily|hourly|weekly|monthly|sending|relay|submission|outgoing|outbound) (?:(?:user|customer|account|smtp|relay|e-?mail|mail|messages?|recipients?|sending|sent|outgoing|outbound) ){0,3}(?:quota|limit|limits|allowance)\b/,
      /\byou(?:r|'ve)?\b(?! (?:tried|are trying|were trying|entered))(?![^.]{0,80}\b(?:size|large|big)\b)[^.]{0,60}\b(?:over|exceed\w*|reach\w*|hit|use[ds]? up|passed)\b[^.]{0,40}\b(?:quota|limits?|allowance|credits?|plan)\b/,
      /\byour\b[^.:]{0,40}\b(?:quota|limits?|allowance|credits?|plan)\b[^.]{0,30}\b(?:exceeded|reached|exhausted|used up|hit|expired)/,
      /limit on the number of (?:allowed )?(?:outgoing |outbound |sent )?(?:messages|mails|e-?mails|recipients)/,
      /max(?:imum)? (?:number of )?(?:allowed )?(?:credits?|e-?mails|mails|messages|recipients|defers and failures) (?:per|in an?|a) (?:hour|day|month|week)|maximum credits? exceeded/,
      /(?:quota|credits?|plan|allowance) (?:has been |have been |is |are |was )?(?:exhausted|used up|expired|insufficient)|(?:not enough|insufficient|out of|no) (?:more |sending |e-?mail |mail )?credits?\b/,
      /only \d{1,9} (?:messages?|mails?|e-?mails?|recipients?) (?:are allowed )?(?:per|an?|in) (?:hour|day|month|week)/,
      /(?:message|mail|e-?mail|recipient|customer|user|account|sender|tenant|domain)s?(?:'s)? (?:\S{1,20} ){0,2}(?:exceed\w*|reach\w*|over) (?:\S{1,20} ){0,3}(?:sending|submission|outgoing|outbound|external recipient) (?:\S{1,20} ){0,2}(?:quota|limit|rate)/,
      /(?:sender|customer|tenant|smtp|bandwidth)(?:'s)? (?:\w{1,20} )?(?:quota|over ?-?quota)|quota (?:\S{1,20} ){0,3}sender|over ?-?quota sender|sender (?:is )?over/,
      /max(?:imum)? (?:allowed |number of ){0,2}(?:messages|mails|e-?mails|recipients) (?:has been |was |is )?(?:exceeded|reached)|quota of (?:messages|mails|e-?mails)|(?:sender|sending) rate (?:is )?(?:exceeded|too high)/,
      /trial (?:account|plan|period|tenant)|payment required|\bunpaid\b|upgrade your (?:plan|account)/,
      /\b(?:submissionquotaexceeded|trackingquota|exceeded sending|outboundspamexception|showtierupgrade)|verdict is suspend/,
      /\b(?:(?:free|paid|basic|starter|trial|current|your) (?:plan|tier|account|subscription)|plan|tier|subscription|(?<!(?:box|disk|storage|space) )usage|api|smtp|senders?|send|sending|outbound|outgoing|daily|hourly|weekly|monthly|yearly|annual|credits?|e-?mails?(?! quota))(?:'s)? (?:(?:e-?mail|mail|message|messages|sending|send|usage|recipient|plan|account|user|daily|hourly|monthly) ){0,3}(?:limits?|quotas?|allowance|cap|credits?|volume)\b(?: \S{1,40}){0,4}? (?:exceeded|reached|hit|exhausted|used up|passed|depleted|over)\b/,
      /(?:exceeded|reached|hit|exhausted|used up|depleted|over) (?:\S{1,20} ){0,3}(?:plan|tier|subscription|usage|api|sending|daily|hourly|monthly|weekly|free) (?:\S{1,20} ){0,2}(?:limits?|quotas?|allowance|cap|credits?)\b/,
      /(?:limits?|quotas?|rate|allowance|cap) (?:for|of|on|in) (?:\S{1,20} ){0,2}(?:outbound|outgoing|sent|sending|plan|tier|billing|monthly|daily|hourly)(?: \S{1,40}){0,3}? (?:exceeded|reached|hit|exhausted|used up)\b/,
      /\b(?:trial|subscription|billing|payment|balance|funds|api[- ]key|(?:free|paid) (?:tier|plan|version)|your plan|account plan)\b(?: \S{1,20}){0,4}? (?:ended|expired|over|exceeded|reached|required|overdue|failed|invalid|insufficient|revoked|suspended|inactive|problems?|issues?|disabled|due|exhausted|(?:does|do) not (?:allow|include|permit))\b|\b(?:invalid|insufficient|expired|revoked|overdue|upgrade to a) (?:trial|subscription|billing|payment|balance|funds|api[- ]key|paid)\b/,
      /\b(?:no|zero|0) (?:remaining |available )?(?:e-?mail |sending )?credits?\b|credits? (?:left|remaining|available)\b|(?:upgrade|top up) (?:your |the )?(?:plan|account|balance|credits?|subscription)|(?:insufficient|negative|no) (?:account )?balance|invoice (?:is )?overdue|past due/,
    ]),
  },
  {
    // At MAIL no mailbox is known that could be full: it is our own quota.
    about: "account",
    class: "rate_limited",
    at: ["mail"],
    text: anyOf([/quota/]),
  },
  { about: "account", class: "rate_limited", at: ["mail"], codes: ["2.2"] },
  // The sender's mailbox, or what it may send.
  { about: "account", class: "rate_limited", meansSender: true, text: MAILBOX_FULL },

  {
    // A relay that takes no second signature (the relay signs, and so do we).
    about: "account",
    class: "authentication",
    text: anyOf([/(?:duplicate|multiple|more than one) (?:header:? )?['"]?dkim-signature/]),
  },

  // Codes with one meaning: of RFC 7372, of Gmail (7.26 to 7.40) and of Microsoft (7.508 to 7.515).
  {
    about: "sender",
    class: "authentication",
    codes: "7.20 7.21 7.22 7.23 7.24 7.26 7.27 7.29 7.30 7.32 7.40 7.509 7.515".split(" "),
  },
  { about: "account", class: "infrastructure", codes: ["7.25", "7.57", "7.139"] },
  { about: "sender", class: "infrastructure", codes: ["7.60", "2.252"] },
  { about: "message", class: "content", codes: ["7.512"] },
  // Microsoft blocks an address (7.606 to 7.649), a sender or a tenant.
  { about: "account", class: "reputation", codes: MICROSOFT_BLOCKS },
  // 7.28 is "mail flood detected" in the registry and a rate limit at Gmail.
  { about: "site", class: "rate_limited", codes: ["7.28", "7.508"] },

  // Before "too much mail": Gmail says of a full mailbox that it may also get too much mail.
  { about: "recipient", class: "mailbox_full", codes: ["2.2"], text: MAILBOX_FULL },
  {
    about: "recipient",
    class: "mailbox_full",
    text: /(?:user|recipient|mail ?box|benutzer|empf(?:ä|ae)nger) (?:\S+ )?(?:has|hat|holds?|contains?) (?:too many|zu ?viele) (?:messages|mails|e-?mails|nachrichten)/i,
  },
  {
    about: "site",
    class: "rate_limited",
    text: anyOf([
      /rate[- ]?limit/,
      /limit(?:ing)? (?:on )?(?:the )?(?:message |connection |sending )?rate/,
      /unusual rate/,
      /(?:unexpected|excessive|high) (?:e-?mail |message |mail )?volume/,
      /too many (?:simultaneous |concurrent |new |smtp )?(?:connections?|messages?|e-?mails?|sessions?|recipients?|errors|requests)/,
      /too much mail/,
      /(?:connection|message|messages|recipient) (?:quota|limit) (?:has been |was )?(?:exceeded|reached)/,
      /exceed(?:s|ed|ing)? (?:the |your |its )?(?:maximum )?(?:allowed )?(?:permitted limits|sending|connection|connections|message rate|messages per)/,
      /max(?:imum)? messages? per connection/,
      /limits? (?:for|on) how many messages/,
      /mail flood|throttl/,
    ]),
  },
  {
    about: "sender",
    class: "authentication",
    text: anyOf([
      /\b(?:spf|dkim|dmarc|domainkeys)\b/,
      /is not allowed to send (?:mail |e-?mail |messages )?(?:from|for) |sender policy framework|unauthenticated|required authentication level|spoof/,
    ]),
  },
  {
    // The sender has to be registered at the relay, or the receiver does not find its domain.
    about: "sender",
    class: "infrastructure",
    text: anyOf([
      /(?:sender|from)\b.{0,60}\b(?:not verified|unverified|not validated|not a verified|does not match a verified|not registered|unregistered|not owned by|not yet verified)/,
      /(?:e-?mail address|domain|identity|identities|sender signature) (?:\S{1,255} )?(?:is |are )?(?:not verified|unverified|failed the check)|un(?:registered|known) sender(?! (?:ip|host|network))(?: (?:address|mail ?box|domain|user|account)\b)|unregistered sender|verified sender identity|unauthori[sz]ed sender|sender (?:is )?unauthori[sz]ed/,
      /(?:permissions?|right|allowed|authori[sz]ed|able) to send (?:\S{1,20} ){0,2}as\b|send ?as ?denied|not allowed to use (?:this |that |the )?(?:sender|from|address)/,
      /sender (?:address|domain|email|mailbox|e-?mail address)\b.{0,60}(?:not found|not exist|n'?t exist|resolve|unknown|undeliverable|unverified|invalid|not allowed|not permitted|not authori[sz]ed|not owned)/,
      /domain of sender (?:address )?.{0,80}(?:does ?n[o']t|could not|cannot|not found)|\bfrom: domain is invalid|(?:mail from|envelope sender|sender) (?:domain )?(?:is )?(?:invalid|not (?:allowed|owned|authori[sz]ed))/,
      /(?:sender|return path|envelope from|callback|callout) ?(?:address )?(?:verify|verification) (?:failed|failure)|(?<!recipient )(?<!address )verification failed for/,
    ]),
  },
  {
    // A log-in that is missing or wrong, an account that may not send, no right to relay.
    about: "account",
    class: "infrastructure",
    text: anyOf([
      /authentication (?:is )?required|(?:smtp|client) (?:was |is )?not authenticated|client was not authenticated|username and password not accepted|(?:authentication|login) credentials/,
      /\bsending (?:(?:is|has|was|been|mail|e-?mails?|privileges?|access|rights?|for|from|of|this|your|account|temporarily) ){0,5}(?:paused|suspended|disabled|deactivated|blocked|stopped|halted|frozen|restricted|prohibited|revoked|locked)/,
      /(?:outgoing|outbound) (?:is |has been )?(?:blocked|suspended|disabled)|(?:unusual|suspicious) sending activity|(?:smtp|mail) (?:account|service|access) (?:is |has been )?(?:disabled|suspended|blocked)/,
      /\bip (?:address )?(?:\S{1,45} )?(?:is )?not (?:in the (?:list|allow)|authori[sz]ed to (?:use|connect|relay)|whitelisted)/,
      /(?:outgoing|outbound) (?:e-?mails?|mails?|messages?)\b(?:[^.]|\.\S){0,80}\b(?:paused|suspended|disabled|deactivated|blocked)/,
      /\byour (?:\S{1,40} ){0,2}(?:account|organi[sz]ation|subscription|service|user|domain|mail ?box|smtp|api key|access)\b[^.]{0,60}\b(?:suspended|disabled|deactivated|blocked|locked|restricted|paused|inactive|on hold|under review|terminated|expired|not (?:yet )?(?:been )?(?:active|activated|enabled|approved|verified|allowed))/,
      /account (?:is |has been |was )?(?:not subscribed|under review|on hold|not (?:yet )?(?:activated|approved))|sender account\b.{0,40}\b(?:suspended|disabled|blocked)/,
      /(?:account|user|domain|organi[sz]ation|api key)\b.{0,60}\bnot (?:authori[sz]ed|allowed|permitted|enabled) to (?:send|relay|perform)(?!.{0,30}\bto\b)/,
      /storedrv\.submission|\btenant (?:\S{1,64} )?(?:is |has been |was )?(?:suspended|blocked|disabled|restricted)|outbound spam|sending (?:privileges?|rights?|permissions?|e-?mails?) (?:\w{1,20} ){0,2}revoked|sending (?:\w{1,20} )?(?:is|are) not (?:allowed|enabled|permitted|possible)|account (?:is |has )?(?:not (?:yet )?(?:been )?(?:active|activated|enabled|approved) (?:yet|for sending)|(?:disabled|suspended|blocked|paused)\W{1,3}(?:too many bounces|(?:high )?bounce rate|abuse|spam complaints))|review of your account/,
      /sandbox (?:sub)?domains?\b|\bsandbox (?:mode|account)|in (?:the |a )?sandbox|(?:can|may) only send (?:test(?:ing)? )?(?:e-?mails?|mails?|messages?) to (?:your|yourself|verified|authori[sz]ed|addresses)/,
      /(?<!recipient )(?<!recipient's )\b(?:account|(?:smtp |this |the )?server|service|subscription|project|workspace|sender profile|sub-?account|api key|smtp user)(?: \S{1,64})? (?:is |are |was |has been |still )?(?:still |currently )?(?:pending|awaiting|waiting for|under|in) (?:\w{1,20} )?(?:approval|review|activation|verification|validation|confirmation)/,
      /\b(?:smtp |this |the )?server (?:\S{1,64} )?(?:is|has been) (?:inactive|archived|suspended|deactivated|paused)|inactive server|(?:smtp|sending|sender) (?:account|access|user|service|profile) (?:\S{1,64} )?(?:is |has been |was )?(?:not (?:yet )?(?:active|activated|enabled|approved|validated)|inactive|deactivated|suspended|terminated|locked|banned|expired)/,
      /not authori[sz]ed to perform|(?:you are|you're) not (?:authori[sz]ed|allowed|permitted) to (?:send|relay)(?! (?:\S+ ){0,3}to\b)/,
    ]),
  },
  {
    about: "account",
    class: "infrastructure",
    at: ["mail", ...AT_MESSAGE],
    text: anyOf([
      /\baccount (?:is |has been )?(?:suspended|not active)|\bservice (?:is )?suspended/,
    ]),
  },
  {
    about: "account",
    class: "infrastructure",
    at: ["mail"],
    text: anyOf([
      /suspended|deactivated|(?:account|user|domain)\b.{0,40}\b(?:disabled|blocked|inactive|locked)/,
    ]),
  },

  {
    // Faults of this installation: its DNS, host name or TLS.
    about: "account",
    class: "infrastructure",
    text: anyOf([
      /reverse[- ](?:dns|host ?name|lookup|resolution|mapping)|\b(?:fc)?r-?dns\b|\bptr\b/,
      /cannot find your (?:reverse )?host ?name/,
      /helo command rejected|(?:invalid|bad|unqualified|fake) (?:helo|ehlo)|need fully-qualified host ?name/,
      /(?:starttls|tls|ssl|encryption|secure connection) (?:is |connection )?(?:required|needed)|must (?:issue|use) (?:a )?(?:starttls|tls)|not (?:sent|received) over (?:a )?tls/,
    ]),
  },
  // Before the message the server knows our address only; afterwards it may mean a link in the text,
  // unless it names an address or a host.
  { about: "account", class: "reputation", at: BEFORE_MESSAGE, text: REPUTATION },
  {
    about: "account",
    class: "reputation",
    at: AT_MESSAGE,
    text: REPUTATION,
    needs: anyOf([
      /\b(?:your|client|sending|sender'?s?|source|connecting|originating) (?:ip|host|server|mail ?server|network)\b|\bip (?:address )?\S{0,45} ?(?:has|is|was)\b|\bips?\b/,
      IP_ADDRESS,
    ]),
  },
  { about: "sender", class: "reputation", text: REPUTATION },

  {
    // "Too large, or the mailbox is full": the size is certain.
    about: "message",
    class: "content",
    text: anyOf([/larger than the current system limit/]),
  },
  {
    about: "recipient",
    class: "mailbox_full",
    text: MAILBOX_FULL,
  },

  // Before the codes: a server that got no answer from the DNS may reply with the code 5.1.2.
  { about: "site", class: "infrastructure", at: AT_RECIPIENT, text: DNS_FAILURE },

  // The texts that concern a recipient in the rules below, in replies that concern the sender.
  ...[UNKNOWN_RECIPIENT, NO_SUCH_DOMAIN, VAGUE_RECIPIENT].map((text) => ({
    about: "sender" as const,
    class: "infrastructure" as const,
    meansSender: true as const,
    at: [...BEFORE_MESSAGE, ...AT_MESSAGE],
    text,
  })),

  // No such recipient.
  {
    about: "recipient",
    class: "no_such_recipient",
    only: "permanent",
    at: AT_RECIPIENT,
    codes: [...UNDEFINED_CODES, "1.1", "1.2", "1.3", "1.10", "4.0", "4.1", "4.3", "4.4", "4.310"],
    text: NO_SUCH_DOMAIN,
    unless: anyOf([IP_ADDRESS]),
  },
  {
    // Exchange Online, for a domain that refuses all recipients that are not in its directory.
    about: "recipient",
    class: "no_such_recipient",
    only: "permanent",
    at: AT_RECIPIENT,
    codes: ["4.1"],
    text: anyOf([/recipient address rejected: access denied/]),
  },
  {
    about: "recipient",
    class: "no_such_recipient",
    only: "permanent",
    at: AT_RECIPIENT,
    text: UNKNOWN_RECIPIENT,
  },
  {
    // Words that other refusals use as well, also of the sender: only without a precise code.
    about: "recipient",
    class: "no_such_recipient",
    only: "permanent",
    at: AT_RECIPIENT,
    codes: UNDEFINED_CODES,
    basicCodes: [550, 551, 553],
    text: VAGUE_RECIPIENT,
  },
  {
    // Yahoo and related services check the mailbox only after the message. The list is short,
    // because other refusals at this step concern the message.
    about: "recipient",
    class: "no_such_recipient",
    only: "permanent",
    at: AT_MESSAGE,
    codes: UNDEFINED_CODES,
    basicCodes: [552, 554],
    text: anyOf([
      /delivery error: dd\b.{0,100}\bthis (?:user|account|mail ?box) (?:does not|doesn'?t) have an? \S+ account/,
      /delivery error: dd\b.{0,100}\bthis (?:user|account|mail ?box) (?:is|has been) (?:disabled|discontinued|deactivated|closed)/,
      /delivery error: dd\b.{0,100}\bno longer (?:valid|exists?|active|in use)/,
      /your message to .{0,100}cannot be delivered\. this (?:account|mail ?box) (?:is|has been) (?:disabled|discontinued|deactivated|closed)/,
      /requested mail action aborted,? mail ?box not found/,
    ]),
  },

  {
    about: "message",
    class: "content",
    isVague: true,
    text: anyOf([
      /(?:message|mail|e-?mail|data|attachment|body)\b.{0,30}\b(?:too (?:large|big|long))/,
      /(?:message|mail|header|body)? ?(?:file )?size (?:\w+ ){0,3}(?:exceed|limit)|exceed(?:s|ed)? (?:\S+ ){0,4}(?:message )?size|databytes limit/,
      /virus|malware|infected|phish|trojan/,
      /spam|unsolicited|\bjunk|\buribl\b|bulk (?:e-?)?mail|mass mailer|black ?listed (?:url|link)/,
      /(?:message|banned|unsafe|suspicious|potentially|blocked|its|prohibited) ?content|content (?:reject|filter|presents|rejected)|security issue/,
      /rfc ?[25]?[28]22|(?:missing|invalid|multiple|duplicate) (?:\S+ )?headers?/,
    ]),
  },
  {
    // A relay that says this does not know us; the server of a domain does not serve that domain.
    about: "account",
    class: "policy",
    isVague: true,
    text: anyOf([
      /relay(?:ing)? (?:access )?(?:is )?(?:denied|disallowed|not permitted|not allowed|prohibited)|not permitted to relay|(?:unable|not able|refuse[sd]?) to relay|allowed rcpthosts|\bas a relay\b/,
    ]),
  },
  {
    // Before the message, a refusal that names our address is about that address.
    about: "account",
    class: "reputation",
    at: BEFORE_MESSAGE,
    only: "permanent",
    isVague: true,
    codes: ["", "0.0", "7.0", "7.1"],
    text: anyOf([IP_ADDRESS]),
  },
  {
    // Not the choice of one recipient, who may refuse a sender as well.
    about: "sender",
    class: "policy",
    isVague: true,
    unless: /\b(?:recipient|user|account|mail ?box|customer|preferences?|personal)\b/i,
    text: anyOf([
      /\bsender (?:address )?(?:is |was |has been )?(?:rejected|refused|blocked|denied|banned|not accepted)|badmailfrom/,
    ]),
  },
  {
    about: "message",
    class: "policy",
    isVague: true,
    text: anyOf([
      /polic(?:y|ies)/,
      /access (?:is )?denied|permission denied|administrative(?:ly)? prohib/,
      /whitelist|(?:sender|message|mail|connection|connections) (?:\w+ )?(?:rejected|refused|blocked)|badmailfrom/,
    ]),
  },

  // Codes whose meaning no text has changed.
  {
    // Some servers use the codes of the recipient for the sender.
    about: "sender",
    class: "infrastructure",
    meansSender: true,
    codes: ["1.1", "1.2", "1.3", "1.6", "1.10", "2.1"],
    unless: /\baccept/i,
  },
  { about: "recipient", class: "mailbox_full", codes: ["2.2"] },
  { about: "message", class: "content", codes: ["2.3", "3.4"] },
  {
    about: "recipient",
    class: "no_such_recipient",
    only: "permanent",
    at: [...AT_RECIPIENT, ...AT_MESSAGE],
    codes: ["1.1", "1.2", "1.3", "1.6", "1.10"],
  },
  {
    // X.2.1 is a disabled mailbox; with 521 a host that takes no mail at all (RFC 7504 §3).
    about: "recipient",
    class: "no_such_recipient",
    only: "permanent",
    at: AT_RECIPIENT,
    basicCodes: [550, 551, 552, 553, 554],
    codes: ["2.1"],
  },
  {
    // After the message, it is a disabled mailbox only if the words say so.
    about: "recipient",
    class: "no_such_recipient",
    only: "permanent",
    at: AT_MESSAGE,
    codes: ["2.1"],
    text: anyOf([
      /(?:user|account|mail ?box|recipient|addressee)\b.{0,40}\b(?:disabled|inactive|unknown|not found|not exist|deactivated|discontinued|closed|deleted)/,
    ]),
  },
  { about: "sender", class: "infrastructure", codes: ["1.7", "1.8"] },
  { about: "account", class: "rate_limited", codes: ["4.5"] },
  { about: "message", class: "rate_limited", codes: ["5.3"] },
  {
    // The words with which RFC 5321 §4.2.3 defines 552. With other words it may be any limit.
    about: "recipient",
    class: "mailbox_full",
    basicCodes: [552],
    at: [...AT_RECIPIENT, ...AT_MESSAGE],
    codes: UNDEFINED_CODES,
    text: /^(?:requested (?:mail )?action aborted\W*)?$/i,
  },
];

/** Joins expressions to one case-insensitive expression, because one match is faster than ten. */
function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map((pattern) => pattern.source).join("|"), "i");
}
