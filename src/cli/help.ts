/** Help texts, which are generated from the commands so that they are always complete. */

import { type SettingName, SETTINGS } from "../config/settings.ts";
import { VERSION } from "../lib/version.ts";
import { type Command, flagsOf } from "./command.ts";
import { SETTING_SUBJECTS } from "../config/setting-subjects.ts";

/** Commands about one subject. */
export type CommandGroup = { subject: string; commands: readonly Command[] };

export function overview(groups: readonly CommandGroup[]): string {
  const sections = groups.map(({ subject, commands }) => ({
    subject,
    rows: commands.map(titleAndSummary),
  }));
  sections.push({ subject: "Help", rows: [["help [COMMAND]", "Show help"]] });
  const width = widthOf(sections.flatMap(({ rows }) => rows));
  return [
    `Mailstead ${VERSION}: an email platform in one executable with one SQLite file.`,
    "",
    "Start here:  mailstead dev",
    ...sections.flatMap(({ subject, rows }) => ["", `${subject}:`, ...table(rows, width)]),
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
        .filter((flag) => !isSettingOf(command, flag.name))
        .map((flag) => [flagTitle(flag), flag.help] as const),
    ),
    ...settingSections(command.settings),
  ].join("\n");
}

/** Most settings that are one list; more of them are listed by subject. */
const MAX_SETTINGS_IN_LIST = 10;
const SETTINGS_TITLE = "Settings (flag, or environment variable, or file named by …_FILE)";

function settingSections(names: readonly SettingName[]): string[] {
  if (names.length <= MAX_SETTINGS_IN_LIST) return section(SETTINGS_TITLE, names.map(settingRow));
  return [
    "",
    `${SETTINGS_TITLE}, by subject`,
    ...SETTING_SUBJECTS.flatMap(([subject, listed]) => {
      const shown = listed.map(([name]) => name).filter((name) => names.includes(name));
      return section(subject, shown.map(settingRow));
    }),
  ];
}

function settingRow(name: SettingName): readonly [string, string] {
  const { flag, env, placeholder, shownDefault, help } = SETTINGS[name];
  return [`--${flag} ${placeholder}`, `${help} [${env}, default: ${shownDefault}]`];
}

/** A command may have a flag of its own with the name of a setting that it does not read. */
function isSettingOf({ settings }: Command, flag: string): boolean {
  return settings.some((name) => SETTINGS[name].flag === flag);
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

type Rows = readonly (readonly [string, string])[];

const widthOf = (rows: Rows): number =>
  Math.min(MAX_TITLE_WIDTH, Math.max(...rows.map(([left]) => left.length)));

function table(rows: Rows, width = widthOf(rows)): string[] {
  return rows.map(([left, right]) =>
    left.length > width
      ? `  ${left}\n  ${" ".repeat(width)}  ${right}`
      : `  ${left.padEnd(width)}  ${right}`,
  );
}
