/**
 * Phrases about the DNS in replies and reports (docs/delivery.md#W2). The domain of the recipient
 * does not exist, or takes no mail: there is no such recipient. If the DNS gave no answer, or one
 * that cannot be used, nothing is known about the recipient. A text that says both means the
 * second.
 */

/** The DNS gave no answer, or one that cannot be used. */
export const DNS_FAILURE = anyOf([
  /\bserv ?fail\b|\bdns server failure|(?:code|rcode|status|error|answer)\W{0,3}(?:refused|formerr|notimp|notauth|bogus)\b|\bdnssec\b/,
  /\b(?:dns|name ?servers?|name service|resolver|mx|cname|a record|aaaa|soa|domain|host(?: ?name)?)(?: (?:look-?ups?|quer(?:y|ies)|requests?|resolution|resolving|record|records|server|servers|service))*(?: (?:for|of) \S{1,255})? (?:has |have |is |was |did )?(?:temporar(?:y|ily) )?(?:fail(?:s|ed|ure|ing)?|errors?|time ?d? ?-?out|problems?|deferred|unavailable|incomplete|unreachable|not (?:complete|respond(?:ing)?|available|reachable|working)|did not (?:complete|respond|answer))\b(?!.{0,160}(?:nxdomain|host not found(?!, try again)|no such (?:host|domain)|(?:domain )?name not found|does not exist|no relevant answers))/,
  /(?:host|domain|name) not found,? (?:please )?try again|host or domain name not found.{0,120}(?:try again|temporar)|malformed or unexpected name server reply/,
  /(?:temporar(?:y|ily)|transient)(?: \S{1,20}){0,2} (?:in |of )?(?:name|dns|domain|mx|host) ?(?:server )?(?:resolution|look-?up|resolving)|(?:look-?ups?|resolution) (?:has |have )?(?:failed temporarily|timed out)/,
  /\b(?:getaddrinfo|enotfound|eai_again|esrvfail|eservfail|etimeout|erefused|econnrefused querying)\b|no name ?servers? (?:found|could be reached|reachable|respond|available|for)|name ?servers? (?:\S{1,255} )?(?:returned (?:an )?(?:error|failure)|(?:is|are) (?:broken|lame|not responding))/,
  /(?:unable to|can(?:no|')?t|could(?: not|n'?t)|cannot|failed to|failure to) (?:resolve|look ?up|query)\b(?!.{0,160}(?:nxdomain|no such (?:host|domain)|does not exist))/,
  /violates rfc 1035/,
]);

/** The domain to which the mail goes does not exist, or takes no mail. */
export const NO_SUCH_DOMAIN = anyOf([
  /\bnx ?domain\b|non-?existent domain/,
  /host or domain name not found|name server: (?:\S{1,255}: )?host not found/,
  /(?:cannot|can'?t|couldn'?t|could not|unable to) (?:find|locate) (?:any |a |the )?(?:host named|domain|mail exchanger)/,
  /couldn'?t find any host (?:named|by that name)|no such (?:domain|host)\b|unrouteable mail domain/,
  /\b(?:has |had |with )?(?:no|neither)(?: valid| usable)? (?:mx|mail exchanger|a|address)(?: records?)?(?:,? (?:and|or|nor|no) (?:\S{1,10} )?(?:a|aaaa|address|mx)(?:\/aaaa)?)? records?\b|had no relevant answers/,
  /(?:recipient )?domain (?:name )?(?:\S+ )?(?:does(?: not|n'?t) exist|was not found|not found|couldn'?t be found|could not be found|is invalid)/,
  /the domain \S{1,200} couldn'?t be found|host unknown|does not accept (?:e-?)?mail \(null ?mx\)|null ?mx\b/,
  /name or service not known|unknown host\b|mail domain .{0,60}is unknown|mail ?host .{0,60}(?:unknown|not found)/,
  /all relevant mx records point to non-existent hosts|dns domain \S{1,200} does not exist|domain of (?:the )?recipient (?:\S{1,255} )?does not exist/,
  /domain .{1,80} existiert nicht|le domaine .{1,80} n'existe pas|el dominio .{1,80} no existe/,
]);

/** The words with which servers say which name they looked up. */
const HOST = String.raw`[<"'([]?([\p{L}\d_][\p{L}\d_.-]{0,254})`;
const LOOKED_UP = new RegExp(
  [
    String.raw`\bname=${HOST} type=`,
    String.raw`\blook-?up (?:of )?${HOST}(?: on \S{1,255})?: no such host`,
    String.raw`\blook-?up of ${HOST} (?:responded|returned|failed)`,
    String.raw`\bname server: ${HOST}: host not found`,
    String.raw`\b(?:any host named|unknown host:?) ${HOST}`,
  ].join("|"),
  "iu",
);

/**
 * Whether a text says that another name than the domain was not found: the relay of the server that
 * writes, or a host of the domain.
 */
export function isAboutOtherHost(text: string, domain: string): boolean {
  const name = LOOKED_UP.exec(text)
    ?.slice(1)
    .find((each) => each !== undefined);
  const host = name?.toLowerCase().replace(/\.$/, "") ?? "";
  return host.includes(".") && host !== domain.toLowerCase();
}

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map((pattern) => pattern.source).join("|"), "iu");
}
