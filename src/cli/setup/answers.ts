/**
 * The answers of setup. Each is a flag, or is asked in a terminal, where Enter takes the value of the
 * files of an earlier setup or else a usual one. Without a terminal, these values count as well, and
 * what has neither is an error that names the flag.
 */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type SettingName, SETTINGS } from "../../config/settings.ts";
import { AppError } from "../../lib/errors.ts";
import { requireGoodPassword } from "../../modules/accounts/passwords.ts";
import { domainOf, parseAddress } from "../../protocols/mime/address.ts";
import { parseMailbox } from "../../protocols/mime/mailbox.ts";
import { UsageError } from "../command.ts";
import { isProjectName, PROJECT_NAME_RULE } from "../project-name.ts";
import type { SetupContext } from "./context.ts";

export type Checked = { ok: true; value: string } | { ok: false; reason: string };

type Question = {
  flag: string;
  text: string;
  /** Said before the question in a terminal. */
  explanation?: string;
  /** The value of the files of an earlier setup. */
  current: string | null;
  /** The value that Enter takes if there is no current one. */
  usual?: string | null;
  /** Set if the usual value also counts without a terminal. */
  isOptional?: true;
  check: (text: string) => Checked | Promise<Checked>;
};

/** The value that the user gave with a flag, if any. */
export function givenFlag({ input }: SetupContext, flag: string): string | undefined {
  return input.settings[flag] ?? input.flags[flag];
}

export async function answerTo(setup: SetupContext, question: Question): Promise<string> {
  const { flag, text, current, usual = null } = question;
  const given = givenFlag(setup, flag);
  if (given !== undefined) return requireAnswer(question, given);
  const { prompter, say } = setup;
  if (!prompter.isInteractive) {
    const value = current ?? (question.isOptional === true ? usual : null);
    if (value !== null) return requireAnswer(question, value);
    throw new UsageError(`--${flag} is needed without a terminal: ${text}`);
  }
  if (question.explanation !== undefined) say(question.explanation);
  for (;;) {
    const checked = await question.check(await prompter.ask(text, current ?? usual));
    if (checked.ok) return checked.value;
    say(`  ${checked.reason}`);
  }
}

async function requireAnswer({ flag, check }: Question, text: string): Promise<string> {
  const checked = await check(text);
  if (checked.ok) return checked.value;
  throw new UsageError(`--${flag}: ${checked.reason}`);
}

/** Reads a value as the settings do. */
export function checkSetting(name: SettingName): (text: string) => Checked {
  return (text) => {
    const parsed = SETTINGS[name].parse(text);
    return "value" in parsed
      ? { ok: true, value: text }
      : { ok: false, reason: `expected ${parsed.accepted}` };
  };
}

/** The value of a setting in the environment file of an earlier setup. */
export function currentSetting({ current }: SetupContext, name: SettingName): string | null {
  return current.variables[SETTINGS[name].env] || null;
}

/** The same for a setting that may be absent: after an earlier setup, none is an answer as well. */
export function currentOrNone(setup: SetupContext, name: SettingName): string | null {
  const hasEarlier = currentSetting(setup, "transport") !== null;
  return currentSetting(setup, name) ?? (hasEarlier ? "none" : null);
}

/** A name with a dot, in which receivers and browsers find this server. */
export function checkHostName(text: string): Checked {
  const checked = checkSetting("hostname")(text.toLowerCase());
  if (!checked.ok || checked.value.includes(".")) return checked;
  return { ok: false, reason: `expected a full name such as mail.example.com, got "${text}"` };
}

export async function checkDomainName(text: string): Promise<Checked> {
  // Loaded only with a domain, because the list of public suffixes takes 4 ms and 6 MiB.
  const { parseSendingDomain } = await import("../../modules/domains/name.ts");
  const parsed = parseSendingDomain(text);
  return parsed.ok ? { ok: true, value: parsed.domain } : parsed;
}

export function checkProjectName(text: string): Checked {
  const name = text.trim();
  return isProjectName(name) ? { ok: true, value: name } : { ok: false, reason: PROJECT_NAME_RULE };
}

/** The default sender, whose domain must be the one that is verified. */
export function checkSender(domain: string): (text: string) => Checked {
  return (text) => {
    const parsed = parseMailbox(text);
    if (!parsed.ok) {
      return { ok: false, reason: `${parsed.reason} Example: 'Shop <hello@${domain}>'` };
    }
    return domainOf(parsed.mailbox.address) === domain
      ? { ok: true, value: text }
      : { ok: false, reason: `expected an address of ${domain}, got "${parsed.mailbox.address}"` };
  };
}

export function checkEmail(text: string): Checked {
  const parsed = parseAddress(text);
  return parsed.ok
    ? { ok: true, value: parsed.address }
    : { ok: false, reason: `${parsed.reason} Example: ada@example.com` };
}

export function checkChoice(choices: readonly string[]): (text: string) => Checked {
  return (text) =>
    choices.includes(text)
      ? { ok: true, value: text }
      : { ok: false, reason: `expected one of ${choices.join(", ")}, got "${text}"` };
}

/** The text of a setting, or "none". */
export function checkOptional(name: SettingName): (text: string) => Checked {
  return (text) => (text === "none" ? { ok: true, value: text } : checkSetting(name)(text));
}

const MAX_SECRET_FILE_BYTES = 8_192;

/** The content of a file that a flag names, without the line end; null without the flag. */
export function readSecretFile({ input }: SetupContext, flag: string): string | null {
  const file = input.flags[flag];
  if (file === undefined) return null;
  let text: string;
  try {
    text = readFileSync(resolve(input.io.cwd, file), "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`--${flag}: ${file} cannot be read: ${reason}`);
  }
  if (text.length <= MAX_SECRET_FILE_BYTES) return text.replace(/\r?\n$/, "");
  throw new UsageError(`--${flag}: ${file} is larger than ${MAX_SECRET_FILE_BYTES / 1024} KiB`);
}

/** The password of the owner; null if a link is to be printed instead. */
export function readOwnerPassword(setup: SetupContext, email: string): string | null {
  const password = readSecretFile(setup, "owner-password-file");
  if (password === null) return null;
  try {
    requireGoodPassword(password, email);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new UsageError(`--owner-password-file: the ${error.message.replace(":", "")}`);
  }
  return password;
}
