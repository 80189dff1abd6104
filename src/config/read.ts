/** Reads the settings: one frozen object from flags, environment variables and files. */

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type { Setting } from "./setting.ts";
import { type Config, SETTING_NAMES, type SettingName, SETTINGS } from "./settings.ts";

/** The error for an invalid setting. `message` names the flag and the accepted values. */
export class ConfigError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings. Flags take precedence over environment variables, and these over defaults.
 * Instead of a variable, `<NAME>_FILE` may name a file that contains the value. If `names` are given,
 * all other settings have their defaults.
 */
export function readConfig(
  flags: Readonly<Record<string, string>>,
  environment: Environment,
  defaults: Partial<Config> = {},
  names: readonly SettingName[] | null = null,
): Config {
  const config: Partial<Config> = {};
  for (const name of SETTING_NAMES) Object.assign(config, { [name]: read(name) });
  if (!isComplete(config)) throw new ConfigError("a setting has no value");
  if (config.transport === "relay" && config.relayUrl === null) {
    throw new ConfigError(
      `--transport relay needs --relay-url (${SETTINGS.relayUrl.env}): ${SETTINGS.relayUrl.help}`,
    );
  }
  requireFirstRelay(config);
  if (names === null || names.includes("tlsCert")) requireTlsSettings(config);
  return Object.freeze(config);

  function read<Name extends SettingName>(name: Name): Config[Name] {
    const setting: Setting<Config[Name]> = SETTINGS[name];
    const isRead = names === null || names.includes(name);
    const given = isRead ? givenText(setting, flags, environment) : null;
    if (given === null) return defaults[name] ?? setting.fallback();
    const parsed = setting.parse(given.text);
    if ("value" in parsed) return parsed.value;
    throw new ConfigError(`${given.source}: expected ${parsed.accepted}`);
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
