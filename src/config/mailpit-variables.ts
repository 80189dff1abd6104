/**
 * Environment variables of Mailpit as aliases of settings, so that a compose service can change its
 * image and nothing else. A setting that is given by its own variable or flag wins over its alias.
 */

import { dirname, extname, join } from "node:path";
import { ConfigError } from "./read.ts";

type Environment = Readonly<Record<string, string | undefined>>;
/** Variables of this program with their texts; null if there is nothing to set. */
type Translate = (value: string, name: string) => Readonly<Record<string, string>> | null;

const PREFIX = "MP_";
const DATA_FOLDER = "mailstead-data";

const ALIASES: Readonly<Record<string, Translate>> = {
  MP_UI_BIND_ADDR: (value, name) => {
    const { host, port } = addressOf(value, name);
    return { MAILSTEAD_HOST: host, MAILSTEAD_PORT: port };
  },
  MP_SMTP_BIND_ADDR: (value, name) => {
    const { host, port } = addressOf(value, name);
    return { MAILSTEAD_CAPTURE_SMTP: `${host.includes(":") ? `[${host}]` : host}:${port}` };
  },
  MP_DATABASE: (value) =>
    /^https?:/i.test(value) ? null : { MAILSTEAD_DATA: dataFolderOf(value) },
  MP_MAX_MESSAGES: (value, name) => ({
    MAILSTEAD_CAPTURE_MAX_MESSAGES: requireForm(value, name, /^\d{1,9}$/, "a whole number"),
  }),
  MP_MAX_AGE: (value, name) => ({ MAILSTEAD_CAPTURE_MAX_DAYS: String(daysOf(value, name)) }),
  // A certificate that is made at the start is what this program does without a file.
  MP_SMTP_TLS_CERT: (value) =>
    value.startsWith("sans:") ? {} : { MAILSTEAD_SMTP_TLS_CERT: value },
  MP_SMTP_TLS_KEY: (value) => ({ MAILSTEAD_SMTP_TLS_KEY: value }),
  MP_SMTP_REQUIRE_STARTTLS: (value) => (isTrue(value) ? { MAILSTEAD_CAPTURE_TLS: "starttls" } : {}),
  MP_SMTP_REQUIRE_TLS: (value) => (isTrue(value) ? { MAILSTEAD_CAPTURE_TLS: "implicit" } : {}),
  MP_SMTP_AUTH: (value) => ({ MAILSTEAD_CAPTURE_AUTH: value }),
  MP_SMTP_AUTH_FILE: (value) => ({ MAILSTEAD_CAPTURE_AUTH_FILE: value }),
  MP_SMTP_ALLOWED_RECIPIENTS: (value) => ({ MAILSTEAD_CAPTURE_RECIPIENTS: value }),
  MP_SMTP_MAX_RECIPIENTS: (value, name) => ({
    MAILSTEAD_CAPTURE_MAX_RECIPIENTS: requireForm(value, name, /^\d{1,5}$/, "a whole number"),
  }),
  MP_UI_AUTH: (value) => ({ MAILSTEAD_UI_AUTH: value }),
  MP_UI_AUTH_FILE: (value) => ({ MAILSTEAD_UI_AUTH_FILE: value }),
  MP_SEND_API_AUTH: (value) => ({ MAILSTEAD_SEND_API_AUTH: value }),
  MP_SEND_API_AUTH_FILE: (value) => ({ MAILSTEAD_SEND_API_AUTH_FILE: value }),
  MP_ENABLE_PROMETHEUS: (value) => (value.includes(":") ? { MAILSTEAD_METRICS: value } : null),
  MP_QUIET: (value) => (isTrue(value) ? { MAILSTEAD_LOG_LEVEL: "error" } : {}),
  MP_VERBOSE: (value) => (isTrue(value) ? { MAILSTEAD_LOG_LEVEL: "debug" } : {}),
  MP_WEBROOT: (value) => (/^\/+$/.test(value) ? {} : { MAILSTEAD_MAILPIT_WEBROOT: value }),
};

/** Variables that ask for what this program does anyway. */
const ALWAYS_SO: ReadonlySet<string> = new Set([
  "MP_BLOCK_REMOTE_CSS_AND_FONTS",
  "MP_COMPRESSION",
  "MP_DISABLE_AUTO_VACUUM",
  "MP_DISABLE_VERSION_CHECK",
  "MP_DISABLE_WAL",
  "MP_ENABLE_CHAOS",
  "MP_SMTP_AUTH_ACCEPT_ANY",
  "MP_SMTP_AUTH_ALLOW_INSECURE",
  "MP_SMTP_DISABLE_RDNS",
]);

/** Words in the names of variables that restrict access or demand encryption. */
const RESTRICTS =
  /_(?:AUTH|PASSWORD|TOKEN|SECRET|TLS|SSL|CERT|REQUIRE|ALLOWED|ALLOWLIST|WHITELIST|BLOCK|BLOCKED|BLOCKLIST|BLACKLIST|DENY|DENIED|DENYLIST|RESTRICT|RESTRICTED|FORBID|ONLY|TRUSTED|IP)(?:_|$)/;
/**
 * Variables with such a word that restrict nothing here: they open something that stays closed, or
 * belong to a part of Mailpit that this program does not have (relay, forwarding, POP3).
 */
const RESTRICTS_NOTHING =
  /^MP_(?:(?:SMTP_RELAY|SMTP_FORWARD|POP3)_|ALLOW_|(?:SMTP|SEND_API)_AUTH_(?:ACCEPT_ANY|ALLOW_INSECURE)$)/;

/** Whether ignoring the variable would leave open what it closes. */
function isRestriction(name: string, value: string): boolean {
  return RESTRICTS.test(name) && !RESTRICTS_NOTHING.test(name) && !isFalse(value);
}

/**
 * Adds the variables that Mailpit's stand for, and lists the names of those that have no setting
 * here. Throws ConfigError for a value that Mailpit would not take either, and for a variable that
 * restricts access and has no setting here, because the server would be open.
 */
export function withMailpitVariables(environment: Environment): {
  environment: Environment;
  ignored: string[];
} {
  const added: Record<string, string> = {};
  const ignored: string[] = [];
  for (const [name, value = ""] of Object.entries(environment)) {
    // An empty variable counts as absent, because compose files pass unset variables as empty.
    if (!name.startsWith(PREFIX) || value === "" || ALWAYS_SO.has(name)) continue;
    const translated = ALIASES[name]?.(value, name) ?? null;
    if (translated === null && isRestriction(name, value)) throw unknownRestriction(name);
    if (translated === null) ignored.push(name);
    for (const [own, text] of Object.entries(translated ?? {})) {
      if (!isGiven(environment, own)) added[own] = text;
    }
  }
  return { environment: { ...environment, ...added }, ignored: ignored.sort() };
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

function unknownRestriction(name: string): ConfigError {
  return new ConfigError(
    `${name}: this program cannot do it, and without it the server would be more open than you ` +
      "ask for. Remove the variable if that is right, and see docs/testing.md for what is read",
  );
}

function isFalse(value: string): boolean {
  return ["0", "false", "no"].includes(value.toLowerCase());
}

function isTrue(value: string): boolean {
  return ["1", "true", "yes"].includes(value.toLowerCase());
}
