/**
 * Writes docs/configuration.md from the table of settings: `bun scripts/configuration-page.ts`.
 * A test compares the page with what this script would write.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SETTING_SUBJECTS } from "../src/cli/setting-subjects.ts";
import { type SettingName, SETTINGS } from "../src/config/settings.ts";

const PAGE = join(import.meta.dir, "../docs/configuration.md");

const INTRODUCTION = `# Configuration

Every setting is a command line flag and an environment variable. A flag wins over its variable.
Every variable can be given as \`…_FILE\`, the path of a file that holds the value; use this for
secrets such as \`MAILSTEAD_RELAY_URL_FILE\`. \`mailstead help serve\` shows the same list.

This page is written by \`bun scripts/configuration-page.ts\` from the table of settings in the source.
`;

/** The whole page, in the format that \`bun fmt\` leaves unchanged. */
export function configurationPage(): string {
  const sections = SETTING_SUBJECTS.map(
    ([subject, names]) => `## ${subject}\n\n${tableOf(names)}\n`,
  );
  return [INTRODUCTION, ...sections].join("\n");
}

function tableOf(names: readonly SettingName[]): string {
  const rows = names.map((name) => {
    const { flag, env, shownDefault, help, placeholder } = SETTINGS[name];
    return [`\`--${flag} ${placeholder}\``, `\`${env}\``, shownDefault, help];
  });
  const table = [["flag", "environment", "default", "meaning"], ...rows];
  const cells = table.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = [0, 1, 2, 3].map((i) => Math.max(...cells.map((row) => (row[i] ?? "").length)));
  const lines = cells.map(
    (row) => `| ${row.map((c, i) => c.padEnd(widths[i] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}

if (import.meta.main) writeFileSync(PAGE, configurationPage());
