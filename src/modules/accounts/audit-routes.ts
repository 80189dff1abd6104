/**
 * GET /audit                 the changes of a project
 * GET /audit/export          the same as a file
 * GET /app/api/audit         the changes of the whole installation, for its owners
 * GET /app/api/audit/export  the same as a file
 *
 * All but the first serve the dashboard and are not documented.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { describeOperations, undocumented } from "../../http/documented.ts";
import { envelope, ListEnvelope, withErrors } from "../../http/envelope.ts";
import { isoTime } from "../../lib/clock.ts";
import { admissionOf } from "../admission.ts";
import { writeCell, writeRecord } from "../contacts/import/cells.ts";
import { type AuditFilter, auditPages, type AuditRow, listAudit } from "./audit.ts";
import { AuditChange, AuditExportQuery, AuditQuery, AuditRecord } from "./audit-model.ts";
import { accountService } from "./service.ts";

const LIST_TEXT = "Changes that match all given filters, newest first. They are kept for a year.";

const DETAILS = describeOperations(
  { tag: "Team" },
  {
    listAuditRecords: {
      role: "ADMIN",
      access: "SESSION",
      summary: "List the changes of a project and who made them",
      description: LIST_TEXT,
    },
  },
);

const FORMATS = {
  csv: { type: "text/csv; charset=utf-8; header=present", extension: "csv" },
  ndjson: { type: "application/x-ndjson; charset=utf-8", extension: "ndjson" },
} as const;

const listed = { query: AuditQuery, response: withErrors({ 200: ListEnvelope(AuditRecord) }) };

export function auditRoutes(app: App) {
  const { projectSession, session } = admissionOf(app);
  const list = async (projectSeq: number | null, query: Static<typeof AuditQuery>) => {
    const { limit, cursor } = query;
    const page = {
      ...(limit === undefined ? {} : { limit }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    return envelope(
      await listAudit(app, filterOf(projectSeq, query), page, (row) => presentAudit(app, row)),
    );
  };
  const ofProject = new Elysia({ name: "audit-routes" })
    .use(projectSession)
    .get("/audit", ({ project, query }) => list(project.seq, query), {
      ...listed,
      detail: DETAILS.listAuditRecords,
    })
    .get("/audit/export", ({ project, query }) => exportAudit(app, project.seq, query), {
      query: AuditExportQuery,
      detail: undocumented("ADMIN", "SESSION"),
    });
  const hidden = { detail: undocumented("OWNER", "SESSION") };
  const ofAll = new Elysia({ name: "system-audit-routes", prefix: "/app/api/audit" })
    .use(session)
    .get("", ({ query }) => list(null, query), { ...hidden, query: AuditQuery })
    .get("/export", ({ query }) => exportAudit(app, null, query), {
      ...hidden,
      query: AuditExportQuery,
    });
  return [ofProject, ofAll];
}

type Filters = Static<typeof AuditExportQuery>;

function filterOf(projectSeq: number | null, query: Omit<Filters, "format">): AuditFilter {
  const { actor: actorId, by: actorKind, action, object: objectId, type: objectType } = query;
  const [from, to] = [query.from, query.to].map((time) =>
    time === undefined ? undefined : Date.parse(time),
  );
  return { projectSeq, actorId, actorKind, action, objectId, objectType, from, to };
}

/** The response is produced page by page, as fast as the client reads. */
function exportAudit(app: App, projectSeq: number | null, query: Filters): Response {
  const { format = "csv" } = query;
  const { type, extension } = FORMATS[format];
  const parts = partsOf(app, auditPages(app, filterOf(projectSeq, query)), format);
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
  return new Response(stream, {
    headers: {
      "Content-Type": type,
      "Content-Disposition": `attachment; filename="audit.${extension}"`,
      "X-Content-Type-Options": "nosniff",
    },
  });
}

/** Without it, Excel reads the file in the code page of the computer. */
const BYTE_ORDER_MARK = "\u{feff}";

const COLUMNS = {
  at: ({ at }) => at,
  actorKind: ({ actor }) => actor.kind,
  actor: ({ actor }) => actor.label,
  actorName: ({ actor }) => actor.name,
  project: ({ project }) => project?.name ?? null,
  action: ({ action }) => action,
  objectType: ({ objectType }) => objectType,
  objectId: ({ objectId }) => objectId,
  objectName: ({ objectName }) => objectName,
  fields: ({ fields }) => fields.join(" "),
  changes: ({ changes }) => (changes.length === 0 ? null : JSON.stringify(changes)),
  address: ({ address }) => address,
} satisfies Record<string, (record: AuditRecord) => string | null>;

async function* partsOf(
  app: App,
  pages: AsyncGenerator<AuditRow[]>,
  format: keyof typeof FORMATS,
): AsyncGenerator<string> {
  if (format === "csv") yield BYTE_ORDER_MARK + writeRecord(Object.keys(COLUMNS));
  for await (const rows of pages) {
    const records = rows.map((row) => presentAudit(app, row));
    yield records.map(format === "csv" ? csvLine : jsonLine).join("");
  }
}

const jsonLine = (record: AuditRecord): string => `${JSON.stringify(record)}\n`;

const csvLine = (record: AuditRecord): string =>
  writeRecord(Object.values(COLUMNS).map((read) => writeCell(read(record))));

const FieldNames = Type.Array(Type.String());
const Changes = Type.Array(AuditChange);

function presentAudit(app: App, row: AuditRow): AuditRecord {
  const { id, action, objectType, objectId, address } = row;
  const { audit } = accountService(app);
  return {
    id,
    at: isoTime(row.at),
    actor: { kind: row.actorKind, id: row.actorId, label: row.actorLabel, name: row.actorName },
    project: audit.projectOf(row),
    action,
    objectType,
    objectId,
    objectName: audit.nameOf(row),
    fields: Value.Parse(FieldNames, JSON.parse(row.fields)),
    changes: Value.Parse(Changes, JSON.parse(row.changes)),
    address,
  };
}
