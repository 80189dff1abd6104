/**
 * Texts of SMTP replies: phrases of known servers and providers, each with its class
 * (docs/delivery.md#R1). The first match wins, so specific phrases come before general ones.
 */

import type { ReplyClass } from "./reply-classes.ts";

type KnownText = { readonly class: ReplyClass; readonly pattern: RegExp };

/** Temporary refusals of unknown senders; a permanent reply is never greylisting. */
export const GREYLISTING: RegExp = anyOf([
  /gr[ea]y-?\s?list/,
  // Greylisting of Mimecast contains neither that word nor a time.
  /internal resources? (?:are |is )?temporarily (?:unavailable|not available)/,
]);

export const KNOWN_TEXTS: readonly KnownText[] = [
  {
    class: "rate_limited",
    pattern: anyOf([
      /rate[- ]?limit/,
      /limit(?:ing)? (?:on )?(?:the )?(?:message |connection |sending )?rate/,
      /unusual rate/,
      /(?:unexpected|excessive|high) (?:e-?mail |message |mail )?volume/,
      /receiving (?:e-?mail|mail|messages) (?:too quickly|at a rate)/,
      /too many (?:simultaneous |concurrent |new |smtp )?(?:connections?|messages?|e-?mails?|sessions?|recipients?|errors|requests)/,
      /too much mail/,
      /(?:sending|relay|daily|hourly|connection|message|messages|recipient) (?:quota|limit) (?:has been |was )?(?:exceeded|reached)/,
      /exceed(?:s|ed|ing)? (?:the |your |its )?(?:maximum )?(?:allowed )?(?:permitted limits|sending|connection|connections|message rate|messages per)/,
      /max(?:imum)? messages? per connection/,
      /limits? (?:for|on) how many messages/,
      /mail flood|throttl/,
    ]),
  },
  {
    // Faults of this installation: its DNS, host name, log-in or TLS.
    class: "infrastructure",
    pattern: anyOf([
      /reverse[- ](?:dns|host ?name|lookup|resolution|mapping)|\b(?:fc)?r-?dns\b|\bptr\b/,
      /cannot find your (?:reverse )?host ?name/,
      /helo command rejected|(?:invalid|bad|unqualified|fake) (?:helo|ehlo)|need fully-qualified host ?name/,
      /sender (?:address|domain|email|mailbox|e-?mail address)\b.{0,60}(?:not found|not exist|n'?t exist|resolve|unknown|undeliverable|unverified|invalid)/,
      /domain of sender (?:address )?.{0,80}(?:does ?n[o']t|could not|cannot|not found)/,
      /(?:sender|return path|envelope from|callback|callout) ?(?:address )?(?:verify|verification) (?:failed|failure)|verification failed for/,
      /(?:starttls|tls|ssl|encryption|secure connection) (?:is |connection )?(?:required|needed)|must (?:issue|use) (?:a )?(?:starttls|tls)|not (?:sent|received) over (?:a )?tls/,
      /authentication (?:is )?required|(?:smtp|client) (?:was |is )?not authenticated|client was not authenticated|username and password not accepted|(?:authentication|login) credentials/,
    ]),
  },
  {
    class: "authentication",
    pattern: anyOf([
      /\b(?:spf|dkim|dmarc|domainkeys)\b/,
      /sender policy framework|unauthenticated|required authentication level|spoof/,
    ]),
  },
  {
    class: "reputation",
    pattern: anyOf([
      /spam ?haus|spamcop|barracuda(?:central|networks)|\bsorbs\b|uceprotect|abusix|manitu|invaluement|sender ?score|spamrats|backscatterer|cloudmark sender/,
      /dns-?bl|\b(?:rbl|sbl|xbl|pbl|csi|zen)\b/,
      /(?:block|black|deny)[- ]?list/,
      /reputation/,
      /banned sending ip|bad outbound sender|banned sender|spam abuse detected/,
      /blocked using|blocked - see|blocked by \S*(?:senderbase|trustedsource|talos)/,
      /ipcheck\.proofpoint|csi\.(?:mimecast|cloudmark)/,
      /not authorized to send e-?mail directly|connections? (?:will )?not (?:be )?accepted from|traffic not accepted from this ip|dynamic ip/,
      /\[bl\d+\]|\b(?:s3140|s3150)\b|\b(?:sc|dy|ou)-00\d\b/,
      /(?:your|sending|client) (?:ip|host|server|network)(?: address)? (?:\S+ )?(?:is|has been|was) (?:\w+ )?(?:blocked|banned|listed|denied)/,
      /user complaints|likely suspicious due to the very low/,
    ]),
  },
  {
    class: "mailbox_full",
    pattern: anyOf([
      /over ?-?quota|quota (?:is |has been |was |limit )?(?:exceeded|full|reached)|exceed(?:s|ed|ing)? (?:the |his |its |their )?(?:\w+ )?quota/,
      /(?:mail ?box|inbox|mail ?drop|account|user|recipient|storage)\b.{0,30}\b(?:full|out of (?:storage|space))/,
      /exceeded storage allocation|(?:mail ?box|storage|disk) (?:size |space |storage )?(?:limit|exceeded)/,
    ]),
  },
  {
    class: "content",
    pattern: anyOf([
      /(?:message|mail|e-?mail|data|attachment|body)\b.{0,30}\b(?:too (?:large|big|long))/,
      /(?:message|mail|header|body)? ?(?:file )?size (?:\w+ ){0,3}(?:exceed|limit)|exceed(?:s|ed)? (?:\S+ ){0,4}(?:message )?size|databytes limit/,
      /virus|malware|infected|phish|trojan/,
      /\bspam|unsolicited|\bjunk/,
      /(?:message|banned|unsafe|suspicious|potentially|blocked|its|prohibited) ?content|content (?:reject|filter|presents|rejected)|security issue/,
      /rfc ?[25]?[28]22|(?:missing|invalid|multiple|duplicate) (?:\S+ )?headers?/,
    ]),
  },
  {
    class: "policy",
    pattern: anyOf([
      /polic(?:y|ies)/,
      /relay(?:ing)? (?:access )?(?:is )?(?:denied|not permitted|not allowed|prohibited)|not permitted to relay|allowed rcpthosts/,
      /access (?:is )?denied|permission denied|administrative(?:ly)? prohib/,
      /whitelist|(?:sender|message|mail|connection|connections) (?:\w+ )?(?:rejected|refused|blocked)|badmailfrom/,
    ]),
  },
];

/** Texts of 550, 551 and 553 to RCPT that say that the mailbox does not exist. */
export const UNKNOWN_RECIPIENT: RegExp = anyOf([
  /(?:user|recipient|mail ?box|account|addressee|address|alias|local part)\b.{0,40}\b(?:unknown|not found|not known|does not exist|doesn'?t exist|no longer (?:exists|valid|available|in use))/,
  /(?:user|mail ?box|recipient|address) (?:do(?:es)? )?not exists?/,
  /(?:unknown|no such|non-?existent) (?:virtual |local |e-?mail )?(?:user|recipient|mail ?box|account|address|alias|person|local part|or illegal alias)/,
  /no (?:mail ?box|user|account|one) (?:here|by that name|with that)/,
  /(?:invalid|not a valid|not a known|bad) (?:user|recipient|mail ?box|destination mail ?box|addressee)/,
  /mail ?box (?:is )?(?:unavailable|not available|inactive|disabled|not found)|mail ?box name (?:is )?not allowed/,
  /(?:user|account|mail ?box) (?:is |has been |was )?(?:terminated|deleted|removed|closed|deactivated|discontinued|disabled)/,
  /user not local|unrout(?:e)?able address|(?:does not|doesn'?t) have an? \S+ account/,
]);

/**
 * Texts of 552 and 554 to the message that say the same. Yahoo and related services check the
 * mailbox only then. The list is short, because other refusals at this step concern the message.
 */
export const UNKNOWN_RECIPIENT_LATE: RegExp = anyOf([
  /delivery error: dd\b.{0,100}\bthis (?:user|account|mail ?box) (?:does not|doesn'?t) have an? \S+ account/,
  /delivery error: dd\b.{0,100}\bthis (?:user|account|mail ?box) (?:is|has been) (?:disabled|discontinued|deactivated|closed)/,
  /your message to .{0,100}cannot be delivered\. this (?:account|mail ?box) (?:is|has been) (?:disabled|discontinued|deactivated|closed)/,
  /requested mail action aborted,? mail ?box not found/,
]);

/** Joins expressions to one case-insensitive expression, because one match is faster than ten. */
function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map((pattern) => pattern.source).join("|"), "i");
}
