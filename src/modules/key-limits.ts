/** The limits of a new API key, checked: its scope, the domains of its senders, and its IP ranges. */

import type { App } from "../core/app.ts";
import type { KeyKind } from "../http/admission.ts";
import type { KeyScope } from "../http/scopes.ts";
import { addressRangeText, parseAddressRange } from "../lib/address-ranges.ts";
import { fieldError } from "../lib/errors.ts";
import { parseWebOrigin } from "../lib/web-origin.ts";
import { canonicalDomain } from "../protocols/mime/address.ts";
import { findDomain } from "./domains/domains.ts";

/** All texts are in their canonical form. An empty list allows everything. */
export type KeyLimits = {
  scope: KeyScope;
  origins: readonly string[];
  domains: readonly string[];
  ipRanges: readonly string[];
};

type GivenLimits = { kind: KeyKind } & { [Name in keyof KeyLimits]?: KeyLimits[Name] | undefined };

/** Throws 422, which names the field that is not valid or does not fit the kind of the key. */
export function checkKeyLimits(
  app: Pick<App, "db">,
  projectSeq: number,
  given: GivenLimits,
): KeyLimits {
  const { kind, origins = [], domains = [], ipRanges = [] } = given;
  const scope = scopeOf(given);
  const isSending = scope === "SEND";
  refuseUnless(kind === "PUBLIC", "origins", origins, "is for public keys only");
  refuseUnless(isSending, "domains", domains, "is only for keys that can only send");
  refuseUnless(kind !== "PUBLIC", "ipRanges", ipRanges, "is not for public keys");
  return {
    scope,
    origins: distinct(origins.map(readOrigin)),
    domains: distinct(domains.map((text, i) => readDomain(app, projectSeq, { text, i }))),
    ipRanges: distinct(ipRanges.map(readRange)),
  };
}

/** The scope of a public key has no meaning, so it is the one of all keys before scopes existed. */
function scopeOf({ kind, scope }: GivenLimits): KeyScope {
  if (kind === "SECRET") return scope ?? "EVERYTHING";
  if (kind === "PUBLIC" && scope !== undefined) {
    throw fieldError("scope", "invalid_value", "is not for public keys");
  }
  if (kind === "SMTP" && scope !== undefined && scope !== "SEND") {
    throw fieldError("scope", "invalid_value", "must be SEND for an SMTP password");
  }
  return kind === "SMTP" ? "SEND" : "EVERYTHING";
}

function refuseUnless(isMeant: boolean, field: string, list: readonly string[], why: string): void {
  if (list.length > 0 && !isMeant) throw fieldError(field, "invalid_value", why);
}

const distinct = (list: readonly string[]): string[] => [...new Set(list)];

function readOrigin(text: string, index: number): string {
  const origin = parseWebOrigin(text);
  if (origin !== null) return origin;
  const message = "must be a web origin such as https://shop.example";
  throw fieldError(`origins.${index}`, "invalid_format", message);
}

/** A domain that the project does not have is probably misspelt. */
function readDomain(
  app: Pick<App, "db">,
  projectSeq: number,
  { text, i }: { text: string; i: number },
): string {
  const domain = canonicalDomain(text);
  if (domain !== null && findDomain(app, projectSeq, domain) !== null) return domain;
  throw fieldError(`domains.${i}`, "unknown_reference", "must be a domain of the project");
}

function readRange(text: string, index: number): string {
  const range = parseAddressRange(text);
  if (range !== null) return addressRangeText(range);
  const message = "must be an IP address or a range such as 203.0.113.0/24 or 2001:db8::/32";
  throw fieldError(`ipRanges.${index}`, "invalid_format", message);
}
