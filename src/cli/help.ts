/** Help texts, which are generated from the commands so that they are always complete. */

import { SETTINGS } from "../config/settings.ts";
import { VERSION } from "../lib/version.ts";
import { type Command, flagsOf } from "./command.ts";

export function overview(commands: readonly Command[]): string {
  const rows = [...commands.map(titleAndSummary), ["help [COMMAND]", "Show help"] as const];
  return [
    `Mailstead ${VERSION}: an email platform in one executable with one SQLite file.`,
    "",
    "Start here:  mailstead dev",
    "",
    "Commands:",
    ...table(rows),
    "",
    "mailstead help COMMAND shows the flags of a command. Every command accepts --json.",
  ].join("\n");
}

export function commandHelp(command: Command): string {
  return [
    `mailstead ${title(command)} [flags]`,
    `  ${command.summary}.`,
    ...(command.details === undefined ? [] : ["", command.details]),
    ...section(
      "Arguments",
      command.positionals.map(({ name, help }) => [name, help] as const),
    ),
    ...section(
      "Flags",
      flagsOf(command)
        .filter((flag) => !isSetting(flag.name))
        .map((flag) => [flagTitle(flag), flag.help] as const),
    ),
    ...section(
      "Settings (flag, or environment variable, or file named by …_FILE)",
      command.settings.map((name) => {
        const { flag, env, placeholder, shownDefault, help } = SETTINGS[name];
        return [`--${flag} ${placeholder}`, `${help} [${env}, default: ${shownDefault}]`] as const;
      }),
    ),
  ].join("\n");
}

function isSetting(flag: string): boolean {
  return Object.values(SETTINGS).some((setting) => setting.flag === flag);
}

function flagTitle(flag: { name: string; placeholder?: string }): string {
  return flag.placeholder === undefined ? `--${flag.name}` : `--${flag.name} ${flag.placeholder}`;
}

function title(command: Command): string {
  const positionals = command.positionals.map(({ name, isOptional, isMany }) =>
    isOptional === true ? `[${name}]` : isMany === true ? `${name}…` : name,
  );
  return [command.name, ...positionals].join(" ");
}

function titleAndSummary(command: Command): readonly [string, string] {
  return [title(command), command.summary];
}

function section(name: string, rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : ["", `${name}:`, ...table(rows)];
}

const MAX_TITLE_WIDTH = 34;

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(MAX_TITLE_WIDTH, Math.max(...rows.map(([left]) => left.length)));
  return rows.map(([left, right]) =>
    left.length > width
      ? `  ${left}\n  ${" ".repeat(width)}  ${right}`
      : `  ${left.padEnd(width)}  ${right}`,
  );
}
