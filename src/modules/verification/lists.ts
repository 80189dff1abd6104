/**
 * Classifies domains without network requests, by lists from packages that are part of the
 * executable.
 */

import spellChecker from "@zootools/email-spell-checker";
import { disposableEmailBlocklistSet } from "disposable-email-domains-js";
import providers from "email-providers/all.json" with { type: "json" };
import commonProviders from "email-providers/common.json" with { type: "json" };

/** Date on which the lists of disposable and personal providers were published. */
export const LISTS_DATE = "2026-09-21";

const disposable = disposableEmailBlocklistSet();
const personal = new Set<string>(providers);
const common = new Set<string>(commonProviders);

/** Services that forward mail and hide the real address behind a separate alias for each sender. */
const ALIAS_DOMAINS = new Set([
  "addy.io",
  "aleeas.com",
  "anonaddy.com",
  "anonaddy.me",
  "dralias.com",
  "duck.com",
  "mozmail.com",
  "passinbox.com",
  "passmail.com",
  "passmail.net",
  "privaterelay.appleid.com",
  "relay.firefox.com",
  "silomails.com",
  "simplelogin.co",
  "simplelogin.com",
  "simplelogin.fr",
  "slmail.me",
  "slmails.com",
]);

/** Shortest provider name that is suggested as a correction. */
const MIN_CORRECTED_LENGTH = 4;

/** Also checks all parent domains, because disposable services offer subdomains. */
export function isDisposableDomain(domain: string): boolean {
  return withParents(domain).some((name) => disposable.has(name));
}

export function isPersonalDomain(domain: string): boolean {
  return personal.has(domain) && !isDisposableDomain(domain) && correctedDomain(domain) === null;
}

export function isAliasDomain(domain: string): boolean {
  return withParents(domain).some((name) => ALIAS_DOMAINS.has(name));
}

/**
 * The common provider whose misspelling this domain is, or null. Only common providers are
 * suggested: a domain that resembles another name was probably chosen on purpose.
 */
export function correctedDomain(domain: string): string | null {
  if (common.has(domain)) return null;
  const suggestion = spellChecker.run({ email: `someone@${domain}` })?.domain;
  if (suggestion === undefined || !common.has(suggestion)) return null;
  return isMisspellingOf(firstLabel(domain), firstLabel(suggestion)) ? suggestion : null;
}

/**
 * Excludes short names, which resemble too many others: `acme.com` is not a misspelling of
 * `me.com`.
 */
function isMisspellingOf(written: string, intended: string): boolean {
  if (written === intended) return true;
  return intended.length >= MIN_CORRECTED_LENGTH && Math.abs(written.length - intended.length) <= 1;
}

function firstLabel(domain: string): string {
  return domain.split(".")[0] ?? "";
}

/** The domain and its parents: `a.b.example.com`, `b.example.com`, `example.com`. */
function withParents(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
}
