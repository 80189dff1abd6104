/** The kinds of values that settings have, with their parsers. */

import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { type AddressRange, parseAddressRange } from "../lib/address-ranges.ts";
import { type BackupKeep, parseBackupKeep } from "../lib/backup-keep.ts";
import { type Login, parseLogins } from "../lib/logins.ts";
import type { MetricsAddress } from "../lib/metrics.ts";
import { isS3, parseS3Location, s3Address } from "../lib/s3-location.ts";
import { trimEndOf } from "../lib/trim.ts";
import { parseUrl } from "../lib/url.ts";
import { type DnsServer, parseDnsServers } from "../protocols/dns/servers.ts";
import { maskRelayUrl, parseRelayUrl, type Relay } from "../protocols/smtp/relay-url.ts";
import { FetchRefused, urlFault } from "../protocols/fetch-guarded/refusal.ts";
import { readTarget } from "../protocols/fetch-guarded/target.ts";
import type { AccountBinding } from "../protocols/acme/client.ts";
import { parseAddress } from "../protocols/mime/address.ts";
import { type Mailbox, parseMailbox } from "../protocols/mime/mailbox.ts";
import type { Kind, Parsed } from "./setting.ts";

export const RELAY_URL_FORM =
  "smtp[s]://user:pass@host:port[?tls=none|starttls|implicit][&sign=false]";

/** A relay URL that names no relay: the default of the systemd unit, whose file may be missing. */
const NO_RELAY = "none";

export const boolean: Kind<boolean> = {
  parse: trueOrFalse,
  isBoolean: true,
  choices: ["true", "false"],
  placeholder: "[true|false]",
};

export const publicUrl: Kind<string> = { parse: parsePublicUrl, placeholder: "URL" };
/** A URL that this server calls. */
export const calledUrl: Kind<string> = { parse: parseCalledUrl, placeholder: "URL" };
export const relayUrl: Kind<Relay | null> = {
  parse: relayAddress,
  placeholder: "URL",
  absent: NO_RELAY,
};
export const hostName: Kind<string> = { parse: parseHostName, placeholder: "NAME" };
export const hostNames: Kind<readonly string[]> = {
  parse: parseHostNames,
  isList: true,
  placeholder: "NAME,…",
};
export const hostAndPort: Kind<MetricsAddress> = {
  parse: parseHostAndPort,
  placeholder: "HOST:PORT",
};
export const mailbox: Kind<Mailbox> = { parse: parseSender, placeholder: "'NAME <ADDRESS>'" };
export const emailAddress: Kind<string> = { parse: parseEmailAddress, placeholder: "ADDRESS" };
export const emailAddresses: Kind<readonly string[]> = {
  parse: parseEmailAddresses,
  isList: true,
  placeholder: "ADDRESS,…",
};
export const secret: Kind<string> = { parse: installationSecret, placeholder: "TEXT" };

export const dnsServers: Kind<readonly DnsServer[]> = {
  parse: parseServers,
  isList: true,
  placeholder: "ADDRESS[:PORT],…",
};
export const ipAddresses: Kind<readonly string[]> = {
  parse: parseAddresses,
  isList: true,
  placeholder: "ADDRESS,…",
};
export const addressRanges: Kind<readonly AddressRange[]> = {
  parse: parseRanges,
  isList: true,
  placeholder: "ADDRESS[/BITS],…",
};

export const peerRanges: Kind<readonly AddressRange[]> = {
  parse: parsePeers,
  isList: true,
  placeholder: "ADDRESS[/BITS]|attached,…",
};
export const logins: Kind<readonly Login[]> = {
  parse: parseLoginList,
  placeholder: "'USER:PASS …'",
};
export const pattern: Kind<RegExp> = { parse: parsePattern, placeholder: "REGEXP" };

export const accountBinding: Kind<AccountBinding> = {
  parse: parseAccountBinding,
  placeholder: "ID:KEY",
};

export const webroot: Kind<string> = { parse: parseWebroot, placeholder: "/PATH" };

type TimeOfDay = { hour: number; minute: number };
export const timeOfDay: Kind<TimeOfDay> = { parse: parseTimeOfDay, placeholder: "HH:MM" };

export const backupTarget: Kind<string> = {
  parse: parseBackupTarget,
  placeholder: "FOLDER|s3://BUCKET/PREFIX",
};
export const backupKeep: Kind<BackupKeep> = { parse: parseKeep, placeholder: "Nd,Nw,Nm" };
export const s3Region: Kind<string> = { parse: parseS3Region, placeholder: "NAME" };

export function text(placeholder: string): Kind<string> {
  return { parse: nonEmpty, placeholder };
}

export function integer(placeholder: string, min: number, max: number): Kind<number> {
  return { parse: integerWithin(min, max), placeholder };
}

export function decimal(placeholder: string, min: number, max: number): Kind<number> {
  return { parse: numberWithin(min, max), placeholder };
}

export function choice<const T extends string>(values: readonly T[]): Kind<T> {
  return { parse: oneOf(values), placeholder: values.join("|"), choices: values };
}

/** A setting whose value may be absent. */
export function optional<T>(kind: Kind<T>): Kind<T | null> {
  return kind;
}

function parseBackupTarget(text: string): Parsed<string> {
  if (!isS3(text)) return nonEmpty(text);
  const location = parseS3Location(text);
  return location === null
    ? { accepted: `a folder, or s3://BUCKET/PREFIX with plain characters, got "${text}"` }
    : { value: s3Address(location) };
}

function parseKeep(text: string): Parsed<BackupKeep> {
  const value = parseBackupKeep(text);
  return value === null
    ? { accepted: `numbers of days, weeks and months such as 7d,4w,6m, got "${text}"` }
    : { value };
}

function parseS3Region(text: string): Parsed<string> {
  return /^[a-z0-9-]{1,50}$/.test(text)
    ? { value: text }
    : { accepted: `the name of a region such as eu-central-1, got "${text}"` };
}

function parseTimeOfDay(text: string): Parsed<TimeOfDay> {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hour === undefined || minute === undefined
    ? { accepted: `a time of day such as 03:17, got "${text}"` }
    : { value: { hour: Number(hour), minute: Number(minute) } };
}

function nonEmpty(text: string): Parsed<string> {
  return text.trim() === "" ? { accepted: "a value that is not empty" } : { value: text };
}

function integerWithin(min: number, max: number): (text: string) => Parsed<number> {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max
      ? { value }
      : { accepted: `a whole number from ${min} to ${max}, got "${text}"` };
  };
}

function numberWithin(min: number, max: number): (text: string) => Parsed<number> {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max
      ? { value }
      : { accepted: `a number from ${min} to ${max}, got "${text}"` };
  };
}

function oneOf<const T extends string>(values: readonly T[]): (text: string) => Parsed<T> {
  return (text) => {
    const value = values.find((candidate) => candidate === text);
    return value === undefined
      ? { accepted: `one of ${values.join(", ")}, got "${text}"` }
      : { value };
  };
}

const TRUE_WORDS: readonly string[] = ["true", "1"];
const FALSE_WORDS: readonly string[] = ["false", "0"];

function trueOrFalse(text: string): Parsed<boolean> {
  if (TRUE_WORDS.includes(text)) return { value: true };
  if (FALSE_WORDS.includes(text)) return { value: false };
  return { accepted: `true or false, got "${text}"` };
}

/** Returns true if a word after a boolean flag is its value. */
export function isBooleanWord(text: string): boolean {
  return TRUE_WORDS.includes(text) || FALSE_WORDS.includes(text);
}

function parsePublicUrl(text: string): Parsed<string> {
  const url = parseUrl(text);
  // A parser of URLs leaves out line ends, so that what follows one would become a part of the name.
  const isBase =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.hash === "" &&
    !/\p{Cc}/u.test(text);
  return isBase
    ? { value: trimEndOf(url.href, "/") }
    : { accepted: `an http or https URL without query, got "${text}"` };
}

/** The same rules as for the URL of a webhook. Private addresses are refused when it is called. */
function parseCalledUrl(text: string): Parsed<string> {
  try {
    return { value: readTarget(text).href };
  } catch (error) {
    if (!(error instanceof FetchRefused)) throw error;
    // The URL may have a secret, so it is not in the message.
    return { accepted: `a URL of http or https; it ${urlFault(error.reason)}` };
  }
}

/** Refuses IP addresses: EHLO would need brackets, and MX and SPF records need a name. */
function parseHostName(text: string): Parsed<string> {
  return isIP(text) === 0 &&
    /^(?=.{1,253}$)[a-z0-9_]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9-]*[a-z0-9])?)*$/i.test(text)
    ? { value: text.toLowerCase() }
    : { accepted: `a host name such as mail.example.com, got "${text}"` };
}

/** Also single labels, such as the name of a service in a compose file, and addresses. */
function parseHostNames(text: string): Parsed<readonly string[]> {
  const names = text.split(",").map((name) => name.trim().toLowerCase());
  const wrong = names.find((name) => !/^[a-z0-9_.:-]{1,253}$/.test(name));
  return wrong === undefined
    ? { value: names }
    : { accepted: `host names without a port, separated by commas, got "${wrong}"` };
}

function parseServers(text: string): Parsed<readonly DnsServer[]> {
  const parsed = parseDnsServers(text);
  return parsed.ok
    ? { value: parsed.servers }
    : { accepted: `addresses of name servers, but the value ${parsed.message}` };
}

/** Parses `host:port`. IPv6 addresses are in brackets. */
function parseHostAndPort(text: string): Parsed<MetricsAddress> {
  const at = text.lastIndexOf(":");
  const host = text.slice(0, Math.max(at, 0)).replace(/^\[([^\]]*)\]$/, "$1");
  const port = text.slice(at + 1);
  const isValid = /^\d{1,5}$/.test(port) && Number(port) <= 65_535 && /^[^\s/]+$/.test(host);
  return isValid
    ? { value: { host, port: Number(port) } }
    : { accepted: `an address and a port such as 127.0.0.1:9090, got "${text}"` };
}

function wordsOf(list: string): string[] {
  return list.split(/[\s,]+/).filter((word) => word !== "");
}

function parseAddresses(text: string): Parsed<readonly string[]> {
  const addresses = wordsOf(text);
  return addresses.length > 0 && addresses.every((address) => isIP(address) !== 0)
    ? { value: addresses }
    : { accepted: `IP addresses separated by commas, got "${text}"` };
}

const MAX_RANGES = 100;

function parseRanges(text: string): Parsed<readonly AddressRange[]> {
  const words = wordsOf(text);
  const ranges = words.flatMap((word) => parseAddressRange(word) ?? []);
  return words.length > 0 && words.length <= MAX_RANGES && ranges.length === words.length
    ? { value: ranges }
    : {
        accepted:
          `at most ${MAX_RANGES} IP addresses or ranges such as 10.0.0.0/8, ` +
          `separated by commas, got "${text}"`,
      };
}

/** The word that stands for the networks of the interfaces of this machine, as they are now. */
const ATTACHED = "attached";

/** Addresses and ranges, and the word `attached`. */
function parsePeers(text: string): Parsed<readonly AddressRange[]> {
  const words = wordsOf(text).flatMap((word) => (word === ATTACHED ? attachedNetworks() : [word]));
  if (words.length === 0) return { value: [] };
  const parsed = parseRanges(words.join(","));
  if ("value" in parsed) return parsed;
  return { accepted: `the word ${ATTACHED}, or ${parsed.accepted}` };
}

function attachedNetworks(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .flatMap(({ cidr }) => cidr ?? []);
}

/** A path without a slash at its end, which is not the path of the dashboard. */
function parseWebroot(text: string): Parsed<string> {
  const path = trimEndOf(text.replace(/^\/+/, ""), "/");
  const isPath = /^[\w~-][\w.~-]{0,99}(?:\/[\w~-][\w.~-]{0,99}){0,9}$/.test(path);
  return isPath && !/^app(?:\/|$)/.test(path)
    ? { value: `/${path}` }
    : { accepted: `a path such as /mail, other than /app, got "${text}"` };
}

function parseLoginList(text: string): Parsed<readonly Login[]> {
  const parsed = parseLogins(text);
  return parsed.ok
    ? { value: parsed.logins }
    : { accepted: `user:password, separated by blanks or lines, but ${parsed.reason}` };
}

/** A regular expression, also with the `(?i)` of RE2 at its beginning. */
function parsePattern(text: string): Parsed<RegExp> {
  const isInsensitive = text.startsWith("(?i)");
  try {
    return { value: new RegExp(isInsensitive ? text.slice(4) : text, isInsensitive ? "i" : "") };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { accepted: `a regular expression, got "${text}" (${reason})` };
  }
}

function relayAddress(text: string): Parsed<Relay | null> {
  if (text === NO_RELAY) return { value: null };
  const parsed = parseRelayUrl(text);
  return parsed.ok
    ? { value: parsed.relay }
    : { accepted: `${RELAY_URL_FORM} (${parsed.message})` };
}

/** Only the server of a URL whose path or query may be a secret. */
export function maskUrl(text: string): string {
  const url = parseUrl(text);
  return url === null ? "***" : `${url.origin}/***`;
}

/** The URL without its password. */
export const maskRelay = (text: string): string => (text === NO_RELAY ? text : maskRelayUrl(text));

function parseSender(text: string): Parsed<Mailbox> {
  const parsed = parseMailbox(text);
  return parsed.ok
    ? { value: parsed.mailbox }
    : { accepted: `a sender such as 'Shop <orders@shop.example>' (${parsed.reason})` };
}

function parseEmailAddress(text: string): Parsed<string> {
  const parsed = parseAddress(text);
  return parsed.ok
    ? { value: parsed.address }
    : { accepted: `an address such as ada@example.com (${parsed.reason})` };
}

const MAX_OPERATORS = 10;

function parseEmailAddresses(text: string): Parsed<readonly string[]> {
  const words = [...new Set(wordsOf(text))];
  const parsed = words.flatMap((word) => {
    const each = parseAddress(word);
    return each.ok ? [each.address] : [];
  });
  return words.length > 0 && words.length <= MAX_OPERATORS && parsed.length === words.length
    ? { value: parsed }
    : {
        accepted: `at most ${MAX_OPERATORS} addresses such as ada@example.com, separated by commas, got "${text}"`,
      };
}

/** An identifier without a colon, and a key in base64url. */
function parseAccountBinding(text: string): Parsed<AccountBinding> {
  const [, keyId, key] = /^([^\s:]{1,200}):([\w-]{16,400})=?=?$/.exec(text.trim()) ?? [];
  return keyId === undefined || key === undefined
    ? { accepted: "the identifier and the MAC key (base64url) that the CA shows, as ID:KEY" }
    : { value: { keyId, macKey: Buffer.from(key, "base64url") } };
}

const MIN_SECRET_CHARACTERS = 32;

function installationSecret(text: string): Parsed<string> {
  return text.length >= MIN_SECRET_CHARACTERS
    ? { value: text }
    : { accepted: `at least ${MIN_SECRET_CHARACTERS} characters` };
}
