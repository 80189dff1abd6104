/**
 * The settings. One table lists for each its flag, environment variable, default and parser.
 * `readConfig` makes one frozen object from the flags and the environment.
 */

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { hostname as systemHostname } from "node:os";
import { parseRelayUrl, type Relay } from "./protocols/smtp/relay-url.ts";
import { type AddressRange, parseAddressRange } from "./lib/address-ranges.ts";
import { type DnsServer, parseDnsServers } from "./protocols/dns/servers.ts";
import type { MetricsAddress } from "./lib/metrics.ts";
import { trimEndOf } from "./lib/trim.ts";
import { parseUrl } from "./lib/url.ts";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "./lib/log.ts";

export const TRANSPORTS = ["capture", "relay", "direct"] as const;
export type TransportName = (typeof TRANSPORTS)[number];

export type Config = Readonly<{
  data: string;
  host: string;
  port: number;
  /** Public base of links, without a slash at the end; null means `http://host:port`. */
  url: string | null;
  /** The same for tracked links and pixels; null means the value of `url`. */
  trackingUrl: string | null;
  transport: TransportName;
  relayUrl: Relay | null;
  /** The name of this server in EHLO. */
  hostname: string;
  /** Name servers for look-ups; null means those of the system. */
  dns: readonly DnsServer[] | null;
  /** Port of the receiving servers, for mail that is sent without a relay. */
  directPort: number;
  /** Addresses of this machine that mail leaves from; if empty, the system chooses. */
  sourceAddresses: readonly string[];
  /** Allows connections to private and loopback addresses, for tests. */
  allowPrivateAddresses: boolean;
  /** Mails per second that leave; 0 means no limit. */
  sendRate: number;
  /** Requests per minute and project with secret keys; 0 means no limit. */
  apiRate: number;
  /** Requests per minute and project with public keys; 0 means no limit. */
  publicKeyRate: number;
  /** Requests per minute, project and client address with public keys; 0 means no limit. */
  publicClientRate: number;
  /** Peers whose X-Forwarded-For names the client. */
  trustedProxies: readonly AddressRange[];
  /** MiB that the data of one project may take; 0 means no limit. */
  quotaStorage: number;
  /** Waiting mails of one project, without those of campaigns; 0 means no limit. */
  quotaQueuedMails: number;
  /** Concurrent imports, exports and bulk actions of one project; 0 means no limit. */
  quotaJobs: number;
  /** Concurrent webhook requests of one project; 0 means that only the fair share limits them. */
  quotaWebhookCalls: number;
  requireVerifiedDomain: boolean;
  /** Days until data is deleted; 0 means never. The same holds for the next two. */
  retainBodies: number;
  retainRaw: number;
  retainEvents: number;
  /** Share of bounces, 0 to 1, above which a campaign is paused. */
  campaignBounceLimit: number;
  /** Share of complaints, 0 to 1, above which a campaign is paused. */
  campaignComplaintLimit: number;
  /** Number of sent mails of a campaign from which these two limits apply. */
  campaignLimitAfter: number;
  logLevel: LogLevel;
  logFormat: LogFormat;
  /** Address on which `GET /metrics` is served; null if it is not served. */
  metrics: MetricsAddress | null;
  /** Installation secret; null means the one stored in the data folder. */
  secret: string | null;
}>;

type Parsed<T> = { value: T } | { accepted: string };

type Setting<T> = {
  flag: string;
  env: string;
  fallback: () => T;
  parse: (text: string) => Parsed<T>;
  /** Set if the flag without a value means true. */
  isBoolean?: true;
  /** Set if the flag may be repeated: its values are joined by commas. */
  isList?: true;
  /** The value and its default as help shows them. */
  placeholder: string;
  shownDefault: string;
  help: string;
};

type Settings = { [Name in keyof Config]: Setting<Config[Name]> };

const BOOLEAN = { parse: trueOrFalse, isBoolean: true, placeholder: "[true|false]" } as const;

/** Longest retention: a hundred years. */
const MAX_DAYS = 36_500;

export const SETTINGS: Settings = {
  data: {
    flag: "data",
    env: "MAILSTEAD_DATA",
    fallback: () => "./mailstead-data",
    parse: nonEmpty,
    placeholder: "FOLDER",
    shownDefault: "./mailstead-data",
    help: "Folder of the database and the installation secret",
  },
  host: {
    flag: "host",
    env: "MAILSTEAD_HOST",
    fallback: () => "127.0.0.1",
    parse: nonEmpty,
    placeholder: "ADDRESS",
    shownDefault: "127.0.0.1",
    help: "Address to listen on",
  },
  port: {
    flag: "port",
    env: "MAILSTEAD_PORT",
    fallback: () => 3000,
    parse: integerWithin(0, 65_535),
    placeholder: "PORT",
    shownDefault: "3000",
    help: "Port to listen on; 0 for any free port",
  },
  url: {
    flag: "url",
    env: "MAILSTEAD_URL",
    fallback: () => null,
    parse: publicUrl,
    placeholder: "URL",
    shownDefault: "http://host:port",
    help: "Public base of the links in mails",
  },
  trackingUrl: {
    flag: "tracking-url",
    env: "MAILSTEAD_TRACKING_URL",
    fallback: () => null,
    parse: publicUrl,
    placeholder: "URL",
    shownDefault: "the value of --url",
    help: "Public base of tracked links and pixels, if it differs",
  },
  transport: {
    flag: "transport",
    env: "MAILSTEAD_TRANSPORT",
    fallback: () => "capture",
    parse: oneOf(TRANSPORTS),
    placeholder: TRANSPORTS.join("|"),
    shownDefault: "capture",
    help: "How mail is sent: captured and not sent, through an SMTP relay, or directly to recipients",
  },
  relayUrl: {
    flag: "relay-url",
    env: "MAILSTEAD_RELAY_URL",
    fallback: () => null,
    parse: relayAddress,
    placeholder: "URL",
    shownDefault: "none",
    help: "smtp[s]://user:pass@host:port[?tls=none|starttls|implicit]",
  },
  hostname: {
    flag: "hostname",
    env: "MAILSTEAD_HOSTNAME",
    fallback: systemHostname,
    parse: hostName,
    placeholder: "NAME",
    shownDefault: "the system's",
    help: "Name of this server in EHLO",
  },
  dns: {
    flag: "dns",
    env: "MAILSTEAD_DNS",
    fallback: () => null,
    parse: dnsServers,
    isList: true,
    placeholder: "ADDRESS[:PORT],…",
    shownDefault: "the system's",
    help: "Name servers for DNS look-ups",
  },
  directPort: {
    flag: "direct-port",
    env: "MAILSTEAD_DIRECT_PORT",
    fallback: () => 25,
    parse: integerWithin(1, 65_535),
    placeholder: "PORT",
    shownDefault: "25",
    help: "Port of the receiving servers, with --transport direct; change it only for tests",
  },
  sourceAddresses: {
    flag: "source-address",
    env: "MAILSTEAD_SOURCE_ADDRESS",
    fallback: () => [],
    parse: ipAddresses,
    isList: true,
    placeholder: "ADDRESS,…",
    shownDefault: "the system's choice",
    help: "Addresses of this machine that mail leaves from, with --transport direct",
  },
  allowPrivateAddresses: {
    flag: "allow-private-addresses",
    env: "MAILSTEAD_ALLOW_PRIVATE_ADDRESSES",
    fallback: () => false,
    ...BOOLEAN,
    shownDefault: "false",
    help: "Allow mail and webhooks to private and loopback addresses; for tests",
  },
  sendRate: {
    flag: "send-rate",
    env: "MAILSTEAD_SEND_RATE",
    fallback: () => 14,
    parse: numberWithin(0, 100_000),
    placeholder: "N",
    shownDefault: "14",
    help: "Mails per second that leave; 0 for no limit",
  },
  apiRate: {
    flag: "api-rate",
    env: "MAILSTEAD_API_RATE",
    fallback: () => 1000,
    parse: integerWithin(0, 10_000_000),
    placeholder: "N",
    shownDefault: "1000",
    help: "Requests per minute and project with secret keys; 0 for no limit",
  },
  publicKeyRate: {
    flag: "public-key-rate",
    env: "MAILSTEAD_PUBLIC_KEY_RATE",
    fallback: () => 1000,
    parse: integerWithin(0, 10_000_000),
    placeholder: "N",
    shownDefault: "1000",
    help: "Requests per minute and project with public keys; 0 for no limit",
  },
  publicClientRate: {
    flag: "public-client-rate",
    env: "MAILSTEAD_PUBLIC_CLIENT_RATE",
    fallback: () => 300,
    parse: integerWithin(0, 10_000_000),
    placeholder: "N",
    shownDefault: "300",
    help: "Requests per minute, project and client address with public keys; 0 for no limit",
  },
  trustedProxies: {
    flag: "trusted-proxy",
    env: "MAILSTEAD_TRUSTED_PROXY",
    fallback: () => [],
    parse: addressRanges,
    isList: true,
    placeholder: "ADDRESS[/BITS],…",
    shownDefault: "none",
    help: "Reverse proxies, as addresses or CIDR ranges, whose X-Forwarded-For names the client",
  },
  quotaStorage: {
    flag: "quota-storage",
    env: "MAILSTEAD_QUOTA_STORAGE",
    fallback: () => 51_200,
    parse: integerWithin(0, 1_000_000_000),
    placeholder: "MIB",
    shownDefault: "51200",
    help: "MiB that the data of a project may take; 0 for no limit",
  },
  quotaQueuedMails: {
    flag: "quota-queued-mails",
    env: "MAILSTEAD_QUOTA_QUEUED_MAILS",
    fallback: () => 1_000_000,
    parse: integerWithin(0, 1_000_000_000),
    placeholder: "N",
    shownDefault: "1000000",
    help: "Waiting mails of a project, without those of campaigns; 0 for no limit",
  },
  quotaJobs: {
    flag: "quota-jobs",
    env: "MAILSTEAD_QUOTA_JOBS",
    fallback: () => 10,
    parse: integerWithin(0, 100_000),
    placeholder: "N",
    shownDefault: "10",
    help: "Concurrent imports, exports and bulk actions of a project; 0 for no limit",
  },
  quotaWebhookCalls: {
    flag: "quota-webhook-calls",
    env: "MAILSTEAD_QUOTA_WEBHOOK_CALLS",
    fallback: () => 32,
    parse: integerWithin(0, 1000),
    placeholder: "N",
    shownDefault: "32",
    help: "Concurrent webhook requests of a project; 0 for no limit except a fair share",
  },
  requireVerifiedDomain: {
    flag: "require-verified-domain",
    env: "MAILSTEAD_REQUIRE_VERIFIED_DOMAIN",
    fallback: () => true,
    ...BOOLEAN,
    shownDefault: "true; false in dev",
    help: "Refuse senders whose domain is not verified",
  },
  retainBodies: {
    flag: "retain-bodies",
    env: "MAILSTEAD_RETAIN_BODIES",
    fallback: () => 90,
    parse: integerWithin(0, MAX_DAYS),
    placeholder: "DAYS",
    shownDefault: "90",
    help: "Days until body, variables and attachments of a mail are deleted; 0 for never",
  },
  retainRaw: {
    flag: "retain-raw",
    env: "MAILSTEAD_RETAIN_RAW",
    fallback: () => 30,
    parse: integerWithin(0, MAX_DAYS),
    placeholder: "DAYS",
    shownDefault: "30",
    help: "Days until captured messages are deleted; 0 for never",
  },
  retainEvents: {
    flag: "retain-events",
    env: "MAILSTEAD_RETAIN_EVENTS",
    fallback: () => 0,
    parse: integerWithin(0, MAX_DAYS),
    placeholder: "DAYS",
    shownDefault: "0",
    help: "Days until events and ended workflow executions are deleted; 0 for never",
  },
  campaignBounceLimit: {
    flag: "campaign-bounce-limit",
    env: "MAILSTEAD_CAMPAIGN_BOUNCE_LIMIT",
    fallback: () => 0.1,
    parse: numberWithin(0, 1),
    placeholder: "SHARE",
    shownDefault: "0.1",
    help: "Share of bounces (0 to 1) above which a campaign is paused",
  },
  campaignComplaintLimit: {
    flag: "campaign-complaint-limit",
    env: "MAILSTEAD_CAMPAIGN_COMPLAINT_LIMIT",
    fallback: () => 0.003,
    parse: numberWithin(0, 1),
    placeholder: "SHARE",
    shownDefault: "0.003",
    help: "Share of complaints (0 to 1) above which a campaign is paused",
  },
  campaignLimitAfter: {
    flag: "campaign-limit-after",
    env: "MAILSTEAD_CAMPAIGN_LIMIT_AFTER",
    fallback: () => 500,
    parse: integerWithin(1, 1_000_000),
    placeholder: "MAILS",
    shownDefault: "500",
    help: "Number of sent mails of a campaign from which these two limits apply",
  },
  logLevel: {
    flag: "log-level",
    env: "MAILSTEAD_LOG_LEVEL",
    fallback: () => "info",
    parse: oneOf(LOG_LEVELS),
    placeholder: LOG_LEVELS.join("|"),
    shownDefault: "info",
    help: "Lowest level that is logged",
  },
  logFormat: {
    flag: "log-format",
    env: "MAILSTEAD_LOG_FORMAT",
    fallback: () => (process.stderr.isTTY ? "text" : "json"),
    parse: oneOf(LOG_FORMATS),
    placeholder: LOG_FORMATS.join("|"),
    shownDefault: "text on a terminal, json otherwise",
    help: "Format of log lines",
  },
  metrics: {
    flag: "metrics",
    env: "MAILSTEAD_METRICS",
    fallback: () => null,
    parse: hostAndPort,
    placeholder: "HOST:PORT",
    shownDefault: "none",
    help: "Serve GET /metrics (Prometheus) on this address; it needs no key, so keep it private",
  },
  secret: {
    flag: "secret",
    env: "MAILSTEAD_SECRET",
    fallback: () => null,
    parse: installationSecret,
    placeholder: "TEXT",
    shownDefault: "generated on the first start, stored in the data folder",
    help: "Installation secret, which signs links and encrypts stored keys",
  },
};

/** The error for an invalid setting. `message` names the flag and the accepted values. */
export class ConfigError extends Error {}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings. Flags take precedence over environment variables, and these over defaults.
 * Instead of a variable, `<NAME>_FILE` may name a file that contains the value.
 */
export function readConfig(
  flags: Readonly<Record<string, string>>,
  environment: Environment,
  defaults: Partial<Config> = {},
): Config {
  const config: Config = {
    data: read("data"),
    host: read("host"),
    port: read("port"),
    url: read("url"),
    trackingUrl: read("trackingUrl"),
    transport: read("transport"),
    relayUrl: read("relayUrl"),
    hostname: read("hostname"),
    dns: read("dns"),
    directPort: read("directPort"),
    sourceAddresses: read("sourceAddresses"),
    allowPrivateAddresses: read("allowPrivateAddresses"),
    sendRate: read("sendRate"),
    apiRate: read("apiRate"),
    publicKeyRate: read("publicKeyRate"),
    publicClientRate: read("publicClientRate"),
    trustedProxies: read("trustedProxies"),
    quotaStorage: read("quotaStorage"),
    quotaQueuedMails: read("quotaQueuedMails"),
    quotaJobs: read("quotaJobs"),
    quotaWebhookCalls: read("quotaWebhookCalls"),
    requireVerifiedDomain: read("requireVerifiedDomain"),
    retainBodies: read("retainBodies"),
    retainRaw: read("retainRaw"),
    retainEvents: read("retainEvents"),
    campaignBounceLimit: read("campaignBounceLimit"),
    campaignComplaintLimit: read("campaignComplaintLimit"),
    campaignLimitAfter: read("campaignLimitAfter"),
    logLevel: read("logLevel"),
    logFormat: read("logFormat"),
    metrics: read("metrics"),
    secret: read("secret"),
  };
  if (config.transport === "relay" && config.relayUrl === null) {
    throw new ConfigError(
      `--transport relay needs --relay-url (${SETTINGS.relayUrl.env}): ${SETTINGS.relayUrl.help}`,
    );
  }
  return Object.freeze(config);

  function read<Name extends keyof Config>(name: Name): Config[Name] {
    const setting: Setting<Config[Name]> = SETTINGS[name];
    const given = givenText(setting, flags, environment);
    if (given === null) return defaults[name] ?? setting.fallback();
    const parsed = setting.parse(given.text);
    if ("value" in parsed) return parsed.value;
    throw new ConfigError(`${given.source}: expected ${parsed.accepted}`);
  }
}

function givenText(
  setting: { flag: string; env: string },
  flags: Readonly<Record<string, string>>,
  environment: Environment,
): { text: string; source: string } | null {
  const flag = flags[setting.flag];
  if (flag !== undefined) return { text: flag, source: `--${setting.flag}` };
  // An empty variable counts as absent, because compose files pass unset variables as empty.
  const file = environment[`${setting.env}_FILE`] ?? "";
  const direct = environment[setting.env] ?? "";
  if (file !== "" && direct !== "") {
    throw new ConfigError(
      `${setting.env} and ${setting.env}_FILE are both set: set only one of them`,
    );
  }
  if (file !== "") {
    return { text: readValueFile(`${setting.env}_FILE`, file), source: `${setting.env}_FILE` };
  }
  return direct === "" ? null : { text: direct, source: setting.env };
}

function readValueFile(source: string, path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch {
    throw new ConfigError(`${source}: cannot read the file ${path}`);
  }
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

function publicUrl(text: string): Parsed<string> {
  const url = parseUrl(text);
  const isBase =
    url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "";
  return isBase
    ? { value: trimEndOf(url.href, "/") }
    : { accepted: `an http or https URL without query, got "${text}"` };
}

/** Refuses IP addresses: EHLO would need brackets, and MX and SPF records need a name. */
function hostName(text: string): Parsed<string> {
  return isIP(text) === 0 &&
    /^(?=.{1,253}$)[a-z0-9_]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9-]*[a-z0-9])?)*$/i.test(text)
    ? { value: text.toLowerCase() }
    : { accepted: `a host name such as mail.example.com, got "${text}"` };
}

function dnsServers(text: string): Parsed<readonly DnsServer[]> {
  const parsed = parseDnsServers(text);
  return parsed.ok
    ? { value: parsed.servers }
    : { accepted: `addresses of name servers, but the value ${parsed.message}` };
}

/** Parses `host:port`. IPv6 addresses are in brackets. */
function hostAndPort(text: string): Parsed<MetricsAddress> {
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

function ipAddresses(text: string): Parsed<readonly string[]> {
  const addresses = wordsOf(text);
  return addresses.length > 0 && addresses.every((address) => isIP(address) !== 0)
    ? { value: addresses }
    : { accepted: `IP addresses separated by commas, got "${text}"` };
}

const MAX_RANGES = 100;

function addressRanges(text: string): Parsed<readonly AddressRange[]> {
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

function relayAddress(text: string): Parsed<Relay> {
  const parsed = parseRelayUrl(text);
  return parsed.ok
    ? { value: parsed.relay }
    : { accepted: `${SETTINGS.relayUrl.help} (${parsed.message})` };
}

const MIN_SECRET_CHARACTERS = 32;

function installationSecret(text: string): Parsed<string> {
  return text.length >= MIN_SECRET_CHARACTERS
    ? { value: text }
    : { accepted: `at least ${MIN_SECRET_CHARACTERS} characters` };
}
