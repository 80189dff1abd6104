/**
 * The people of a collection. Suppressions are imported first, so that a person who left is never
 * subscribed. Contacts are one file for the import of the server, which tries it, and then imports
 * it in steps that survive a crash; it never lifts a suppression or an unsubscription. A repeated
 * import finds its people unchanged.
 */

import { Type } from "@sinclair/typebox";
import { MAX_IMPORT_BYTES, sizeText } from "../../http/body-limits.ts";
import { createCsvReader } from "../../lib/csv.ts";
import { AppError } from "../../lib/errors.ts";
import { writeRecord } from "../../modules/contacts/import/cells.ts";
import type { Standing } from "../../modules/contacts/import/standing.ts";
import type { Collection, RefusedItem } from "./collection.ts";
import { type ImportCounts, countsOf } from "./counts.ts";
import { type HttpClient, parseShape } from "./http-client.ts";
import type { SourceReading } from "./source.ts";

type People = ReturnType<Collection["result"]>;
export type ImportTarget = {
  server: HttpClient;
  isDry: boolean;
  refused: RefusedItem[];
  notes: Set<string>;
};

const SUPPRESSED_AT_ONCE = 1_000;

const Suppressed = Type.Object({
  data: Type.Object({
    created: Type.Integer(),
    existing: Type.Integer(),
    repeated: Type.Integer(),
    refused: Type.Array(Type.Object({ email: Type.String(), message: Type.String() })),
  }),
});

/** Suppresses those who are no contacts. Contacts are suppressed with their row. */
export async function importSuppressions(
  { server, isDry, refused }: ImportTarget,
  { suppressed }: Pick<People, "suppressed">,
): Promise<ImportCounts> {
  const others = suppressed.filter(({ isContact }) => !isContact);
  const counts = countsOf("Suppressions", suppressed.length);
  for (let i = 0; i < others.length; i += SUPPRESSED_AT_ONCE) {
    const suppressions = others
      .slice(i, i + SUPPRESSED_AT_ONCE)
      .map(({ email, reason }) => ({ email, reason }));
    const answer = await server.post("/suppressions/bulk", { suppressions, dryRun: isDry });
    const { data } = parseShape(Suppressed, answer, "The answer of the server");
    counts.created += data.created;
    counts.unchanged += data.existing + data.repeated;
    counts.refused += data.refused.length;
    for (const { email, message } of data.refused) refused.push({ what: email, reason: message });
  }
  return counts;
}

const Job = Type.Object({ data: Type.Object({ jobId: Type.String() }) });
const Progress = Type.Object({
  data: Type.Object({
    status: Type.String(),
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    failed: Type.Integer(),
    suppressed: Type.Integer(),
    keptUnsubscribed: Type.Integer(),
    notes: Type.Array(Type.String()),
    problems: Type.Array(Type.Object({ message: Type.String() })),
    errors: Type.Array(
      Type.Object({ line: Type.Union([Type.Integer(), Type.Null()]), message: Type.String() }),
    ),
  }),
});
type Progress = (typeof Progress)["static"]["data"];

/** The file that the server has tried, and how it has to read it. */
type TriedContacts = {
  jobId: string;
  mapping: Record<string, string | null>;
  /** The line on which each contact begins. */
  lines: readonly number[];
};

/** Lets the server try the contacts; null without any. Throws if the file must be explained first. */
export async function tryContacts(
  { server }: Pick<ImportTarget, "server">,
  { contacts }: Pick<People, "contacts">,
  reading: Pick<SourceReading, "mapping">,
): Promise<TriedContacts | null> {
  if (contacts.length === 0) return null;
  const { bytes, header, lines } = contactsFile(contacts);
  const given = Object.entries(reading.mapping).filter(([name]) => header.includes(name));
  const own = {
    [EMAIL]: "email",
    [STATUS]: "status",
    ...(header.includes(DATA) ? { [DATA]: "data" } : {}),
  };
  const mapping = { ...Object.fromEntries(given), ...own };
  const form = new FormData();
  form.set("dryRun", "true");
  form.set("encoding", "utf-8");
  form.set("delimiter", "comma");
  form.set("mapping", JSON.stringify(mapping));
  form.set("file", new Blob([bytes], { type: "text/csv" }), "contacts.csv");
  const answer = await server.postForm("/contacts/import", form);
  const { jobId } = parseShape(Job, answer, "The answer of the server").data;
  return { jobId, mapping, lines };
}

/** Waits for the dry run, or imports its file and waits for that. */
export async function importContacts(
  target: ImportTarget,
  people: People,
  tried: TriedContacts | null,
): Promise<{ contacts: ImportCounts; suppressed: number }> {
  const { server, isDry, refused, notes } = target;
  const counts = countsOf("Contacts", people.contacts.length + people.refusedRows);
  counts.refused = people.refusedRows;
  counts.out = people.contacts.filter(({ standing }) => standing !== "SUBSCRIBED").length;
  if (tried === null) return { contacts: counts, suppressed: 0 };
  const jobId = isDry ? tried.jobId : await startImport(server, tried);
  const progress = await waitForJob(server, jobId);
  const [problem] = progress.problems;
  if (problem !== undefined) {
    throw new AppError(422, "QUESTION", `The contacts cannot be read: ${problem.message}`, {
      suggestion:
        'Answer with --mapping, as in --mapping \'{"Status": "data.Status", "Old": null}\'. Nothing was changed.',
    });
  }
  if (progress.status !== "COMPLETED") {
    const reason = progress.errors.find(({ line }) => line === null)?.message ?? "it has failed";
    throw new AppError(500, "IMPORT_FAILED", `The import of the contacts: ${reason}`);
  }
  const { created, updated, unchanged, failed, suppressed, keptUnsubscribed } = progress;
  if (keptUnsubscribed > 0) {
    notes.add(
      `Contacts that are subscribed there and not here, and stay unsubscribed: ${keptUnsubscribed}`,
    );
  }
  for (const note of progress.notes) notes.add(note);
  counts.refused += failed;
  Object.assign(counts, { created, changed: updated - unchanged, unchanged });
  if (failed === 0) return { contacts: counts, suppressed };
  const emailAt = new Map(tried.lines.map((line, i) => [line, people.contacts[i]?.email]));
  refused.push(...(await faultsOf(server, { jobId, emailAt })));
  return {
    contacts: counts,
    suppressed: suppressed + (isDry ? 0 : await importLeavers(target, people)),
  };
}

/**
 * Imports those who left once more, without their data, because the row of one of them may have been
 * refused for it, and that one may be subscribed here. Returns how many were suppressed by it.
 */
async function importLeavers(
  { server, notes }: ImportTarget,
  people: Pick<People, "contacts">,
): Promise<number> {
  const contacts = people.contacts
    .filter(({ standing }) => standing !== "SUBSCRIBED")
    .map((person) => ({ ...person, fields: new Map<string, string>(), data: {} }));
  const tried = await tryContacts({ server }, { contacts }, { mapping: {} });
  if (tried === null) return 0;
  const { created, updated, unchanged, suppressed } = await waitForJob(
    server,
    await startImport(server, tried),
  );
  const count = created + updated - unchanged;
  if (count > 0)
    notes.add(`People who left, and come without their data, which is refused: ${count}`);
  return suppressed;
}

async function startImport(
  server: HttpClient,
  { jobId, mapping }: Pick<TriedContacts, "jobId" | "mapping">,
): Promise<string> {
  const options = { mapping, encoding: "utf-8", delimiter: "comma" };
  const answer = await server.post(`/contacts/import/${jobId}/run`, options);
  return parseShape(Job, answer, "The answer of the server").data.jobId;
}

const SHORTEST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 1_000;

async function waitForJob(server: HttpClient, jobId: string): Promise<Progress> {
  for (let waitMs = SHORTEST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    const answer = await server.get(`/contacts/import/${jobId}`);
    const { data } = parseShape(Progress, answer, "The progress of the import");
    if (data.status === "COMPLETED" || data.status === "FAILED") return data;
    await Bun.sleep(waitMs);
  }
}

/** The faulty rows by their address: the server gives the first 10,000, and no cells of long ones. */
async function faultsOf(
  server: HttpClient,
  { jobId, emailAt }: { jobId: string; emailAt: ReadonlyMap<number, string | undefined> },
): Promise<RefusedItem[]> {
  const text = await server.text(`/contacts/import/${jobId}/faults`);
  const reader = createCsvReader({ delimiter: ",", newline: "\n" });
  const rows = [...reader.push(text), ...reader.end()].flat();
  return rows.slice(1).flatMap((item) => {
    if (item.kind !== "record") return [];
    const [line = "", reason = "", email = ""] = item.cells;
    return [{ what: email || emailAt.get(Number(line)) || `line ${line}`, reason }];
  });
}

/** Names that no column of an export has. */
const [EMAIL, STATUS, DATA] = ["import email", "import status", "import data"];
const WORDS: Readonly<Record<Standing, string>> = {
  SUBSCRIBED: "subscribed",
  UNSUBSCRIBED: "unsubscribed",
  MANUAL: "blocklisted",
  HARD_BOUNCE: "hardbounce",
  COMPLAINT: "complaint",
};

/** The contacts as a file for the import: the cells of the source as they are, and values as JSON. */
function contactsFile(contacts: People["contacts"]) {
  const known = new Set<string>();
  for (const { fields } of contacts) for (const name of fields.keys()) known.add(name);
  const names = [...known];
  const hasData = contacts.some(({ data }) => Object.keys(data).length > 0);
  const header = [EMAIL, STATUS, ...(hasData ? [DATA] : []), ...names];
  const records = contacts.map(({ email, standing, fields, data }) => [
    email,
    WORDS[standing],
    ...(hasData ? [JSON.stringify(data)] : []),
    ...names.map((name) => fields.get(name) ?? ""),
  ]);
  const texts = [header, ...records].map(writeRecord);
  const bytes = Buffer.from(texts.join(""));
  if (bytes.byteLength > MAX_IMPORT_BYTES) {
    throw new Error(
      `The contacts are larger than ${sizeText(MAX_IMPORT_BYTES)}: import them in parts.`,
    );
  }
  const lines: number[] = [];
  let line = 1;
  for (const text of texts) {
    lines.push(line);
    line += text.split("\n").length - 1;
  }
  return { bytes, header, lines: lines.slice(1) };
}
