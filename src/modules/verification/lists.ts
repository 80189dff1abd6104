/** What is known of domains without asking anybody: lists of kept packages, in the executable. */

import spellChecker from "@zootools/email-spell-checker";
import { disposableEmailBlocklistSet } from "disposable-email-domains-js";
import providers from "email-providers/all.json" with { type: "json" };
import commonProviders from "email-providers/common.json" with { type: "json" };

/** When the lists of disposable and personal providers were published. */
export const LISTS_DATE = "2026-09-21";

const disposable = disposableEmailBlocklistSet();
const personal = new Set<string>(providers);
const common = new Set<string>(commonProviders);

/** Services that forward mail and hide the real address behind one made for each sender. */
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

const SHORTEST_SLIP = 4;

/** The domain itself or one above it: disposable services hand out sub-domains. */
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
 * The common provider that this domain is a misspelling of, or null. Other domains are names that
 * somebody chose: whatever they resemble, they are not taken for slips of the pen.
 */
export function correctedDomain(domain: string): string | null {
  if (common.has(domain)) return null;
  const suggestion = spellChecker.run({ email: `someone@${domain}` })?.domain;
  if (suggestion === undefined || !common.has(suggestion)) return null;
  return isSlipOf(firstLabel(domain), firstLabel(suggestion)) ? suggestion : null;
}

/** Short names resemble too much: `acme.com` is not a misspelt `me.com`. */
function isSlipOf(written: string, meant: string): boolean {
  if (written === meant) return true;
  return meant.length >= SHORTEST_SLIP && Math.abs(written.length - meant.length) <= 1;
}

function firstLabel(domain: string): string {
  return domain.split(".")[0] ?? "";
}

/** `a.b.example.com` → itself, `b.example.com`, `example.com`. */
function withParents(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
}
