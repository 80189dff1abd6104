/**
 * Reads from a file whether a person wants mail. Other mail services export it as a status
 * (`blocklisted`, `Cleaned`), as a flag (`unsubscribed`) or as a time (`UNSUB_TIME`). The words are
 * those of Mailchimp, listmonk, Brevo, SendGrid, Mailgun, Postmark, Amazon SES, Resend, Plunk, Kit,
 * Klaviyo, MailPoet, Buttondown and ActiveCampaign. A word that is not in the table is never
 * guessed.
 */

import { bareWord, isNo, isTime, isYes } from "./leaving-words.ts";

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

export type StandingColumn =
  | { kind: "status" | "wanted" }
  /** `isReason`: any text is a reason for which the person left. */
  | { kind: "left"; standing: Exclude<Standing, "SUBSCRIBED">; isReason?: boolean };

/** The meaning of a column by its name; null if the name says nothing about it. */
export function standingColumn(name: string): StandingColumn | null {
  const word = bareWord(name);
  if (STATUS_COLUMNS.has(word)) return { kind: "status" };
  if (WANTED_COLUMNS.has(word)) return { kind: "wanted" };
  const standing = STANDING_OF_FLAG.get(word);
  return standing === undefined ? null : { kind: "left", standing };
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
  { standing, isReason = false }: Extract<StandingColumn, { kind: "left" }>,
  words: StatusWords,
): Standing | null | undefined {
  if (isNo(cell)) return null;
  const status = readStatus(cell, words);
  const isLeft = status === undefined && (isReason || isYes(cell) || isTime(cell));
  return isLeft ? standing : status;
}

/** The meaning of a cell in a column of flags that say that the person is subscribed. */
export function readWanted(cell: string, words: StatusWords): Standing | null | undefined {
  if (isNo(cell)) return "UNSUBSCRIBED";
  const status = readStatus(cell, words);
  return status === undefined && isYes(cell) ? "SUBSCRIBED" : status;
}

/** The standing that keeps most mail away. */
export function strictest(standings: readonly Standing[]): Standing | null {
  return STANDINGS.findLast((standing) => standings.includes(standing)) ?? null;
}

/** SendGrid gives the enhanced status of the bounce (RFC 3463 §2): 5.1.x is a bad address. */
function enhancedStatus(text: string): Standing | undefined {
  return /^5\.(?:1\.\d{1,2}|0\.0|2\.1)$/.test(text) ? "HARD_BOUNCE" : undefined;
}
