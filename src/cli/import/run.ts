/**
 * Runs `mailstead import`: reads the export of another product into a collection (products/), tries it on
 * the running server, prints the changes that it would make, and with --apply makes them in the same
 * steps: suppressions, contacts, segments, layouts, templates, sent campaigns.
 */

import { resolve } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { oneLine } from "../../lib/one-line.ts";
import { encodingNamed } from "../../lib/text-encoding.ts";
import { bareWord } from "../../modules/contacts/import/leaving-words.ts";
import { STANDINGS } from "../../modules/contacts/import/standing.ts";
import { type Input, UsageError } from "../command.ts";
import { print } from "../store.ts";
import { type Collection, createCollection, type RefusedItem } from "./collection.ts";
import { type ImportCounts, countsTable } from "./counts.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import { importCampaigns } from "./import-campaigns.ts";
import { importLayouts, importSegments, importTemplates } from "./import-content.ts";
import { importContacts, importSuppressions, tryContacts } from "./import-people.ts";
import { readBrevo } from "./products/brevo.ts";
import { readListmonk } from "./products/listmonk.ts";
import { readMailchimp } from "./products/mailchimp.ts";
import { readPlunk } from "./products/plunk.ts";
import { readResend } from "./products/resend.ts";
import { readSendgrid } from "./products/sendgrid.ts";
import type { SourceReading, ImportSource } from "./source.ts";
import { readSourceFiles } from "./source-files.ts";

type Product = {
  title: string;
  read: (source: ImportSource) => Promise<void>;
  /** The access to its interface; absent if only its files are imported. */
  api?: { variable: string; url?: string; scheme: Scheme };
};
type Scheme = "Bearer" | "Basic" | "api-key";

const PRODUCTS: ReadonlyMap<string, Product> = new Map(
  Object.entries({
    mailchimp: { title: "Mailchimp", read: readMailchimp },
    listmonk: {
      title: "listmonk",
      read: readListmonk,
      api: { variable: "LISTMONK_API_KEY", scheme: "Basic" },
    },
    plunk: {
      title: "Plunk",
      read: readPlunk,
      api: { variable: "PLUNK_API_KEY", url: "https://next-api.useplunk.com", scheme: "Bearer" },
    },
    resend: {
      title: "Resend",
      read: readResend,
      api: { variable: "RESEND_API_KEY", url: "https://api.resend.com", scheme: "Bearer" },
    },
    sendgrid: {
      title: "SendGrid",
      read: readSendgrid,
      api: { variable: "SENDGRID_API_KEY", url: "https://api.sendgrid.com", scheme: "Bearer" },
    },
    brevo: {
      title: "Brevo",
      read: readBrevo,
      api: { variable: "BREVO_API_KEY", url: "https://api.brevo.com", scheme: "api-key" },
    },
  } satisfies Record<string, Product>),
);

/** Refusals that are printed; with --json there are all. */
const MAX_SHOWN = 50;

export async function runImport(input: Input): Promise<number> {
  const [name = "", ...paths] = input.positionals;
  const product = PRODUCTS.get(name.toLowerCase());
  if (product === undefined) {
    throw new UsageError(`unknown product "${name}": expected ${[...PRODUCTS.keys()].join(", ")}`);
  }
  const reading = readingOf(input);
  const server = serverOf(input);
  const collection = createCollection();
  const files = () => readSourceFiles(paths.map((path) => resolve(input.io.cwd, path)));
  const client = paths.length > 0 ? null : clientOf(input, name, product);
  if (client === null && input.flags["from"] !== undefined) {
    throw new UsageError("--from names a server to read from, so there must be no FILES");
  }
  await product.read({ files, client, collection, reading });
  const unknown = Object.keys(reading.mapping).filter((column) => !collection.columns.has(column));
  if (unknown.length > 0)
    throw new UsageError(`--mapping: no file has a column ${unknown.join(", ")}`);
  const report = await importCollection(server, collection, {
    source: product.title,
    reading,
    isApplied: input.flags["apply"] !== undefined,
  });
  return print(input, report, reportText(report));
}

function serverOf({ flags, io }: Input): HttpClient {
  const url = flags["server"] ?? "http://127.0.0.1:3000";
  const key = io.env["MAILSTEAD_API_KEY"] ?? "";
  if (key === "")
    throw new UsageError("MAILSTEAD_API_KEY must contain a secret key of the project");
  const credentials = { authorization: `Bearer ${key}` };
  return createHttpClient({ name: "Mailstead", url, credentials });
}

function clientOf({ flags, io }: Input, name: string, { title, api }: Product): HttpClient {
  if (api === undefined) throw new UsageError(`name the export files of ${title} after ${name}`);
  const key = io.env[api.variable] ?? "";
  if (key === "") {
    throw new UsageError(
      `name the export files of ${title}, or set ${api.variable} to its API key`,
    );
  }
  const url = flags["from"] ?? api.url;
  if (url === undefined) throw new UsageError(`--from must name the server of ${title}`);
  return createHttpClient({ name: title, url, credentials: credentialsOf(api.scheme, key) });
}

function credentialsOf(scheme: Scheme, key: string): Record<string, string> {
  switch (scheme) {
    case "Basic":
      return { authorization: `Basic ${Buffer.from(key).toString("base64")}` };
    case "Bearer":
      return { authorization: `Bearer ${key}` };
    case "api-key":
      return { "api-key": key };
  }
}

const Mapping = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]));
const Statuses = Type.Record(
  Type.String(),
  Type.Union([...STANDINGS.map((standing) => Type.Literal(standing)), Type.Null()]),
);

function readingOf({ flags }: Input): SourceReading {
  const encoding = flags["encoding"];
  if (encoding !== undefined && encodingNamed(encoding) === null) {
    throw new UsageError("--encoding: expected an encoding such as windows-1252");
  }
  const mapping = parseFlag(flags["mapping"]);
  if (!Value.Check(Mapping, mapping)) {
    throw new UsageError('--mapping: expected JSON such as {"E-Mail": "email", "Old": null}');
  }
  const statuses = parseFlag(flags["statuses"]);
  if (!Value.Check(Statuses, statuses)) {
    throw new UsageError(
      `--statuses: expected JSON such as {"gone": "UNSUBSCRIBED"}; its values are null, ${STANDINGS.join(", ")}`,
    );
  }
  const words = Object.entries(statuses).map(
    ([word, standing]) => [bareWord(word), standing] as const,
  );
  return { mapping, statuses: new Map(words), encoding: encoding ?? null };
}

function parseFlag(text: string | undefined): unknown {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    return value;
  } catch {
    return undefined; // The caller refuses it, like JSON of another shape.
  }
}

type Table = { rows: ImportCounts[]; refused: RefusedItem[] };
type Report = { dryRun: Table; applied: Table | null; notes: string[] };

/** Always tries first, so that a file with questions changes nothing. */
async function importCollection(
  server: HttpClient,
  collection: Collection,
  { source, reading, isApplied }: { source: string; reading: SourceReading; isApplied: boolean },
): Promise<Report> {
  const people = collection.result();
  const { notes, conditions, layouts, templates, campaigns } = collection;
  const tried = await tryContacts({ server }, people, reading);

  async function importAll(isDry: boolean): Promise<Table> {
    const refused = [...collection.refused];
    const target = { server, isDry, refused, notes };
    const suppressions = await importSuppressions(target, people);
    const { contacts, suppressed } = await importContacts(target, people, tried);
    suppressions.created += suppressed;
    suppressions.unchanged = suppressions.read - suppressions.created - suppressions.refused;
    const segments = people.segments;
    const rows = [
      contacts,
      suppressions,
      await importSegments(target, { segments, conditions }),
      await importLayouts(target, { layouts }),
      await importTemplates(target, { templates }),
      await importCampaigns(target, { campaigns, source }),
    ];
    return { rows, refused };
  }

  const dryRun = await importAll(true);
  const applied = isApplied ? await importAll(false) : null;
  return { dryRun, applied, notes: [...notes] };
}

function reportText({ dryRun, applied, notes }: Report): string {
  const { refused } = applied ?? dryRun;
  const shown = refused
    .slice(0, MAX_SHOWN)
    .map(({ what, reason }) => `  ${oneLine(what)}: ${oneLine(reason)}`);
  const more = refused.length - shown.length;
  return [
    "What the import would do:",
    countsTable(dryRun.rows),
    ...(applied === null ? [] : ["", "What it did:", countsTable(applied.rows)]),
    ...(refused.length === 0 ? [] : ["", "Refused:", ...shown]),
    ...(more > 0 ? [`  and ${more} more; --json shows all`] : []),
    ...(notes.length === 0 ? [] : ["", "To know:", ...notes.map((note) => `  ${oneLine(note)}`)]),
    ...(applied === null
      ? ["", "Nothing was changed. Repeat the command with --apply to import."]
      : []),
  ].join("\n");
}
