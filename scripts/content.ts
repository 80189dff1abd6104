/**
 * Compares the messages of campaigns and stored templates, read off the wire, with the ordinary
 * rendering of each template and contact, which this script computes for each mail alone.
 *
 * `bun scripts/content.ts [--mails 5000] [--seed N] [--binary[=PATH]]`
 *
 * The mails have plain text, lists, tables, quotes, conditions, loops, right-to-left and CJK text,
 * emoji, empty and hostile values, tracked links and footers in several languages. Each message must
 * have the expected headers, HTML and text, no body line above 76 characters, and two signatures
 * that mailauth and dkimpy verify. A message that was rendered in full must have the expected octets; a
 * letter must have no line that begins with a dot. dkimpy is fetched with apt-get if it is missing; if that fails,
 * the script says so. The exit code is 1 if anything differs.
 */

import { join } from "node:path";
import { removeFolder, temporaryFolder } from "./bench/children.ts";
import { printValue, reportAims, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { contentAims } from "./content/aims.ts";
import { type ContentReport, runContent } from "./content/run.ts";
import { verifyWithDkimpy, verifyWithMailauth } from "./content/signatures.ts";
import { TEMPLATES } from "./content/templates.ts";
import { crashOptions } from "./crash/options.ts";

/** Share of the mails that POST /v1/send accepts; the others belong to campaigns. */
const SENT_SHARE = 0.2;
const SHOWN_FAULTS = 20;
const LIMIT_MS = 20 * 60_000;

async function run(): Promise<boolean> {
  const { mails, seed, binary } = crashOptions("content.ts", { mails: 5_000, seed: 1 });
  const perTemplate = Math.ceil(mails / TEMPLATES.length);
  const sends = Math.round(perTemplate * SENT_SHARE);
  const contacts = perTemplate - sends;
  const total = perTemplate * TEMPLATES.length;
  console.log(`content: ${whole(total)} mails of ${TEMPLATES.length} templates, seed ${seed}`);
  const data = temporaryFolder();
  const report = await runContent({ data, binary, contacts, sends, seed });
  printTable(report);
  const { messages, records } = report;
  const verified = [
    await verifyWithMailauth(messages, records),
    await verifyWithDkimpy(messages, records, join(data, "packages")),
  ];
  removeFolder(data);
  for (const fault of report.faults.slice(0, SHOWN_FAULTS)) printValue("differs", fault);
  return reportAims(contentAims(report, verified));
}

function printTable({ templates }: ContentReport): void {
  const line = (name: string, ...columns: (number | string)[]) =>
    `  ${name.padEnd(40)} ${columns.map((column) => String(column).padStart(11)).join("")}`;
  console.log(line("template", "mails", "equal", "letters", "must fail"));
  for (const { name, mails, equal, letters, refused } of templates) {
    console.log(line(name, mails, equal, letters, refused));
  }
}

await runCheck(run, LIMIT_MS);
