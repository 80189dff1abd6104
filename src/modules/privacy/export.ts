/**
 * The export of all that a project has stored about a person: JSON, or a page to read in the language
 * of the person. Both are made while the client reads them.
 */

import type { App } from "../../core/app.ts";
import {
  RECORD_END,
  RECORD_HEADERS,
  recordHead,
  recordSectionParts,
} from "../../http/record-page.ts";
import { isoTime } from "../../lib/clock.ts";
import { createYield } from "../../lib/yield.ts";
import {
  type DataExportField,
  type DataExportTexts,
  dataExportTexts,
} from "../../render/data-export-texts.ts";
import { fillPlaceholders, type Texts } from "../../render/language.ts";
import type { ContactRow } from "../contacts/service.ts";
import { MAX_BODIES, PERSON_SECTIONS, type PersonRecord } from "./person-records.ts";

type ExportFormat = { format: "json" } | { format: "html"; texts: Texts };

/** Records of a section of the page; the JSON has all of them. */
const MAX_SHOWN = 1_000;
const LONGEST_CELL = 10_000;

const project = "SELECT name FROM projects WHERE seq = ?";

/** The answer with the export. The contact must exist. */
export function exportPerson(app: App, contact: ContactRow, wanted: ExportFormat): Response {
  if (wanted.format === "html") {
    return new Response(streamOf(pageParts(app, contact, wanted.texts)), {
      headers: RECORD_HEADERS,
    });
  }
  return new Response(streamOf(jsonParts(app, contact)), {
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "Content-Disposition": 'attachment; filename="stored-about-you.json"',
      "X-Content-Type-Options": "nosniff",
    },
  });
}

function streamOf(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: async () => void (await parts.return(undefined)),
  });
}

function projectName({ db }: App, { projectSeq }: ContactRow): string {
  return db.sqlite.query<{ name: string }, [number]>(project).get(projectSeq)?.name ?? "";
}

async function* jsonParts(app: App, contact: ContactRow): AsyncGenerator<string> {
  const about = { project: projectName(app, contact), exportedAt: isoTime(app.clock.now()) };
  const yieldIfBusy = createYield();
  yield JSON.stringify(about).slice(0, -1);
  for (const section of PERSON_SECTIONS) {
    const isOne = section.name === "contact" || section.name === "suppression";
    yield `,\n${JSON.stringify(section.name)}:${isOne ? "" : "["}`;
    let count = 0;
    for await (const record of section.records(app, contact, { hasBodies: true })) {
      await yieldIfBusy();
      yield `${count++ === 0 ? "" : ",\n"}${JSON.stringify(record)}`;
    }
    yield isOne ? (count === 0 ? "null" : "") : "]";
  }
  yield "}\n";
}

async function* pageParts(app: App, contact: ContactRow, texts: Texts): AsyncGenerator<string> {
  const yieldIfBusy = createYield();
  const words = dataExportTexts(texts);
  const wording = createWording(texts.language, words);
  const number = new Intl.NumberFormat(texts.language);
  const fill = (text: string) =>
    fillPlaceholders(text, {
      project: projectName(app, contact),
      email: contact.email,
      date: wording.time(app.clock.now()),
      shown: number.format(MAX_SHOWN),
      bodies: number.format(MAX_BODIES),
    });
  const notes = [fill(words.madeAt), fill(words.limits), words.codes];
  yield recordHead({ language: texts.language, title: fill(words.title), notes });
  for (const section of PERSON_SECTIONS) {
    const shown: ShownRecord[] = [];
    for await (const { body: _, ...rest } of section.records(app, contact, { hasBodies: false })) {
      if (shown.length === MAX_SHOWN) break;
      await yieldIfBusy();
      shown.push(rest);
    }
    const title = words.sections[section.name];
    const table = tableOf(shown, wording);
    for (const part of recordSectionParts({ title, ...table, nothing: words.nothing })) {
      await yieldIfBusy();
      yield part;
    }
  }
  yield RECORD_END;
}

type ShownRecord = Omit<PersonRecord, "body">;

type Table = { columns: readonly string[]; rows: Iterable<readonly string[]> };

/** One record is a list of its members; many are a table, whose rows are made one after another. */
function tableOf(records: readonly ShownRecord[], wording: Wording): Table {
  const { words, label, cell } = wording;
  const [first] = records;
  if (records.length === 1 && first !== undefined) {
    const rows = Object.entries(first).map(([name, value]) => [label(name), cell(name, value)]);
    return { columns: [words.field, words.value], rows };
  }
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  return { columns: names.map(label), rows: rowsOf(records, names, wording) };
}

function* rowsOf(
  records: readonly ShownRecord[],
  names: readonly string[],
  { cell }: Wording,
): Generator<string[]> {
  for (const record of records) {
    const members = new Map<string, unknown>(Object.entries(record));
    yield names.map((name) => cell(name, members.get(name)));
  }
}

type Wording = ReturnType<typeof createWording>;

/** Writes labels, times and values in a language. */
function createWording(language: string, words: DataExportTexts) {
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: "long",
    timeStyle: "medium",
    timeZone: "UTC",
  });
  const time = (at: number): string => format.format(at);
  const label = (name: string): string => (isField(words, name) ? words.fields[name] : name);

  function valueText(name: string, value: unknown): string {
    if (value === null || value === undefined) return "–";
    if (typeof value === "boolean") return value ? words.yes : words.no;
    if (typeof value === "string") return isTime(name) ? time(Date.parse(value)) : value;
    if (typeof value !== "object") return JSON.stringify(value);
    if (!MADE_OF_FIELDS.has(name)) return JSON.stringify(value, null, 1);
    if (Array.isArray(value)) return value.map((part) => valueText(name, part)).join("\n\n") || "–";
    return Object.entries(value)
      .map(([part, held]) => `${label(part)}: ${valueText(part, held)}`)
      .join("\n");
  }

  return {
    words,
    time,
    label,
    cell(name: string, value: unknown): string {
      const text = valueText(name, value);
      return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
    },
  };
}

function isField({ fields }: DataExportTexts, name: string): name is DataExportField {
  return Object.hasOwn(fields, name);
}

/** Members with records of this server; other members have the data of the project as JSON. */
const MADE_OF_FIELDS: ReadonlySet<string> = new Set([
  "attempts",
  "reports",
  "steps",
  "topic",
  "source",
  "wording",
]);

/** True for the members that hold a time in ISO 8601. */
const isTime = (name: string): boolean =>
  name === "at" || name === "pausedUntil" || name.endsWith("At");
