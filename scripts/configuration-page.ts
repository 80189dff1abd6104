/**
 * Writes docs/configuration.md from the table of settings: `bun scripts/configuration-page.ts`.
 * A test compares the page with the text that this script would write.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SETTING_SUBJECTS, storable } from "../src/config/setting-subjects.ts";
import { type SettingName, SETTINGS } from "../src/config/settings.ts";

const PAGE = join(import.meta.dir, "../docs/configuration.md");

const INTRODUCTION = `# Configuration

Every setting is a command line flag and an environment variable. A flag wins over its variable.
Every variable can be given as \`…_FILE\`, the path of a file that holds the value; use this for
secrets such as \`MAILSTEAD_RELAY_URL_FILE\`. \`mailstead help serve\` shows the same list.

Owners can set some of them on the page [Server settings](dashboard.md#server-settings) of the dashboard: the column
"dashboard" says when a change there has an effect. A flag, a variable and a file win over the dashboard.

This page is written by \`bun scripts/configuration-page.ts\` from the table of settings in the source.
`;

/** The whole page, in the format that \`bun fmt\` leaves unchanged. */
export function configurationPage(): string {
  const sections = SETTING_SUBJECTS.map(
    ([subject, listed]) => `## ${subject}\n\n${tableOf(listed.map(([name]) => name))}\n`,
  );
  return [INTRODUCTION, ...sections].join("\n");
}

function tableOf(names: readonly SettingName[]): string {
  const rows = names.map((name) => {
    const { flag, env, shownDefault, help, placeholder } = SETTINGS[name];
    return [`\`--${flag} ${placeholder}\``, `\`${env}\``, shownDefault, help, storable(name) ?? ""];
  });
  const all = [["flag", "environment", "default", "meaning", "dashboard"], ...rows];
  const isAnyStorable = names.some((name) => storable(name) !== null);
  const table = isAnyStorable ? all : all.map((row) => row.slice(0, -1));
  const cells = table.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = (cells[0] ?? []).map((_, i) =>
    Math.max(...cells.map((row) => (row[i] ?? "").length)),
  );
  const lines = cells.map(
    (row) => `| ${row.map((c, i) => c.padEnd(widths[i] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}

if (import.meta.main) writeFileSync(PAGE, configurationPage());
