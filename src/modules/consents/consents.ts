/**
 * The ledger of consents, as it is read: the entries of one contact, the proof of consent of a contact
 * (a page to print, or JSON), and the ledger of the whole project as a file. `record.ts` adds entries.
 */

import { type Static, Type } from "@sinclair/typebox";
import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { consents } from "../../db/schema/consents.ts";
import { inTimeBy } from "../../db/queries.ts";
import { statement } from "../../db/statement.ts";
import { ALSO } from "../../http/documented.ts";
import { ListEnvelope } from "../../http/envelope.ts";
import { operations, read } from "../../http/operations.ts";
import { newestPage, PageQuery } from "../../http/pagination.ts";
import { RECORD_HEADERS, recordPage } from "../../http/record-page.ts";
import { isoTime } from "../../lib/clock.ts";
import { sha256 } from "../../lib/crypto.ts";
import { type ContactRow, getContact } from "../contacts/service.ts";
import { writeCell, writeRecord } from "../contacts/import/cells.ts";
import type { Noun } from "../module.ts";
import { Consent, LedgerQuery, ProofQuery } from "./model.ts";

type ConsentRow = typeof consents.$inferSelect;

const PROOF_EXAMPLE = '<!doctype html><html lang="en"><h1>Proof of consent</h1>…</html>';

const ProofFile = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "text/html",
    description: "All entries of the contact, oldest first",
    examples: [PROOF_EXAMPLE],
    [ALSO]: { "application/json": '{"contact":{},"consents":[]}' },
  }),
);

const LedgerFile = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "text/csv",
    description: "The ledger of the project, oldest entry first",
    examples: ["at,purpose,kind,contactId,email\r\n"],
    [ALSO]: { "application/x-ndjson": "{}\n" },
  }),
);

const consentOperations = operations("Privacy", { parameters: { id: "Id of the contact" } }, [
  read("GET /contacts/:id/consents", {
    id: "listConsents",
    role: "VIEWER",
    scopes: ["READ", "CONTACTS"],
    summary: "List the consents of a contact",
    description: "All that the ledger has of the contact, newest first.",
    query: PageQuery,
    answer: ListEnvelope(Consent),
    run(app, { project, params, query }) {
      const contact = getContact(app, project.seq, params.id);
      return newestPage(app, project, {
        name: `consents:${contact.seq}`,
        query,
        table: consents,
        filter: eq(consents.contactSeq, contact.seq),
        present: (row) => presentConsent(app, row),
      });
    },
  }),
  read("GET /contacts/:id/consents/proof", {
    id: "getConsentProof",
    role: "VIEWER",
    scopes: ["READ", "CONTACTS"],
    summary: "Get the proof of consent of a contact",
    description: "A page to print, or JSON, with each entry and the wording that the person saw.",
    headers: ["Content-Disposition"],
    query: ProofQuery,
    answer: ProofFile,
    run(app, { project, params, query }) {
      const contact = getContact(app, project.seq, params.id);
      const isJson = query.format === "json";
      return isJson
        ? proofAsJson(app, project.name, contact)
        : proofAsPage(app, project.name, contact);
    },
  }),
  read("GET /consents/export", {
    id: "exportConsents",
    role: "EDITOR",
    scopes: ["CONTACTS"],
    needsConfirmation: true,
    summary: "Export the ledger of consents",
    description:
      "Streams all entries of the project, oldest first: CSV, or one JSON object per line " +
      "(`format=ndjson`).",
    headers: ["Content-Disposition"],
    query: LedgerQuery,
    answer: LedgerFile,
    run: (app, { project, query }) => ledgerFile(app, project.seq, query.format ?? "csv"),
  }),
]);

export const consentNoun: Noun = { name: "consents", operations: consentOperations };

const findTopic = statement<{ id: string; name: string }, [number]>(
  "SELECT id, name FROM topics WHERE seq = +?",
);
const findText = statement<{ digest: string; text: string }, [number]>(
  "SELECT digest, text FROM consent_wordings WHERE seq = +?",
);
const ofContact = statement<ConsentRow, [number]>(`
  SELECT seq, project_seq AS projectSeq, contact_seq AS contactSeq, purpose, kind, topic_seq AS topicSeq,
         source_type AS sourceType, source_id AS sourceId, client_address AS clientAddress,
         wording_seq AS wordingSeq, at
  FROM consents WHERE contact_seq = +? ORDER BY seq`);

function presentConsent(app: App, row: ConsentRow): Consent {
  const topic = row.topicSeq === null ? null : findTopic(app).get(row.topicSeq);
  return {
    purpose: row.purpose,
    kind: row.kind,
    at: isoTime(row.at),
    topic,
    isTopicDeleted: row.topicSeq !== null && topic === null,
    source: { type: row.sourceType, id: row.sourceId },
    clientAddress: row.clientAddress,
    wording: row.wordingSeq === null ? null : findText(app).get(row.wordingSeq),
  };
}

/** All entries of a contact, oldest first. */
export function consentsOf(app: App, contactSeq: number): Consent[] {
  return ofContact(app)
    .all(contactSeq)
    .map((row) => presentConsent(app, row));
}

function proofAsJson(app: App, project: string, contact: ContactRow): Response {
  const { id, email, isSubscribed } = contact;
  const proof = {
    project,
    contact: { id, email, subscribed: isSubscribed },
    madeAt: isoTime(app.clock.now()),
    consents: consentsOf(app, contact.seq),
  };
  return new Response(`${JSON.stringify(proof, null, 2)}\n`, {
    headers: {
      "Content-Type": "application/json",
      "Content-Disposition": 'attachment; filename="consents.json"',
      "Cache-Control": "no-store",
    },
  });
}

/** The page ends with a digest over its entries, so that a printed page can be compared with a later one. */
function proofAsPage(app: App, project: string, contact: ContactRow): Response {
  const entries = consentsOf(app, contact.seq);
  const wordings = new Map(
    entries.flatMap(({ wording: w }) => (w === null ? [] : [[w.digest, w.text]])),
  );
  const head = {
    language: "en",
    title: `Proof of consent: ${contact.email}`,
    notes: [
      `Project: ${project}. Contact ${contact.id}, which is ${contact.isSubscribed ? "subscribed" : "not subscribed"} now.`,
      `Made at ${isoTime(app.clock.now())}. Times are in UTC.`,
      `SHA-256 of the entries as JSON: ${sha256(JSON.stringify(entries))}`,
    ],
  };
  const nothing = "Nothing is stored.";
  const page = recordPage(head, [
    {
      title: "Entries",
      nothing,
      columns: ["Time", "What", "About", "By way of", "Client address", "Wording (SHA-256)"],
      rows: entries.map((entry) => [
        entry.at.replace("T", " ").replace(/\.\d{3}Z$/, ""),
        KIND_NAMES[entry.kind],
        subjectOf(entry),
        [SOURCE_NAMES[entry.source.type], entry.source.id].filter(Boolean).join("\n"),
        entry.clientAddress ?? "not known",
        entry.wording?.digest ?? "none of this server",
      ]),
    },
    {
      title: "Wordings",
      nothing,
      note: "The texts as they were shown. {email} stands for the address of the person.",
      columns: ["SHA-256", "Text"],
      rows: [...wordings],
    },
  ]);
  return new Response(page, { headers: RECORD_HEADERS });
}

const KIND_NAMES: Readonly<Record<Consent["kind"], string>> = {
  GIVEN: "Given",
  CONFIRMED: "Confirmed",
  WITHDRAWN: "Withdrawn",
};

const SOURCE_NAMES: Readonly<Record<Consent["source"]["type"], string>> = {
  FORM: "Sign-up form",
  PREFERENCES: "Preference page",
  UNSUBSCRIBE_LINK: "Unsubscribe page",
  SUBSCRIBE_LINK: "Subscribe page",
  ONE_CLICK: "Unsubscribe button of the mail program",
  MAIL: "Mail to the unsubscribe address",
  COMPLAINT: "Report as spam",
  API: "API",
  PUBLIC_KEY: "Website with a public key",
  DASHBOARD: "Dashboard",
  IMPORT: "Import",
  BULK: "Bulk action",
  WORKFLOW: "Workflow",
};

function subjectOf({ purpose, topic, isTopicDeleted }: Consent): string {
  if (purpose === "TRACKING") return "recording of opens and clicks";
  if (isTopicDeleted) return "a topic that was deleted";
  return topic?.name ?? "all newsletters";
}

const LEDGER_PAGE = 500;
const COLUMNS = [
  "at",
  "purpose",
  "kind",
  "contactId",
  "email",
  "topic",
  "source",
  "sourceId",
  "clientAddress",
  "wordingDigest",
  "wording",
] as const;
type LedgerRow = Record<(typeof COLUMNS)[number], string | null>;

/** A body that is read from the database while the client reads it. */
function ledgerFile(app: App, projectSeq: number, format: "csv" | "ndjson"): Response {
  const encoder = new TextEncoder();
  const lines = ledgerLines(app, projectSeq, format);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: async () => void (await lines.return(undefined)),
  });
  const type =
    format === "csv" ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson";
  return new Response(body, {
    headers: {
      "Content-Type": type,
      "Content-Disposition": `attachment; filename="consents.${format}"`,
      "X-Content-Type-Options": "nosniff",
    },
  });
}

async function* ledgerLines(
  app: App,
  projectSeq: number,
  format: Static<typeof LedgerQuery>["format"],
) {
  if (format === "csv") yield writeRecord([...COLUMNS]);
  for (let after = 0; ;) {
    const { rows } = await app.reader.find(projectSeq, {
      sql: `
        SELECT l.seq, l.at, l.purpose, l.kind, c.id, c.email, t.name, l.source_type, l.source_id,
               l.client_address, w.digest, w.text
        FROM consents l CROSS JOIN contacts c ON c.seq = l.contact_seq
        LEFT JOIN topics t ON t.seq = l.topic_seq
        LEFT JOIN consent_wordings w ON w.seq = l.wording_seq
        WHERE l.project_seq = ? AND l.seq > ? AND ${inTimeBy("l.seq")}
        ORDER BY l.seq LIMIT ${LEDGER_PAGE}`,
      values: [projectSeq, after],
    });
    if (rows.length === 0) return;
    after = Number(rows.at(-1)?.[0]);
    yield rows.map((row) => lineOf(row, format)).join("");
  }
}

function lineOf([, at, ...rest]: readonly unknown[], format: Static<typeof LedgerQuery>["format"]) {
  const texts = rest.map((value) => (typeof value === "string" ? value : null));
  const values = [isoTime(Number(at)), ...texts];
  if (format === "csv") return writeRecord(values.map((value) => writeCell(value ?? "")));
  const row: Partial<LedgerRow> = Object.fromEntries(
    COLUMNS.map((name, i) => [name, values[i] ?? null]),
  );
  return `${JSON.stringify(row)}\n`;
}
