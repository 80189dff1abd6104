/** The commands `mailstead inbox import` and `mailstead inbox export`. */

import { existsSync, mkdirSync } from "node:fs";
import { appendFile, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AppError } from "../lib/errors.ts";
import { type Command, type Input, UsageError } from "./command.ts";
import { createInboxClient, INBOX_FLAGS, type InboxClient, type Listed } from "./inbox/client.ts";
import { type Found, readMailFiles } from "./inbox/mail-files.ts";
import { mboxEntry } from "./inbox/mbox.ts";
import { showProgress } from "./inbox/progress.ts";
import { print } from "./store.ts";

const FORMATS = ["eml", "mbox", "maildir"] as const;
type Format = (typeof FORMATS)[number];

export const inboxImport: Command = {
  name: "inbox import",
  summary: "Store messages of files in an inbox: .eml, mbox, Maildir folders",
  details:
    "Files that are not messages are skipped, with a line for each, and the exit code is then 1. An\n" +
    "inbox keeps only its newest messages: see --capture-max-messages of mailstead dev.",
  positionals: [{ name: "FILES", isMany: true, help: "files and folders with messages" }],
  flags: INBOX_FLAGS,
  settings: [],
  async run(input) {
    const client = createInboxClient(input);
    const paths = input.positionals.map((path) => resolve(input.io.cwd, path));
    const progress = showProgress(input.io.stderr, "imported");
    const faults: string[] = [];
    let imported = 0;
    for await (const found of readMailFiles(paths)) {
      const fault = await importOne(client, found);
      if (fault === null) progress(++imported);
      else {
        faults.push(`${found.name}: ${fault}`);
        input.io.stderr.line(`skipped ${found.name}: ${fault}`);
      }
    }
    progress(null);
    const skipped = faults.length === 0 ? "" : `, ${faults.length} skipped`;
    print(input, { imported, skipped: faults }, `${imported} imported${skipped}`);
    return faults.length === 0 ? 0 : 1;
  },
};

/** Returns why the message was not stored; null if it was. */
async function importOne(client: InboxClient, found: Found): Promise<string | null> {
  if ("fault" in found) return found.fault;
  try {
    await client.add(new Uint8Array(found.raw));
    return null;
  } catch (error) {
    // Another refusal would meet all messages alike, so the command ends.
    if (error instanceof AppError && (error.status === 413 || error.status === 422)) {
      return error.message;
    }
    throw error;
  }
}

export const inboxExport: Command = {
  name: "inbox export",
  summary: "Write the messages of an inbox to .eml files, an mbox file or a Maildir folder",
  details:
    "Without --format, a TARGET that ends with .mbox becomes an mbox file, and any other name becomes a\n" +
    "folder of .eml files.",
  positionals: [{ name: "TARGET", help: "a folder, or a file that does not exist yet" }],
  flags: [
    { name: "format", placeholder: FORMATS.join("|"), help: "Format of the target" },
    { name: "query", placeholder: "TEXT", help: "Only messages that match this search" },
    ...INBOX_FLAGS,
  ],
  settings: [],
  async run(input) {
    const [target = ""] = input.positionals;
    const format = formatOf(input, target);
    const client = createInboxClient(input);
    const messages = await client.list(input.flags["query"] ?? "");
    const write = await openTarget(format, resolve(input.io.cwd, target));
    const progress = showProgress(input.io.stderr, "exported");
    let exported = 0;
    for (const message of messages) {
      await write(message, await client.raw(message.id));
      progress(++exported);
    }
    progress(null);
    return print(input, { exported, target, format }, `${exported} exported to ${target}`);
  },
};

function formatOf({ flags }: Input, target: string): Format {
  const given = flags["format"];
  if (given === undefined) return target.endsWith(".mbox") ? "mbox" : "eml";
  const format = FORMATS.find((each) => each === given);
  if (format === undefined) throw new UsageError(`--format: expected ${FORMATS.join(", ")}`);
  return format;
}

type Write = (message: Listed, raw: Uint8Array) => Promise<void>;

async function openTarget(format: Format, target: string): Promise<Write> {
  if (format === "mbox") {
    if (existsSync(target)) throw new UsageError(`${target} exists already: name a new file`);
    await writeFile(target, "", { flag: "wx" });
    return async (message, raw) => appendFile(target, await mboxEntry(raw, message));
  }
  if (format === "eml") {
    mkdirSync(target, { recursive: true });
    return ({ id, receivedAt }, raw) => writeFile(join(target, nameOf(receivedAt, id)), raw);
  }
  for (const name of ["cur", "new", "tmp"]) mkdirSync(join(target, name), { recursive: true });
  return async ({ id, receivedAt, isRead }, raw) => {
    const name = `${Math.floor(receivedAt.getTime() / 1000)}.${id}.mailstead`;
    const draft = join(target, "tmp", name);
    await writeFile(draft, Buffer.from(raw).toString("latin1").replaceAll("\r\n", "\n"), "latin1");
    await rename(draft, isRead ? join(target, "cur", `${name}:2,S`) : join(target, "new", name));
  };
}

function nameOf(receivedAt: Date, id: string): string {
  return `${receivedAt.toISOString().replace(/[-:]|\.\d+/g, "")}-${id}.eml`;
}
