/** Defines commands and their flags, and parses the arguments of a command. */

import { resolve } from "node:path";
import { isBooleanWord } from "../config/kinds.ts";
import { insteadOfFlag } from "../config/mailpit-variables.ts";
import { buildConfig, readGiven, type SettingSources } from "../config/read.ts";
import { type Config, type SettingName, SETTINGS } from "../config/settings.ts";
import { nearestOf } from "../lib/nearest.ts";
import { isS3 } from "../lib/s3-location.ts";
import type { Io } from "./io.ts";

export type Flag = {
  name: string;
  /** The name of the value in the help; absent if the flag takes no value. */
  placeholder?: string;
  /** Set if the flag without a value means true. */
  isBoolean?: true;
  /** Set if the flag may be repeated: its values are joined by commas. */
  isList?: true;
  help: string;
};

type Positional = {
  name: string;
  isOptional?: true;
  /** Set on the last one if it may be repeated. */
  isMany?: true;
  help: string;
};

export type Command = {
  /** The words after `mailstead`. */
  name: string;
  summary: string;
  /** Further lines for `help COMMAND`. */
  details?: string;
  positionals: readonly Positional[];
  flags: readonly Flag[];
  settings: readonly SettingName[];
  /** Set if the command reads all its words itself: they are its positionals. */
  isRaw?: true;
  run: (input: Input) => Promise<number>;
};

export type Input = {
  positionals: string[];
  /** Values of flags that are not settings; "" for a flag without a value. */
  flags: Readonly<Record<string, string>>;
  /** Values of flags that are settings. */
  settings: Readonly<Record<string, string>>;
  isJson: boolean;
  io: Io;
};

/** The value of `--data` for a folder that `mailstead dev` removes at the end. */
export const TEMPORARY_DATA = "temporary";

export type SettingsOptions = {
  /** The variables, if they are not those of the process. */
  environment?: Io["env"];
  defaults?: Partial<Config>;
  /** The settings to read; all others have their defaults. Without it, all are read. */
  names?: readonly SettingName[];
};

/** Reads the settings of a command, without those of the dashboard. */
export function readSettings(input: Input, options: SettingsOptions = {}): Config {
  return settingSources(input, options).withStored({});
}

/** The settings of a command. Their paths are relative to its folder. */
export function settingSources(
  { settings, io }: Input,
  options: SettingsOptions = {},
): SettingSources {
  const path = (text: string) => resolve(io.cwd, text);
  const variables = Object.entries(options.environment ?? io.env).map(
    ([name, value = ""]): [string, string] =>
      /^MAILSTEAD_.*_FILE$/.test(name) && value !== "" ? [name, path(value)] : [name, value],
  );
  const environment = Object.fromEntries(variables);
  const { defaults = {}, names = null } = options;
  const given = readGiven(settings, environment, names);
  return {
    given,
    withStored(stored) {
      const config = buildConfig(given, { defaults, names, stored });
      const { data, backupTo, eventsTo, smtpTlsCert, smtpTlsKey } = config;
      return {
        ...config,
        data: data === TEMPORARY_DATA ? data : path(data),
        backupTo: backupTo === null || isS3(backupTo) ? backupTo : path(backupTo),
        eventsTo: eventsTo === null || isS3(eventsTo) ? eventsTo : path(eventsTo),
        smtpTlsCert: smtpTlsCert === null ? null : path(smtpTlsCert),
        smtpTlsKey: smtpTlsKey === null ? null : path(smtpTlsKey),
      };
    },
  };
}

/** The error for an invalid command line, with exit code 2. */
export class UsageError extends Error {}

const JSON_FLAG: Flag = { name: "json", help: "Print JSON, for programs" };
const HELP_FLAG: Flag = { name: "help", help: "Show this help" };

/** Returns all flags that a command accepts. */
export function flagsOf(command: Command): Flag[] {
  const settings = command.settings.map((name) => {
    const { flag, placeholder, help, isBoolean, isList } = SETTINGS[name];
    const kinds = { ...(isBoolean && { isBoolean }), ...(isList && { isList }) };
    return { name: flag, placeholder, help, ...kinds };
  });
  return [...command.flags, ...settings, JSON_FLAG, HELP_FLAG];
}

type ParsedArguments = {
  positionals: string[];
  flags: Record<string, string>;
  settings: Record<string, string>;
};

/**
 * Parses `--flag value` and `--flag=value`; `--` ends the flags. Throws a UsageError for an unknown
 * flag, which names a similar one if there is one.
 */
export function parseArguments(command: Command, words: readonly string[]): ParsedArguments {
  if (command.isRaw === true) {
    const flags: Record<string, string> = words[0] === "--help" ? { help: "" } : {};
    return { positionals: [...words], flags, settings: {} };
  }
  const known = new Map(flagsOf(command).map((flag) => [flag.name, flag]));
  const settingFlags = new Set(command.settings.map((name) => SETTINGS[name].flag));
  const parsed: ParsedArguments = { positionals: [], flags: {}, settings: {} };
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === "--") {
      parsed.positionals.push(...rest.splice(0));
    } else if (word === "-h") {
      parsed.flags["help"] = "";
    } else if (!word.startsWith("-") || word === "-") {
      parsed.positionals.push(word);
    } else {
      readFlag(word);
    }
  }
  if (parsed.flags["help"] === undefined) checkPositionals(command, parsed.positionals);
  return parsed;

  function readFlag(word: string): void {
    const equals = word.indexOf("=");
    const name = word.slice(2, equals === -1 ? undefined : equals);
    const flag = word.startsWith("--") ? known.get(name) : undefined;
    if (flag === undefined) throw unknownFlag(command, word);
    const inline = equals === -1 ? undefined : word.slice(equals + 1);
    const target = settingFlags.has(name) ? parsed.settings : parsed.flags;
    if (flag.placeholder === undefined) {
      if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
      target[name] = "";
      return;
    }
    const value = inline ?? (isWithoutValue(flag, rest[0]) ? "true" : rest.shift());
    if (value === undefined) throw new UsageError(`--${name} needs a value: ${flag.placeholder}`);
    const earlier = flag.isList === true ? target[name] : undefined;
    target[name] = earlier === undefined ? value : `${earlier},${value}`;
  }
}

/** A word after a boolean flag is its value only if it means true or false. */
function isWithoutValue(flag: Flag, next: string | undefined): boolean {
  return flag.isBoolean === true && (next === undefined || !isBooleanWord(next));
}

function unknownFlag(command: Command, word: string): UsageError {
  const [given = ""] = word.split("=");
  const instead = command.settings.includes("uiAuth") ? insteadOfFlag(given) : null;
  if (instead !== null) return new UsageError(`${command.name} has no flag ${given}; ${instead}`);
  const near = nearestOf(
    given,
    flagsOf(command).map((flag) => `--${flag.name}`),
  );
  const hint = near === null ? "" : `; did you mean ${near}?`;
  return new UsageError(`${command.name} has no flag ${given}${hint}`);
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const required = command.positionals.filter((positional) => positional.isOptional !== true);
  const missing = required[given.length];
  if (missing !== undefined) {
    throw new UsageError(`${command.name} needs ${missing.name}: ${missing.help}`);
  }
  const empty = command.positionals[given.indexOf("")];
  if (empty !== undefined) throw new UsageError(`${empty.name} must not be empty: ${empty.help}`);
  const extra = given[command.positionals.length];
  if (extra !== undefined && command.positionals.at(-1)?.isMany !== true) {
    const expected = command.positionals.map((positional) => positional.name).join(" ");
    throw new UsageError(
      `unexpected "${extra}"; ${command.name} accepts ${expected || "no arguments"}`,
    );
  }
}
