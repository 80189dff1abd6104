/**
 * The export of all that a project has stored about a person: JSON, or a page to read. Both are made
 * while the client reads them.
 */

import type { App } from "../../core/app.ts";
import { RECORD_HEADERS, recordPageParts, type RecordSection } from "../../http/record-page.ts";
import { isoTime } from "../../lib/clock.ts";
import type { ContactRow } from "../contacts/service.ts";
import {
  MAX_BODIES,
  PERSON_SECTIONS,
  type PersonRecord,
  type PersonSection,
} from "./person-records.ts";

type ExportFormat = "json" | "html";

/** Records of a section of the page; the JSON has all of them. */
const MAX_SHOWN = 1_000;
const LONGEST_CELL = 10_000;

const project = "SELECT name FROM projects WHERE seq = ?";

/** The answer with the export. The contact must exist. */
export function exportPerson(app: App, contact: ContactRow, format: ExportFormat): Response {
  const parts = format === "json" ? jsonParts(app, contact) : pageParts(app, contact);
  const headers =
    format === "json"
      ? { "Content-Type": "application/json", "Cache-Control": "no-store" }
      : RECORD_HEADERS;
  return new Response(streamOf(parts), {
    headers: {
      ...headers,
      ...(format === "json" && {
        "Content-Disposition": 'attachment; filename="stored-about-you.json"',
        "X-Content-Type-Options": "nosniff",
      }),
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
  yield JSON.stringify(about).slice(0, -1);
  for (const section of PERSON_SECTIONS) {
    const isOne = section.name === "contact" || section.name === "suppression";
    yield `,\n${JSON.stringify(section.name)}:${isOne ? "" : "["}`;
    let count = 0;
    for await (const record of section.records(app, contact)) {
      yield `${count++ === 0 ? "" : ",\n"}${JSON.stringify(record)}`;
    }
    yield isOne ? (count === 0 ? "null" : "") : "]";
  }
  yield "}\n";
}

async function* pageParts(app: App, contact: ContactRow): AsyncGenerator<string> {
  const notes = [
    `Project: ${projectName(app, contact)}. Exported at ${isoTime(app.clock.now())}; times are in UTC.`,
    `The JSON export has all records. This page shows the first ${MAX_SHOWN.toLocaleString("en-US")} of each kind, ` +
      `and the bodies of the newest ${MAX_BODIES.toLocaleString("en-US")} mails are in the JSON.`,
  ];
  const title = `Stored about ${contact.email}`;
  const [head = "", ...tail] = recordPageParts(title, notes, []);
  yield head;
  for (const section of PERSON_SECTIONS) {
    const table = await tableOf(app, contact, section);
    const [, part = ""] = recordPageParts(title, notes, [table]);
    yield part;
  }
  yield tail.join("");
}

async function tableOf(
  app: App,
  contact: ContactRow,
  { title, records }: PersonSection,
): Promise<RecordSection> {
  const shown: PersonRecord[] = [];
  for await (const record of records(app, contact)) {
    if (shown.length === MAX_SHOWN) break;
    const { body: _, ...rest } = record;
    shown.push(rest);
  }
  const names = [...new Set(shown.flatMap((record) => Object.keys(record)))];
  // One record is a list of its members; many are a table.
  if (shown.length === 1 && shown[0] !== undefined) {
    const rows = Object.entries(shown[0]).map(([name, value]) => [labelOf(name), cellOf(value)]);
    return { title, columns: ["Field", "Value"], rows };
  }
  const rows = shown.map((record) => names.map((name) => cellOf(record[name])));
  return { title, columns: names.map(labelOf), rows };
}

/** `createdAt` → `Created at`. */
function labelOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  return text.length > LONGEST_CELL ? `${text.slice(0, LONGEST_CELL)}…` : text;
}
