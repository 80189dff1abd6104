/**
 * Decides by the words of an unknown name whether the caller expects an effect that must not be missing
 * in silence: another content, other recipients or another time of a mail, the consent of a person, a
 * request that only tries, or fewer items in a list. foreign-fields.ts has the names that have a
 * counterpart here; this file is for all others, also of services that are not in that table.
 *
 * A name is split into words at capitals, digits and signs: `ccAddresses`, `cc_addresses` and
 * `h:Reply-To`. A name in small letters only, such as `dryrun`, is compared by its beginning and end.
 */

import { withoutImitation } from "./route-path.ts";

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Words about a request that only tries, or that means fewer than all. */
const GENERAL = setOf(
  "dry simulate sandbox mock fake live exclude excluded except only test testing",
);

/** Words about a mail: its recipients, content, time and tracking. */
const SENDING = setOf(`
  date datetime env environment mirror mode recurring repeat time trigger when
  address addressee amp analytics arg asm async attach attachment audience batch bcc body bounce
  broadcast callback campaign cap category cc channel charset cid click confirm consent content
  copy css custom data deadline defer delay delivery deliver dkim domain draft email encoding
  encrypt endpoint envelope excerpt expire expiration expiry file filter footer from group header
  html idempotency image importance inline ip lang language layout limit link list locale mail
  mailing markdown marketing max mbox member merge meta metadata mime mjml notify open opt param
  part path personal personalization personalize plain pool preferences preheader preview priority
  push queue quota rate receipt recipient reply replacement resend retry return schedule segment
  send sender sent sign signature skip sms stream style subaccount subject subscribe subscription
  substitution summary suppress suppression tag target template text theme throttle timezone title
  to topic track tracking transactional ttl unsubscribe url utm validate validity variable variant
  var version webhook winner wrap`);
/** The names of these that ordinary additional data of a caller may have as well. */
const SENDING_AT_TOP_ONLY = setOf("title meta data");

/** Words about people: their consent, their groups and what happens to them. */
const PEOPLE = setOf(`
  active archived attribute audience automation automatically blacklist blacklisted blocklist
  blocklisted bounced category channel cleaned complained confirm confirmed consent deleted disabled
  double duplicate email enabled field gdpr group inactive list marketing merge newsletter opt optin
  optout overwrite permission preference property replace segment skip state status subscribe
  subscribed subscription suppress suppressed suppression tag topic trait trigger unsubscribe
  unsubscribed update upsert verified welcome workflow
  not no dnc dnd blocked banned removed gone left spam cancelled canceled mailable deliverable
  emailable contactable allowed sub unsub stop mute muted paused pending invalid bounce complaint
  churned agree agreed accept accepts wants`);

/** Words about when an event happened: it would be recorded as one of now. */
const EVENT_TIMES = setOf("time timestamp date datetime occurred happened when");

/** Words about which items a list shows, and in which order. */
const FILTERS = setOf(`
  action active after address archived asc ascending audience before bounced campaign category clicked
  complained contact contains created date day deleted delivered desc descending direction domain
  email enabled end ended eq equals event field filter find first from group gt gte id interval in is
  keyword kind last like limit list lookup lt lte mail match max min month name ne newest not offset
  oldest opened opt order page pattern per phrase prefix q query range reason recipient role search
  segment sender sent since size skip sort source start starts state status subject subscribed suffix
  tag take template term text time to token type unsubscribed until updated url user verified week
  where workflow year`);
/** Parameters of browsers, proxies and clients that no filter is meant by. */
const NO_FILTER =
  /^(?:utm_.*|_+|_?t|ts|_?v|cb|nocache|cachebust(?:er)?|timestamp|api_?key|access_?token|format|pretty|fields?|include|expand|debug|trace|(?:request|correlation|trace)_?id)$/i;

/** Shortest word by which a name without capitals and signs may begin or end. */
const MIN_COMPACT = 4;

export type Purpose = "sending" | "people" | "events" | "other";

export function purposeOf(route: string): Purpose {
  const path = withoutImitation(route);
  if (/^\/(?:v1\/send|campaigns|templates|emails)(?:\/|$)/.test(path)) return "sending";
  if (/^\/v1\/track(?:\/|$)/.test(path)) return "events";
  return /^\/(?:v1\/)?(?:contacts|suppressions|segments)(?:\/|$)/.test(path) ? "people" : "other";
}

const MAX_LENGTH = 200;

/** Whether an unknown field of a body may mean an effect. `isInner`: it is inside another field. */
export function isSignificantField(name: string, purpose: Purpose, isInner: boolean): boolean {
  if (hasWord(name, GENERAL)) return true;
  if (purpose === "people") return !isInner && hasWord(name, PEOPLE);
  if (purpose === "events") {
    return !isInner && (hasWord(name, PEOPLE) || hasWord(name, EVENT_TIMES));
  }
  if (purpose !== "sending") return false;
  if (/^[hovt]:/i.test(name)) return true;
  return isInner ? hasWord(name, INNER_SENDING) : hasWord(name, SENDING);
}

const INNER_SENDING: ReadonlySet<string> = new Set(
  [...SENDING].filter((word) => !SENDING_AT_TOP_ONLY.has(word)).concat("type", "kind", "role"),
);

/** Whether an unknown parameter of a query may mean a filter, an order or another effect. */
export function isSignificantParameter(
  name: string,
  { isChange, purpose, members }: Operation,
): boolean {
  if (NO_FILTER.test(name)) return false;
  if (isChange) return isSignificantField(name, purpose, false);
  const [first = ""] = name.split(/[[\].]|__/, 1);
  return (
    hasWord(name, GENERAL) || (members?.has(first) ?? false) || (members !== null && isFilter(name))
  );
}

/** Whether a parameter says which items are shown. */
export const isFilter = (name: string): boolean => hasWord(name, FILTERS);

/** `members` are those of the items of a list; null for an answer that has no filters. */
export type Operation = {
  isChange: boolean;
  purpose: Purpose;
  members: ReadonlySet<string> | null;
};

function hasWord(name: string, words: ReadonlySet<string>): boolean {
  const parts = name
    .slice(0, MAX_LENGTH)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((part) => part !== "");
  if (parts.some((part) => words.has(part) || words.has(singular(part)))) return true;
  const compact = parts.length === 1 ? singular(parts[0] ?? "") : "";
  if (compact.length <= MIN_COMPACT) return false;
  return [...words].some(
    (word) =>
      (word.length >= MIN_COMPACT && (compact.startsWith(word) || compact.endsWith(word))) ||
      ((word === "cc" || word === "bcc" || word === "dry") && compact.startsWith(word)),
  );
}

/** `addresses` and `categories` are plurals of words in the lists. */
function singular(word: string): string {
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.endsWith("sses")) return word.slice(0, -2);
  return word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
