/**
 * Compares our parser of messages with an independent one, the package `email` of Python, over files of
 * messages: `bun scripts/compare-parsers.ts FILE|FOLDER…`. docs/contributing.md says where to get such
 * files, and what the differences are that are known. Without Python it says so and ends.
 */

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseDetail, parseForIndex } from "../src/modules/inboxes/parsing/parse.ts";
import { listAt, stringAt, valueAt } from "../test/support/json.ts";

type Found = {
  subject: string;
  from: string[];
  to: string[];
  messageId: string;
  text: string;
  html: string;
  /** The type and the digest of the content of each part, sorted; those of forwarded messages without. */
  parts: string[];
};

const HEADER = ["subject", "from", "to", "messageId"] as const;
const BODY = ["text", "html", "parts"] as const;
const SCRIPT = join(import.meta.dir, "parsers/reference.py");

/** The files below these paths, in order. */
function filesBelow(paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    statSync(path).isDirectory()
      ? filesBelow(
          readdirSync(path)
            .toSorted()
            .map((name) => join(path, name)),
        )
      : [path],
  );
}

async function readOurs(raw: Buffer): Promise<Found> {
  const { messageId, subject, addresses, parts } = await parseForIndex(raw, []);
  const { text, html } = await parseDetail(raw);
  return {
    subject,
    from: addresses.from.map(({ address }) => address),
    to: addresses.to.map(({ address }) => address),
    messageId,
    text,
    html,
    parts: parts.map(({ contentType, md5 }) => partOf(contentType, md5)),
  };
}

function readTheirs(value: unknown): Found {
  const addresses = (name: string) => listAt(value, name).map(String);
  return {
    subject: stringAt(value, "subject"),
    from: addresses("from"),
    to: addresses("to"),
    messageId: stringAt(value, "messageId"),
    text: stringAt(value, "text"),
    html: stringAt(value, "html"),
    parts: listAt(value, "parts").map((part) =>
      partOf(stringAt(part, "type"), String(valueAt(part, "md5"))),
    ),
  };
}

/** The digest tells files apart; their types may differ, because we name some by the name of the file. */
const partOf = (type: string, md5: string): string => (type.startsWith("message/") ? type : md5);

/** Normalises a value, so that blanks, line ends and the order of parts do not count. */
function comparable(name: keyof Found, value: Found[keyof Found]): string {
  const text = Array.isArray(value) ? value.toSorted().join(", ") : value;
  const spaced = text.replace(/\s+/g, " ").trim();
  return name === "messageId" ? spaced.replace(/^<|>$/g, "") : spaced;
}

/** We show a forwarded message as a part of the text, so only the header of such a mail is compared. */
function differences(ours: Found, theirs: Found, isForwarding: boolean): string[] {
  const names = isForwarding ? HEADER : [...HEADER, ...BODY];
  return names.flatMap((name) => {
    const [own, other] = [comparable(name, ours[name]), comparable(name, theirs[name])];
    return own === other
      ? []
      : [`  ${name}\n    ours:   ${shown(own)}\n    theirs: ${shown(other)}`];
  });
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 300));

const files = filesBelow(process.argv.slice(2));
const python = Bun.which("python3");
if (python === null) {
  console.log("Python is not installed (python3), so nothing was compared.");
  process.exit(0);
}
const reference = Bun.spawnSync([python, SCRIPT], { stdin: Buffer.from(files.join("\n")) });
if (!reference.success) throw new Error(reference.stderr.toString());
const answers = reference.stdout.toString().trimEnd().split("\n");
const counts = { same: 0, different: 0, unreadable: 0 };
for (const [i, file] of files.entries()) {
  const answer: unknown = JSON.parse(answers[i] ?? "null");
  const raw = readFileSync(file);
  const error = valueAt(answer, "error");
  const ours = await readOurs(raw).catch((reason: unknown) => String(reason));
  if (typeof ours === "string" || error !== undefined) {
    counts.unreadable++;
    console.log(`${file}\n  ours:   ${typeof ours === "string" ? ours : "read"}`);
    console.log(`  theirs: ${typeof error === "string" ? error : "read"}`);
    continue;
  }
  const isForwarding = valueAt(answer, "isForwarding") === true;
  const found = differences(ours, readTheirs(answer), isForwarding);
  counts[found.length === 0 ? "same" : "different"]++;
  if (found.length > 0) console.log([file, ...found].join("\n"));
}
console.log(
  `${files.length} messages: ${counts.same} read alike, ${counts.different} differently, ` +
    `${counts.unreadable} not read by one of both`,
);
