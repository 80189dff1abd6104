/**
 * Compares how reports are read with public bounces, which are not part of this repository because of
 * their licences. Get them from their packages, unpack them into one folder, and name it:
 *
 *     pip download --no-binary :all: --no-deps flufl.bounce bounced
 *     npm pack baunsu
 *     apt-get source --download-only libmail-deliverystatus-bounceparser-perl
 *     bun scripts/report-corpus.ts FOLDER [FOLDER OF ORDINARY MESSAGES]
 *
 * `report-corpus.tsv` says of each file the recipient and the class that are right. The class is
 * `none` for a message that is no bounce, and `delay` if the server will try again. No file of the
 * second folder may be read as a bounce without a delivery status.
 */

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { readReport } from "../src/protocols/dsn/read-report.ts";

const [folder, ordinary] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder of the unpacked packages");

type Read = { kind: string; form: string; recipients: readonly string[]; class: string };

function read(file: string): Read {
  const report = readReport(readFileSync(file));
  if (report.clues === null || report.complaint !== null) {
    return { kind: report.kind, form: "", recipients: [], class: "none" };
  }
  const { kind, clues, delivery } = report;
  const found = kind === "bounce" ? delivery.findings[0]?.class : kind;
  const recipients = clues.recipients.map((address) => address.toLowerCase());
  return { kind, form: delivery.form, recipients, class: found ?? "none" };
}

const table = readFileSync(path.join(import.meta.dir, "report-corpus.tsv"), "utf8");
const rows = table
  .trimEnd()
  .split("\n")
  .map((line) => line.split("\t"));

const counts = { bounces: 0, recognised: 0, recipient: 0, class: 0, others: 0, falseBounces: 0 };
for (const [file = "", recipient = "", expected = ""] of rows) {
  const found = read(path.join(folder, file));
  const wrong: string[] = [];
  if (expected === "none") {
    counts.others++;
    if (found.kind === "bounce") counts.falseBounces++;
    if (found.kind === "bounce") wrong.push("is no bounce");
  } else {
    counts.bounces++;
    if (found.kind === (expected === "delay" ? "delay" : "bounce")) counts.recognised++;
    else wrong.push(`is read as ${found.kind}`);
    if (recipient === "" || found.recipients.includes(recipient)) counts.recipient++;
    else wrong.push(`recipient ${found.recipients.join(", ")} for ${recipient}`);
    if (found.class === expected) counts.class++;
    else wrong.push(`class ${found.class} for ${expected}`);
  }
  if (wrong.length > 0) console.log(`${file}: ${wrong.join("; ")}`);
}

if (ordinary !== undefined) {
  for (const name of readdirSync(ordinary)) {
    const found = read(path.join(ordinary, name));
    counts.others++;
    if (found.kind !== "bounce" || found.form === "standard") continue;
    counts.falseBounces++;
    console.log(`${name}: is no bounce`);
  }
}

const share = (count: number): string => `${((100 * count) / counts.bounces).toFixed(1)} %`;
console.log(`
${counts.bounces} bounces and delays: ${share(counts.recognised)} are recognised,
${share(counts.recipient)} with the right recipient, ${share(counts.class)} with the right class.
${counts.others} other messages: ${counts.falseBounces} are read as a bounce.`);
