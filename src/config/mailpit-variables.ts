/**
 * Environment variables of Mailpit and MailHog as aliases of settings, so that a compose service can
 * change its image and nothing else. A setting that is given by its own variable or flag wins over its
 * alias.
 *
 * A variable that restricts access and has no setting here stops the start, and so does an unknown one
 * whose name may mean such a restriction: without it, the server would be more open than its operator
 * asks for. Other variables without a setting are listed in a warning.
 */

import { dirname, extname, join } from "node:path";
import { editDistance, nearestOf } from "../lib/nearest.ts";
import { ConfigError } from "./read.ts";
import { SETTINGS } from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;
/** Variables of this program with their texts; null if there is nothing to set. */
type Translate = (value: string, name: string) => Readonly<Record<string, string>> | null;

const DATA_FOLDER = "mailstead-data";

const httpAddress: Translate = (value, name) => {
  const { host, port } = addressOf(value, name);
  return { MAILSTEAD_HOST: host, MAILSTEAD_PORT: port };
};
const smtpAddress: Translate = (value, name) => {
  const { host, port } = addressOf(value, name);
  return { MAILSTEAD_CAPTURE_SMTP: `${host.includes(":") ? `[${host}]` : host}:${port}` };
};
const database: Translate = (value) =>
  /^https?:/i.test(value) ? null : { MAILSTEAD_DATA: dataFolderOf(value) };
// A certificate that is made at the start is what this program does without a file.
const certificate: Translate = (value) =>
  value.startsWith("sans:") ? {} : { MAILSTEAD_SMTP_TLS_CERT: value };
const privateKey: Translate = (value) => ({ MAILSTEAD_SMTP_TLS_KEY: value });
const captureTls =
  (kind: "starttls" | "implicit"): Translate =>
  (value, name) =>
    isDemanded(value, name) ? { MAILSTEAD_CAPTURE_TLS: kind } : {};
const webroot: Translate = (value) =>
  /^\/+$/.test(value) ? {} : { MAILSTEAD_MAILPIT_WEBROOT: value };

/** If two variables set the same setting, the later one of this table wins. */
const ALIASES: Readonly<Record<string, Translate>> = {
  MH_API_BIND_ADDR: httpAddress,
  MH_UI_BIND_ADDR: httpAddress,
  MH_SMTP_BIND_ADDR: smtpAddress,
  MH_UI_WEB_PATH: webroot,
  // MailHog's password file: user:digest of bcrypt, for its pages and its API.
  MH_AUTH_FILE: (value) => ({ MAILSTEAD_UI_AUTH_FILE: value }),
  MH_STORAGE: (value) => (value === "memory" ? {} : null),
  MP_UI_BIND_ADDR: httpAddress,
  MP_SMTP_BIND_ADDR: smtpAddress,
  MP_DATA_FILE: database,
  MP_DATABASE: database,
  MP_MAX_MESSAGES: (value, name) => ({
    MAILSTEAD_CAPTURE_MAX_MESSAGES: requireForm(value, name, /^\d{1,9}$/, "a whole number"),
  }),
  MP_MAX_AGE: (value, name) => ({ MAILSTEAD_CAPTURE_MAX_DAYS: String(daysOf(value, name)) }),
  MP_SMTP_SSL_CERT: certificate,
  MP_SMTP_TLS_CERT: certificate,
  MP_SMTP_SSL_KEY: privateKey,
  MP_SMTP_TLS_KEY: privateKey,
  MP_SMTP_TLS_REQUIRED: captureTls("starttls"),
  MP_SMTP_REQUIRE_STARTTLS: captureTls("starttls"),
  MP_SMTP_REQUIRE_TLS: captureTls("implicit"),
  MP_UI_AUTH: (value) => ({ MAILSTEAD_UI_AUTH: value }),
  MP_UI_AUTH_FILE: (value) => ({ MAILSTEAD_UI_AUTH_FILE: value }),
  MP_SMTP_AUTH: (value) => ({ MAILSTEAD_CAPTURE_AUTH: value }),
  MP_SMTP_AUTH_FILE: (value) => ({ MAILSTEAD_CAPTURE_AUTH_FILE: value }),
  MP_SMTP_ALLOWED_RECIPIENTS: (value) => ({ MAILSTEAD_CAPTURE_RECIPIENTS: value }),
  MP_SMTP_MAX_RECIPIENTS: (value, name) => ({
    MAILSTEAD_CAPTURE_MAX_RECIPIENTS: requireForm(value, name, /^\d{1,5}$/, "a whole number"),
  }),
  MP_SEND_API_AUTH: (value) => ({ MAILSTEAD_SEND_API_AUTH: value }),
  MP_SEND_API_AUTH_FILE: (value) => ({ MAILSTEAD_SEND_API_AUTH_FILE: value }),
  MP_ENABLE_PROMETHEUS: (value) => (value.includes(":") ? { MAILSTEAD_METRICS: value } : null),
  MP_QUIET: (value) => (isTrue(value) ? { MAILSTEAD_LOG_LEVEL: "error" } : {}),
  MP_VERBOSE: (value) => (isTrue(value) ? { MAILSTEAD_LOG_LEVEL: "debug" } : {}),
  MP_WEBROOT: webroot,
};

const setOf = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** Variables that ask for what this program does anyway. */
const ALWAYS_SO = setOf(`
  MP_BLOCK_REMOTE_CSS_AND_FONTS MP_COMPRESSION MP_DISABLE_AUTO_VACUUM MP_DISABLE_VERSION_CHECK
  MP_DISABLE_WAL MP_ENABLE_CHAOS MP_SMTP_AUTH_ACCEPT_ANY MP_SMTP_AUTH_ALLOW_INSECURE
  MP_SMTP_DISABLE_RDNS`);

/** Variables that have no effect here, and leave nothing open that they close elsewhere. */
const WITHOUT_EFFECT = setOf(`
  MP_ALLOW_INTERNAL_HTTP_REQUESTS MP_ALLOW_UNTRUSTED_TLS MP_API_CORS MP_CHAOS_TRIGGERS MP_DEMO_MODE
  MP_DISABLE_HTML_CHECK MP_DISABLE_HTTP_COMPRESSION MP_DISABLE_LINK_CHECK_RATE_LIMIT
  MP_ENABLE_SPAMASSASSIN MP_HIDE_DELETE_ALL_BUTTON MP_IGNORE_DUPLICATE_IDS MP_LABEL MP_LOG_FILE
  MP_MAX_MESSAGE_SIZE MP_SEND_API_AUTH_ACCEPT_ANY MP_SMTP_IGNORE_REJECTED_RECIPIENTS
  MP_SMTP_STRICT_RFC_HEADERS MP_STRICT_RFC_HEADERS MP_TAG MP_TAGS_CONFIG MP_TAGS_DISABLE
  MP_TAGS_TITLE_CASE MP_TAGS_USERNAME MP_TENANT_ID MP_USE_MESSAGE_DATES MP_WEBHOOK_DELAY
  MP_WEBHOOK_LIMIT MP_WEBHOOK_URL MH_API_HOST MH_CORS_ORIGIN MH_HOSTNAME MH_INVITE_JIM
  MH_MAILDIR_PATH MH_MONGO_COLLECTION MH_MONGO_DB MH_MONGO_URI MH_OUTGOING_SMTP MH_POSTGRES_URI`);
/** The parts of Mailpit that this program does not have, so that nothing of them is open. */
const ABSENT_PART = /^MP_(?:SMTP_RELAY|SMTP_FORWARD|POP3)_/;
/** Variables that Kubernetes and Docker set for a service with the name `mp` or `mp-smtp`. */
const SERVICE_LINK =
  /_(?:SERVICE_(?:HOST|PORT\w{0,60})|PORT|PORT_\d+_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?)$/;

const BY_PROXY = "HTTPS is the work of a reverse proxy here (docs/operations.md)";
/** Known variables that restrict access and have no alias, with what does the same here. */
const RESTRICTIONS: Readonly<Record<string, string>> = {
  MP_ALLOWED_HOSTS: "set MAILSTEAD_ALLOWED_HOST instead",
  MP_UI_SSL_CERT: BY_PROXY,
  MP_UI_SSL_KEY: BY_PROXY,
  MP_UI_TLS_CERT: BY_PROXY,
  MP_UI_TLS_KEY: BY_PROXY,
};

const KNOWN: readonly string[] = [
  ...Object.keys(ALIASES),
  ...Object.keys(RESTRICTIONS),
  ...ALWAYS_SO,
  ...WITHOUT_EFFECT,
];
const OWN_NAMES: readonly string[] = Object.values(SETTINGS).flatMap(({ env }) => [
  env,
  `${env}_FILE`,
]);

/** Parts of words by which a name may mean a restriction. */
const RESTRICTIVE_WORDS = [
  ...setOf(`
  IP IPS CA PW ACL BAN SSO JWT TLS SSL KEY ADDR ANON AUTH BIND CERT CIDR CORS CRED CSRF DENY HOST OIDC
  ONLY PASS ROLE USER ALLOW BLOCK DENIED GUARD GUEST GRANT HTTPS BASIC LOGIN OAUTH TOKEN TRUST ACCESS
  ENCRYPT EXCLUDE FILTER FORBID LISTEN NETWORK ORIGIN PEERS PERMIT REFUSE REJECT SECRET SECUR
  SENDER SIGNIN STRICT VERIFY DISABLE INTERNAL PRIVATE PROTECT RECIPIENT REQUIRE RESTRICT SESSION
  BLACKLIST FIREWALL HTPASSWD INTERFACE LOCALHOST LOOPBACK PASSWORD WHITELIST`),
];

/** Whether a word is, contains or misspells one of these. A short one must be the word, or its end. */
function isRestrictiveWord(word: string): boolean {
  if (word === "USE" || word === "USED") return false;
  return RESTRICTIVE_WORDS.some((known) => {
    if (known.length <= 3) return word === known || (known.length === 3 && word.endsWith(known));
    if (word.includes(known)) return true;
    if (word.length < 3 || Math.abs(word.length - known.length) > 2) return false;
    return editDistance(word, known) <= (known.length < 9 ? 1 : 2);
  });
}

/** Whether one of its words after the prefix is restrictive. */
const isRestrictiveName = (name: string): boolean => wordsOf(name).some(isRestrictiveWord);

const wordsOf = (name: string): string[] => name.split(/[^A-Z\d]+/).slice(1);

let foundNames: readonly string[] | null = null;

/** They are not needed in an environment without such variables, and finding them takes some milliseconds. */
function restrictiveNames(): readonly string[] {
  foundNames ??= Object.keys({ ...ALIASES, ...RESTRICTIONS }).filter(isRestrictiveName);
  return foundNames;
}

/** The known variable with the most similar letters, or else the one with the most words in common. */
function nearestName(name: string): string | null {
  const near = nearestOf(name, KNOWN);
  if (near !== null) return near;
  const words = new Set(wordsOf(name));
  const shares = restrictiveNames().map((known) => {
    const common = wordsOf(known).filter((word) => words.has(word)).length;
    const share = common / (words.size + wordsOf(known).length - common);
    // A variable of the same program wins if two are equally similar.
    return { known, share: known.slice(0, 3) === name.slice(0, 3) ? share * 1.01 : share };
  });
  const best = shares.toSorted((one, other) => other.share - one.share)[0];
  return best !== undefined && best.share >= MIN_SHARE ? best.known : null;
}

/** Least share of common words of two names that are compared. */
const MIN_SHARE = 0.25;

/** Whether ignoring an unknown variable may leave open what it closes. */
function mayRestrict(name: string, value: string): boolean {
  if (isFalse(value) || SERVICE_LINK.test(name)) return false;
  const near = nearestOf(name, restrictiveNames());
  return near !== null || isRestrictiveName(name);
}

/** Returns the error for a variable that stops the start; null for another one. */
function refusalOf(name: string, value: string): string | null {
  const upper = name.toUpperCase();
  if (upper.startsWith("MAILSTEAD_")) return OWN_NAMES.includes(name) ? null : misspelling(upper);
  const instead = RESTRICTIONS[name];
  if (instead !== undefined)
    return isFalse(value) ? null : `${name}: ${HAS_NO_SETTING}; ${instead}`;
  if (KNOWN.includes(name) || ABSENT_PART.test(name) || !mayRestrict(upper, value)) return null;
  const near = nearestName(upper);
  const hint = near === null ? "" : `Did you mean ${near}? `;
  return (
    `${name}: this variable is not known, and its name may mean that it restricts access. ${hint}` +
    "If nothing is meant to be restricted, remove it or give it an empty value (docs/testing.md)"
  );
}

const HAS_NO_SETTING =
  "this program cannot do it, and without it the server would be more open than you ask for";

const SHORTEST_NAME = "MAILSTEAD_".length + 5;

/** Another program may have variables with our prefix, so only a name that is nearly one of ours counts. */
function misspelling(name: string): string | null {
  const similar = SERVICE_LINK.test(name) ? [] : OWN_NAMES.filter((own) => !own.startsWith(name));
  // Two short words are similar by chance, such as ENV and DNS.
  const near = name.length < SHORTEST_NAME ? null : nearestOf(name, similar);
  return near === null ? null : `${name}: there is no such setting; did you mean ${near}?`;
}

/**
 * Adds the variables that those of Mailpit and MailHog stand for, and lists the names of those that
 * have no setting here. Throws ConfigError for a value that Mailpit would not take either, and for a
 * variable that may restrict access and has no setting here.
 */
export function withMailpitVariables(environment: Environment): {
  environment: Environment;
  ignored: string[];
} {
  const refusals = givenNames(environment).flatMap(
    (name) => refusalOf(name, environment[name] ?? "") ?? [],
  );
  if (refusals.length > 0) throw new ConfigError(refusals.join("\n"));
  const { MH_UI_BIND_ADDR: pages = "", MH_API_BIND_ADDR: api = "" } = environment;
  if (pages !== "" && api !== "" && pages !== api) {
    throw new ConfigError(
      "MH_UI_BIND_ADDR and MH_API_BIND_ADDR: one address serves both here; give both the same value",
    );
  }
  return withMailpitAliases(environment);
}

/** The same for a command that opens nothing, which no variable stops. */
export function withMailpitAliases(environment: Environment): {
  environment: Environment;
  ignored: string[];
} {
  const added: Record<string, string> = {};
  const ignored: string[] = [];
  for (const [name, translate] of Object.entries(ALIASES)) {
    const value = environment[name] ?? "";
    const translated = value === "" ? {} : translate(value, name);
    if (translated === null) ignored.push(name);
    for (const [own, text] of Object.entries(translated ?? {})) {
      if (!isGiven(environment, own)) added[own] = text;
    }
  }
  for (const name of givenNames(environment)) {
    const isForeign = !name.toUpperCase().startsWith("MAILSTEAD_") && !SERVICE_LINK.test(name);
    if (isForeign && !Object.hasOwn(ALIASES, name) && !ALWAYS_SO.has(name)) ignored.push(name);
  }
  return { environment: { ...environment, ...added }, ignored: ignored.sort() };
}

/** An empty variable counts as absent, because compose files pass unset variables as empty. */
function givenNames(environment: Environment): string[] {
  return Object.keys(environment)
    .filter((name) => /^(?:MP|MH|MAILSTEAD)_/i.test(name) && (environment[name] ?? "") !== "")
    .sort();
}

/** Flags of Mailpit whose names differ from those of their variables. */
const FLAGS: Readonly<Record<string, string>> = {
  d: "MP_DATABASE",
  l: "MP_UI_BIND_ADDR",
  listen: "MP_UI_BIND_ADDR",
  m: "MP_MAX_MESSAGES",
  max: "MP_MAX_MESSAGES",
  s: "MP_SMTP_BIND_ADDR",
  smtp: "MP_SMTP_BIND_ADDR",
};

/** Returns the advice for a flag of Mailpit or MailHog; null if they have no such flag. */
export function insteadOfFlag(flag: string): string | null {
  const name = flag.replace(/^-{1,2}/, "");
  const suffix = name.replaceAll("-", "_").toUpperCase();
  const variables = [FLAGS[name] ?? "", `MP_${suffix}`, `MH_${suffix}`];
  const variable = variables.find((each) => KNOWN.includes(each));
  if (variable === undefined) return null;
  if (Object.hasOwn(ALIASES, variable)) return `set the variable ${variable}`;
  return RESTRICTIONS[variable] ?? "leave it out";
}

function isGiven(environment: Environment, name: string): boolean {
  return (environment[name] ?? "") !== "" || (environment[`${name}_FILE`] ?? "") !== "";
}

/** Reads `host:port`, `[address]:port` or `:port`, which means every address of the machine. */
function addressOf(value: string, name: string): { host: string; port: string } {
  const at = value.lastIndexOf(":");
  const port = value.slice(at + 1);
  if (at === -1 || !/^\d{1,5}$/.test(port)) {
    throw new ConfigError(`${name}: expected an address and a port such as 0.0.0.0:8025`);
  }
  const host = value.slice(0, at).replace(/^\[([^\]]*)\]$/, "$1");
  return { host: host === "" ? "0.0.0.0" : host, port };
}

/** The data folder beside a database file, or in the folder that is named instead of a file. */
function dataFolderOf(value: string): string {
  return extname(value) === "" ? join(value, DATA_FOLDER) : join(dirname(value), DATA_FOLDER);
}

/** Reads `3d` or `36h`. Messages are kept for whole days, so hours are rounded up. */
function daysOf(value: string, name: string): number {
  const age = requireForm(value, name, /^\d{1,5}[dh]$/, "days or hours such as 7d or 36h");
  const count = Number(age.slice(0, -1));
  return age.endsWith("d") ? count : Math.ceil(count / 24);
}

function requireForm(value: string, name: string, form: RegExp, accepted: string): string {
  if (form.test(value)) return value;
  throw new ConfigError(`${name}: expected ${accepted}, got "${value}"`);
}

/** Reads a switch that restricts something, so a value of neither kind is no "false". */
function isDemanded(value: string, name: string): boolean {
  if (isFalse(value)) return false;
  if (isTrue(value) || value.toLowerCase() === "on") return true;
  throw new ConfigError(`${name}: expected true or false, got "${value}"`);
}

function isFalse(value: string): boolean {
  return ["0", "false", "no", "off"].includes(value.toLowerCase());
}

function isTrue(value: string): boolean {
  return ["1", "true", "yes"].includes(value.toLowerCase());
}
