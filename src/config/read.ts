/**
 * Reads the settings: one frozen object from flags, environment variables, files and the dashboard.
 *
 * 1. `readGiven` collects the texts of flags, variables and files, once.
 * 2. `buildConfig` parses them together with the values of the dashboard, which may change later.
 */

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { Setting } from "./setting.ts";
import { storable } from "./setting-subjects.ts";
import { type Config, SETTING_NAMES, type SettingName, SETTINGS } from "./settings.ts";

/** The error for an invalid setting. `message` names the flag and the accepted values. */
export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

/** The flag, or the variable, with the file that it names. */
type GivenSource =
  | { kind: "flag" | "environment"; name: string; path: null }
  | { kind: "file"; name: string; path: string };
type Given = { text: string; source: GivenSource };
/** The texts of flags, variables and files. */
export type GivenSettings = { readonly [Name in SettingName]?: Given };
/** The values that were set in the dashboard. */
export type StoredTexts = { readonly [Name in SettingName]?: string };

/** The sources of the settings of a process; the settings of the dashboard are added to them. */
export type SettingSources = {
  given: GivenSettings;
  /** Null before the database is opened. Throws ConfigError. */
  withStored(stored: StoredTexts | null): Config;
};

type BuildOptions = {
  defaults?: Partial<Config>;
  /** The settings to read; all others have their defaults. Without it, all are read. */
  names?: readonly SettingName[] | null;
  /** Null before the database is opened: then a setting may be missing that the dashboard may have. */
  stored?: StoredTexts | null;
};

/**
 * Reads the settings without those of the dashboard. Flags take precedence over environment
 * variables, and these over defaults. Instead of a variable, `<NAME>_FILE` may name a file that contains
 * the value. If `names` are given, all other settings have their defaults.
 */
export function readConfig(
  flags: Readonly<Record<string, string>>,
  environment: Environment,
  defaults: Partial<Config> = {},
  names: readonly SettingName[] | null = null,
): Config {
  return buildConfig(readGiven(flags, environment, names), { defaults, names });
}

/** The settings that were given by flags, variables and files. */
export function readGiven(
  flags: Readonly<Record<string, string>>,
  environment: Environment,
  names: readonly SettingName[] | null = null,
): GivenSettings {
  const given: Partial<Record<SettingName, Given>> = {};
  for (const name of names ?? SETTING_NAMES) {
    const setting = SETTINGS[name];
    const found = givenText(setting, flags, environment);
    if (found !== null && found.text !== setting.absent) given[name] = found;
  }
  return given;
}

/**
 * Parses the settings. Given values take precedence over those of the dashboard, and these over
 * defaults.
 */
export function buildConfig(
  given: GivenSettings,
  { defaults = {}, names = null, stored = {} }: BuildOptions = {},
): Config {
  const config: Partial<Config> = {};
  for (const name of SETTING_NAMES) Object.assign(config, { [name]: read(name) });
  if (!isComplete(config)) throw new ConfigError("a setting has no value");
  if (stored !== null) {
    requireRelayUrl(config);
    requireFirstRelay(config);
  }
  if (names === null || names.includes("tlsCert")) requireTlsSettings(config);
  return Object.freeze(config);

  function read<Name extends SettingName>(name: Name): Config[Name] {
    const setting: Setting<Config[Name]> = SETTINGS[name];
    const found = given[name] ?? storedText(name, names, stored);
    if (found === null) return defaults[name] ?? setting.fallback();
    const parsed = setting.parse(found.text);
    if ("value" in parsed) return parsed.value;
    throw new ConfigError(`${sourceText(setting, found.source)}: expected ${parsed.accepted}`);
  }
}

function requireFirstRelay({ transport, relayUrl, fallbackRelayUrl }: Config): void {
  if (fallbackRelayUrl === null) return;
  if (transport !== "relay") {
    throw new ConfigError("--fallback-relay-url has an effect only with --transport relay");
  }
  if (relayUrl?.host === fallbackRelayUrl.host && relayUrl.port === fallbackRelayUrl.port) {
    throw new ConfigError("--fallback-relay-url: expected another relay than that of --relay-url");
  }
}

function storedText(
  name: SettingName,
  names: readonly SettingName[] | null,
  stored: StoredTexts | null,
): { text: string; source: null } | null {
  const isRead = storable(name) !== null && (names === null || names.includes(name));
  const text = isRead ? stored?.[name] : undefined;
  return text === undefined ? null : { text, source: null };
}

/** `source` is null for the dashboard. */
function sourceText({ flag }: { flag: string }, source: GivenSource | null): string {
  if (source !== null) return source.name;
  return `${flag}, which was set in the dashboard (--${flag} takes precedence over it)`;
}

function requireRelayUrl({ transport, relayUrl }: Config): void {
  if (transport !== "relay" || relayUrl !== null) return;
  throw new ConfigError(
    `--transport relay needs --relay-url (${SETTINGS.relayUrl.env}): ${SETTINGS.relayUrl.help}`,
  );
}

/** The certificate of HTTPS needs its files, and names that the links lead to. */
function requireTlsSettings({
  tls,
  tlsCert,
  tlsKey,
  url,
  trackingUrl,
  ...addresses
}: Config): void {
  const hasFiles = tlsCert !== null && tlsKey !== null;
  if (tls === "files" && !hasFiles) {
    throw new ConfigError("--tls files needs --tls-cert and --tls-key");
  }
  if (tls !== "files" && (tlsCert !== null || tlsKey !== null)) {
    throw new ConfigError("--tls-cert and --tls-key have an effect only with --tls files");
  }
  const { acmeDirectory, acmeCa, acmeEab } = addresses;
  if (tls !== "acme" && [acmeDirectory, acmeCa, acmeEab].some((each) => each !== null)) {
    throw new ConfigError(
      "--acme-directory, --acme-ca and --acme-eab have an effect only with --tls acme",
    );
  }
  if (acmeDirectory?.startsWith("http:")) {
    throw new ConfigError("--acme-directory: expected an https URL");
  }
  if (tls === "off" && (addresses.https !== null || addresses.plainHttp !== null)) {
    throw new ConfigError("--https and --plain-http have an effect only with --tls");
  }
  if (tls === "acme" && [url, trackingUrl].some((each) => each !== null && !hasPublicName(each))) {
    throw new ConfigError(
      "--tls acme needs names such as mail.example.com in --url and --tracking-url",
    );
  }
  if (tls !== "off" && !url?.startsWith("https:")) {
    throw new ConfigError(`--tls ${tls} needs --url https://… with the public name of this server`);
  }
}

/** A CA gives no certificate for an IP address, or for a name within a network. */
function hasPublicName(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname.includes(".") && isIP(hostname) === 0;
}

function isComplete(config: Partial<Config>): config is Config {
  return SETTING_NAMES.every((name) => Object.hasOwn(config, name));
}

function givenText(
  setting: { flag: string; env: string },
  flags: Readonly<Record<string, string>>,
  environment: Environment,
): Given | null {
  const flag = flags[setting.flag];
  if (flag !== undefined) {
    return { text: flag, source: { kind: "flag", name: `--${setting.flag}`, path: null } };
  }
  // An empty variable counts as absent, because compose files pass unset variables as empty.
  const file = environment[`${setting.env}_FILE`] ?? "";
  const direct = environment[setting.env] ?? "";
  if (file !== "" && direct !== "") {
    throw new ConfigError(
      `${setting.env} and ${setting.env}_FILE are both set: set only one of them`,
    );
  }
  if (file !== "") {
    const name = `${setting.env}_FILE`;
    return { text: readValueFile(name, file), source: { kind: "file", name, path: file } };
  }
  return direct === ""
    ? null
    : { text: direct, source: { kind: "environment", name: setting.env, path: null } };
}

function readValueFile(source: string, path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch {
    throw new ConfigError(`${source}: cannot read the file ${path}`);
  }
}
