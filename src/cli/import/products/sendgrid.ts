/**
 * SendGrid: its dynamic templates by key, or the CSV export of its contacts, and the CSV files of its
 * suppressions, which their names tell apart. The export of contacts does not say who unsubscribed, so it is taken only beside the file
 * of global unsubscribes.
 */

import { type Static, Type } from "@sinclair/typebox";
import type { Standing } from "../../../modules/contacts/import/standing.ts";
import { bareWord } from "../../../modules/contacts/import/leaving-words.ts";
import { UsageError } from "../../command.ts";
import type { Collection } from "../collection.ts";
import { convertHandlebars } from "../convert-handlebars.ts";
import { convertedTemplate } from "../converted-template.ts";
import { type HttpClient, parseShape } from "../http-client.ts";
import type { ImportSource } from "../source.ts";
import type { SourceFile } from "../source-files.ts";
import { addTable, hiddenLeaver, readTable } from "../table.ts";

type Left = Exclude<Standing, "SUBSCRIBED">;

const LISTS: readonly [pattern: RegExp, standing: Left | null][] = [
  [/unsubscribe/i, "UNSUBSCRIBED"],
  [/spam/i, "COMPLAINT"],
  [/bounce|invalid/i, "HARD_BOUNCE"],
  [/block/i, null],
];
const LIST_NAMES = "unsubscribes, spam_reports, bounces, invalid_emails or blocks";
const DROPPED = new Set(["contactid", "phonenumberid", "updatedat"]);

const MaybeText = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const ListedTemplate = Type.Object({ id: Type.String() });
const Template = Type.Object({
  name: Type.String(),
  versions: Type.Array(
    Type.Object({ active: Type.Integer(), subject: MaybeText, html_content: MaybeText }),
  ),
});
const Templates = Type.Object({
  result: Type.Array(ListedTemplate),
  _metadata: Type.Optional(Type.Object({ next: MaybeText })),
});
const MAX_PAGES = 1_000;

export async function readSendgrid(source: ImportSource): Promise<void> {
  if (source.client === null) return readExports(source);
  await readTemplates(source.client, source);
  source.collection.notes.add(
    "The key brings dynamic templates only: contacts and suppressions come with their CSV files",
  );
}

async function readTemplates(client: HttpClient, { collection }: ImportSource): Promise<void> {
  let token: string | null = "";
  for (let page = 0; token !== null; page++) {
    if (page === MAX_PAGES) throw new Error(`SendGrid has more than ${MAX_PAGES} pages`);
    const after: string = token === "" ? "" : `&page_token=${encodeURIComponent(token)}`;
    const answer = await client.get(`/v3/templates?generations=dynamic&page_size=100${after}`);
    const list = parseShape(Templates, answer, "SendGrid's list of templates");
    const { result, _metadata: metadata } = list;
    for (const { id } of result) {
      const one = await client.get(`/v3/templates/${encodeURIComponent(id)}`);
      addTemplate(collection, parseShape(Template, one, `SendGrid's template ${id}`));
    }
    token = tokenIn(metadata?.next);
  }
}

/** The token in the address of the next page; only the token is used, and not its host. */
function tokenIn(next: string | null | undefined): string | null {
  return new URLSearchParams(next?.split("?").at(1) ?? "").get("page_token");
}

function addTemplate(collection: Collection, { name, versions }: Static<typeof Template>): void {
  const version = versions.find(({ active }) => active === 1);
  if (version === undefined) {
    collection.notes.add("Templates without an active version stay behind");
    return;
  }
  const { subject, html_content: html } = version;
  collection.templates.push(convertedTemplate({ name, subject, html }, convertHandlebars));
}

async function readExports({ files, collection, reading }: ImportSource): Promise<void> {
  const contacts: SourceFile[] = [];
  let saysWhoUnsubscribed = false;
  for (const file of files()) {
    if (!/\.csv$/i.test(file.name)) {
      throw new UsageError(`${file.name}: expected a .csv file`);
    }
    const base = file.name.slice(file.name.lastIndexOf("/") + 1);
    const list = LISTS.find(([pattern]) => pattern.test(base));
    const { header, rows } = readTable(file, reading.encoding);
    const names = header.map(bareWord);
    const emailAt = names.indexOf("email");
    if (emailAt === -1) throw new UsageError(`${file.name} has no column email`);
    if (list === undefined) {
      if (!names.includes("contactid") && !names.includes("firstname")) {
        throw new UsageError(
          `${file.name} is no export of contacts; a list of suppressions is known by its name: ${LIST_NAMES}`,
        );
      }
      contacts.push(file);
      continue;
    }
    const [, standing] = list;
    saysWhoUnsubscribed ||= standing === "UNSUBSCRIBED";
    if (standing === null) {
      collection.notes.add(
        "Blocks are not imported: they were refusals of single mails, not of people",
      );
      continue;
    }
    for (const row of rows) {
      if ("fault" in row) throw hiddenLeaver(file, row.fault);
      collection.addLeft(row.cells[emailAt] ?? "", standing);
    }
  }
  if (contacts.length > 0 && !saysWhoUnsubscribed) {
    throw new UsageError(
      "the export of contacts does not say who unsubscribed: add the CSV file of the global " +
        "unsubscribes, also if it is empty, and those of unsubscribe groups",
    );
  }
  for (const file of contacts) {
    addTable(collection, file, { reading, dialect: { standing: "SUBSCRIBED", dropped: DROPPED } });
  }
  collection.notes.add("Who left one unsubscribe group is not subscribed at all");
  collection.notes.add(
    "Lists and segments, single sends, automations and statistics stay behind: the exports do not contain them. Templates come with SENDGRID_API_KEY",
  );
}
