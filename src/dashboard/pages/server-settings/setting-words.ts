/** The words for settings and their sources, and which settings are shown. */

import type { InstallationSetting } from "../../../modules/settings/model.ts";

const ABBREVIATIONS = new Set("acme api ca dns http https id mcp smtp tls url ui".split(" "));

/** `relay-url` as "Relay URL". */
export function settingLabel(name: string): string {
  const words = name
    .split("-")
    .map((word) => (ABBREVIATIONS.has(word) ? word.toUpperCase() : word))
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The source of the value. */
export function sourceText({ source }: Pick<InstallationSetting, "source">): string {
  const { kind, name, path } = source;
  if (kind === "FLAG") return `Given by ${name ?? "a flag"}`;
  if (kind === "ENVIRONMENT") return `Given by the variable ${name ?? ""}`;
  if (kind === "FILE") return `Given by the file ${path ?? ""} (${name ?? ""})`;
  return kind === "DASHBOARD" ? "Set here" : "Default";
}

/** The way to change a setting that cannot be changed on the page; null if it can. */
export function changeElsewhere(setting: InstallationSetting): string | null {
  const { source, effect, name, variable } = setting;
  if (source.kind === "FLAG" && source.name?.startsWith("--") === false) {
    return "It does not change while that runs.";
  }
  if (source.kind === "FILE") {
    return `Change the file and restart the server, or remove ${source.name ?? "the variable"} to set it here.`;
  }
  if (source.kind === "FLAG" || source.kind === "ENVIRONMENT") {
    const instead = effect === null ? "" : ", or remove it to set it here";
    return `Change ${source.name ?? "it"} and restart the server${instead}.`;
  }
  return effect === null ? `Give --${name} or ${variable} to the server, and restart it.` : null;
}

export const SHOWN = ["editable", "changed", "all"] as const;
export type Shown = (typeof SHOWN)[number];

export const readShown = (text: string | undefined): Shown =>
  SHOWN.find((shown) => shown === text) ?? "editable";

const isShown: Readonly<Record<Shown, (setting: InstallationSetting) => boolean>> = {
  editable: (setting) => changeElsewhere(setting) === null,
  changed: ({ source }) => source.kind !== "DEFAULT",
  all: () => true,
};

/** The settings in their groups, without empty groups. A text is searched for in all of them. */
export function groupsOf(
  settings: readonly InstallationSetting[],
  { q, shown }: { q: string; shown: Shown },
): [subject: string, settings: InstallationSetting[]][] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, InstallationSetting[]>();
  for (const setting of settings) {
    const isWanted = words.length === 0 ? isShown[shown](setting) : hasAll(setting, words);
    if (!isWanted) continue;
    const group = groups.get(setting.subject) ?? [];
    group.push(setting);
    groups.set(setting.subject, group);
  }
  return [...groups];
}

function hasAll(setting: InstallationSetting, words: readonly string[]): boolean {
  const { name, variable, subject, help, value } = setting;
  const text = [name, settingLabel(name), variable, subject, help, value ?? ""]
    .join(" ")
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The number of settings that each choice shows. */
export const countShown = (settings: readonly InstallationSetting[], shown: Shown): number =>
  settings.filter(isShown[shown]).length;
