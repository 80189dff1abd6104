/**
 * Writes docs/configuration.md from the table of settings: `bun scripts/configuration-page.ts`.
 * A test compares the page with what this script would write.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SETTINGS } from "../src/config/settings.ts";

const PAGE = join(import.meta.dir, "../docs/configuration.md");

const INTRODUCTION = `# Configuration

Every setting is a command line flag and an environment variable. A flag wins over its variable.
Every variable can be given as \`…_FILE\`, the path of a file that holds the value; use this for
secrets such as \`MAILSTEAD_RELAY_URL_FILE\`. \`mailstead help serve\` shows the same list.

This page is written by \`bun scripts/configuration-page.ts\` from the table of settings in the source.
`;

/** The whole page, in the format that \`bun fmt\` leaves unchanged. */
export function configurationPage(): string {
  const rows = Object.values(SETTINGS).map(({ flag, env, shownDefault, help, placeholder }) => [
    `\`--${flag} ${placeholder}\``,
    `\`${env}\``,
    shownDefault,
    help,
  ]);
  const table = [["flag", "environment", "default", "meaning"], ...rows];
  const cells = table.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = [0, 1, 2, 3].map((i) => Math.max(...cells.map((row) => (row[i] ?? "").length)));
  const lines = cells.map(
    (row) => `| ${row.map((c, i) => c.padEnd(widths[i] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [INTRODUCTION, lines[0], rule, ...lines.slice(1), ""].join("\n");
}

if (import.meta.main) writeFileSync(PAGE, configurationPage());
