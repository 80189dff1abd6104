/**
 * What a file says about whether a person wants mail. Other mail services export it as a status
 * (`blocklisted`, `Cleaned`), as a flag (`unsubscribed`) or as a time (`UNSUB_TIME`). The words are
 * those of Mailchimp, listmonk, Brevo, SendGrid, Mailgun, Postmark, Amazon SES, Resend, Plunk, Kit,
 * Klaviyo, MailPoet, Buttondown and ActiveCampaign. A word that is not in the table is never guessed.
 */

/** A reason of a suppression, or whether the person is subscribed. */
export const STANDINGS = [
  "SUBSCRIBED",
  "UNSUBSCRIBED",
  "MANUAL",
  "HARD_BOUNCE",
  "COMPLAINT",
] as const;
export type Standing = (typeof STANDINGS)[number];

/** Meaning of words that the caller adds, by their `bareWord`; null for one that says nothing. */
export type StatusWords = ReadonlyMap<string, Standing | null>;

const WORDS: Readonly<Record<Standing, string>> = {
  SUBSCRIBED: `subscribed enabled active confirmed optedin optin verified member regular`,
  UNSUBSCRIBED: `unsubscribed unsubscribe unsub unsubscribes optedout optout left nonsubscribed
    notsubscribed neversubscribed unconfirmed pending disabled inactive unactivated deactivated
    cancelled canceled archived deleted removed transactional globalunsubscribe groupunsubscribe
    unsubscribedbyadmin`,
  MANUAL: `blocklisted blacklisted blocklist blacklist blocked suppressed manual manualsuppression
    adminblocked banned donotmail donotemail donotcontact`,
  HARD_BOUNCE: `bounced bounce hardbounce hardbounced hardbounces cleaned invalid invalidemail
    undeliverable permanentbounce`,
  COMPLAINT: `complained complaint complaints spam spamcomplaint spamreport spamreported
    spamcomplaints reportedspam markedasspam abuse abusecomplaint`,
};

const STANDING_OF_WORD = new Map(
  STANDINGS.flatMap((standing) =>
    WORDS[standing].split(/\s+/).map((word) => [word, standing] as const),
  ),
);

/** Words that no column contains but one that says who left. */
const SPEAKING_WORDS = new Set(
  `unsubscribed unsubscribe optedout nonsubscribed notsubscribed neversubscribed blocklisted
   blacklisted cleaned bounced hardbounce hardbounced complained spamcomplaint spamreport
   manualsuppression`.split(/\s+/),
);

const STATUS_COLUMNS = new Set(
  `status subscriptionstatus subscriberstatus subscribestatus emailstatus emailmarketingstatus
   emailmarketingconsent marketingstatus marketingconsent memberstatus contactstatus liststatus
   suppressionreason subscribertype consentstatus emailconsent`.split(/\s+/),
);

const FLAG_COLUMNS: Readonly<Record<Exclude<Standing, "SUBSCRIBED">, string>> = {
  UNSUBSCRIBED: `unsubscribed isunsubscribed globallyunsubscribed unsubscribedfromallemail
    unsubscribedfromallemails optedout optout emailoptout hasoptedoutofemail unsubtime unsubscribetime
    unsubscribedtime unsubscribedat unsubscribedate unsubscribedon dateunsubscribed unsubscribeddate
    optouttime optoutat optoutdate optedoutat isexcludedfromcampaigns emailsdisabled emaildisabled`,
  MANUAL: `emailblacklisted blacklisted isblacklisted emailblocklisted blocklisted isblocklisted
    suppressed issuppressed emailsuppressed donotemail donotmail donotcontact blocklistedat
    blacklistedat suppressedat`,
  HARD_BOUNCE: `bounced isbounced hardbounced emailbounced cleaned cleantime cleanedat cleaneddate
    bouncedat bouncedate bounceddate bouncetime hardbouncedat`,
  COMPLAINT: `complained complaint hascomplained spamcomplaint complainedat complaintdate
    complainttime spamreportedat markedasspam`,
};

const STANDING_OF_FLAG = new Map(
  (["UNSUBSCRIBED", "MANUAL", "HARD_BOUNCE", "COMPLAINT"] as const).flatMap((standing) =>
    FLAG_COLUMNS[standing].split(/\s+/).map((name) => [name, standing] as const),
  ),
);

/** Flags that say that the person is subscribed. */
const WANTED_COLUMNS = new Set(
  `issubscribed emailsubscribed subscribedtoemails subscribedtoemail acceptsmarketing
   acceptsemailmarketing optin optedin emailoptin marketingoptin optinemail`.split(/\s+/),
);

/** Names that say something of this kind, but not what. */
const SUSPECT =
  /^(?:is)?(?:active|enabled|disabled)$|^newsletters?$|abgemeldet|abbestellt|d[eé]sabonn|desuscri|disiscri|uitgeschreven|unsub|bounce|complain|suppress|bl(?:ack|ock)list|opt(?:ed)?(?:in|out)|consent|spamreport|donot(?:e?mail|contact)|(?:subscri(?:ber|ption)|e?mail|contact|member|list|marketing)status$/;
/** The end of a name that says something about the event and not whether it happened. */
const COMPANION =
  /(?:ids?|ip|reasons?|reasonother|otherreason|campaign|campaigntitle|title|url|link|source|counts?|total|rate|by|code|type|message|text|version)$/;
/** `OPTIN_TIME` of Mailchimp is given for every person who ever subscribed. */
const OPT_IN_TIME = /(?:optin|optedin|consent)(?:time|date|at|on)$/;

const NO = new Set(["false", "0", "no", "n", "f", "null", "none", "never", "-", "nein", "non"]);
const YES = new Set(["true", "1", "yes", "y", "t", "x", "ja", "oui", "si"]);
/** A date in any order, or seconds of an epoch. */
const TIME = /^\d{4}[-/.]\d|^\d{1,2}[-/.]\d{1,2}[-/.]\d|^\d{9,13}$|^[a-z]{3,9},? \d{1,2}\b/i;
const LONGEST_WORD = 60;

/** The letters and digits of a name or word, in lower case: `UNSUB_TIME` is `unsubtime`. */
export function bareWord(text: string): string {
  return text
    .slice(0, LONGEST_WORD)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");
}

export type StandingColumn =
  { kind: "status" | "wanted" } | { kind: "left"; standing: Exclude<Standing, "SUBSCRIBED"> };

/** The meaning of a column by its name; null if the name says nothing about it. */
export function standingColumn(name: string): StandingColumn | null {
  const word = bareWord(name);
  if (STATUS_COLUMNS.has(word)) return { kind: "status" };
  if (WANTED_COLUMNS.has(word)) return { kind: "wanted" };
  const standing = STANDING_OF_FLAG.get(word);
  return standing === undefined ? null : { kind: "left", standing };
}

/** True if the name is about who left, but its meaning is not known. */
export function isSuspectName(name: string): boolean {
  const word = bareWord(name);
  return SUSPECT.test(word) && !COMPANION.test(word) && !OPT_IN_TIME.test(word);
}

/** True if a value in a column of any name shows that the column says who left. */
export function isSpeakingWord(cell: string): boolean {
  return cell.length <= LONGEST_WORD && SPEAKING_WORDS.has(bareWord(cell));
}

/** The meaning of a status; undefined for an unknown word, null for one that says nothing. */
export function readStatus(cell: string, words: StatusWords): Standing | null | undefined {
  const word = bareWord(cell);
  const own = words.get(word);
  return own === undefined ? (STANDING_OF_WORD.get(word) ?? enhancedStatus(cell.trim())) : own;
}

/**
 * The meaning of a flag, a time or a reason in a column of people who left: null if the person did
 * not leave, undefined if the cell cannot be read.
 */
export function readLeft(
  cell: string,
  standing: Standing,
  words: StatusWords,
): Standing | null | undefined {
  const word = bareWord(cell);
  if (NO.has(word) || word === "") return null;
  if (YES.has(word) || TIME.test(cell.trim())) return standing;
  return readStatus(cell, words);
}

/** The meaning of a cell in a column of flags that say that the person is subscribed. */
export function readWanted(cell: string, words: StatusWords): Standing | null | undefined {
  const word = bareWord(cell);
  if (NO.has(word)) return "UNSUBSCRIBED";
  if (YES.has(word)) return "SUBSCRIBED";
  return readStatus(cell, words);
}

/** The standing that keeps most mail away. */
export function strictest(standings: readonly Standing[]): Standing | null {
  return STANDINGS.findLast((standing) => standings.includes(standing)) ?? null;
}

/** SendGrid gives the enhanced status of the bounce (RFC 3463 §2): 5.1.x is a bad address. */
function enhancedStatus(text: string): Standing | undefined {
  return /^5\.(?:1\.\d{1,2}|0\.0|2\.1)$/.test(text) ? "HARD_BOUNCE" : undefined;
}
