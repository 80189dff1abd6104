/** What is known of domains without asking anybody: lists of kept packages, in the executable. */

import spellChecker from "@zootools/email-spell-checker";
import { disposableEmailBlocklistSet } from "disposable-email-domains-js";
import providers from "email-providers/all.json" with { type: "json" };

/** When the lists of disposable and personal providers were published. */
export const LISTS_DATE = "2026-09-21";

const disposable = disposableEmailBlocklistSet();
const known = new Set<string>(providers);

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

/** The domain itself or one above it: disposable services hand out sub-domains. */
export function isDisposableDomain(domain: string): boolean {
  return withParents(domain).some((name) => disposable.has(name));
}

export function isPersonalDomain(domain: string): boolean {
  return known.has(domain) && !isDisposableDomain(domain);
}

export function isAliasDomain(domain: string): boolean {
  return withParents(domain).some((name) => ALIAS_DOMAINS.has(name));
}

/** A domain that this one is a misspelling of, or null. A provider's own domain never is. */
export function correctedDomain(domain: string): string | null {
  if (known.has(domain)) return null;
  const suggestion = spellChecker.run({ email: `someone@${domain}` });
  return suggestion === undefined || suggestion.domain === domain ? null : suggestion.domain;
}

/** `a.b.example.com` → itself, `b.example.com`, `example.com`. */
function withParents(domain: string): string[] {
  const labels = domain.split(".");
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join("."));
}
