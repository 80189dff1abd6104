/**
 * GET  /contacts/import            the imports of the project (list.ts)
 * POST /contacts/import            upload a CSV file as a form; imported after the response
 * GET  /contacts/import/{id}       progress of the import
 * POST /contacts/import/{id}/run   imports the file of a dry run
 * GET  /contacts/import/{id}/faults  the rows that could not be imported, as CSV
 * POST /suppressions/import        the same for addresses that get no mail
 * GET  /suppressions/import/{id}   its progress
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Writer } from "../../../db/writer.ts";
import type { Admission } from "../../../http/admission.ts";
import type { Bodies } from "../../../http/body.ts";
import { BODY_LIMITS, limited, MAX_IMPORT_BYTES } from "../../../http/body-limits.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../../http/envelope.ts";
import { FORM_OVERHEAD_BYTES } from "../../../http/multipart.ts";
import { seesSecrets, textFor } from "../../../http/role-views.ts";
import type { Role } from "../../../http/roles.ts";
import { contactOptions, type Imports, type Received, suppressionOptions } from "./imports.ts";
import {
  DATE_ORDERS,
  DECIMAL_SEPARATORS,
  DELIMITER_NAMES,
  IMPORTED_REASONS,
  ImportProgress,
  ImportQuery,
  ImportRun,
  SuppressionImportQuery,
} from "./model.ts";
import { StartedJob } from "../jobs/model.ts";
import { importOperations, suppressionImportOperations } from "./operations.ts";

export function importRoutes(deps: {
  admission: Admission;
  bodies: Bodies;
  imports: Imports;
  writer: Writer;
  /** Called when a job was stored. */
  wake: () => void;
}) {
  const { admission, bodies, imports, writer, wake } = deps;

  /** Stores the job, inside a change, and returns the response. */
  function accept(projectSeq: number, received: Received) {
    imports.create(projectSeq, received)();
    writer.afterCommit(wake);
    return { status: 202, body: envelope({ jobId: received.id }) };
  }

  /** Receives the file, stores the job and answers once for each Idempotency-Key. */
  async function start(
    { project, request, once }: Started,
    options: Parameters<Imports["receive"]>[2],
  ) {
    const holder = { projectSeq: project.seq, isPublic: false };
    const pieces = () => bodies.pieces(request, holder);
    const received = await imports.receive(project.seq, { request, pieces }, options);
    let isStored = false;
    try {
      const change = () => {
        writer.afterCommit(() => (isStored = true));
        return accept(project.seq, received);
      };
      return await once(() => change, received.identity);
    } finally {
      received.endUpload();
      if (!isStored) await imports.discard(received);
    }
  }

  /** Imports the file of a dry run, or tries it again, once for each Idempotency-Key. */
  async function runAgain(
    project: { seq: number },
    { id, body }: { id: string; body: ImportRun },
    once: Started["once"],
  ) {
    let received: Received | undefined;
    let isStored = false;
    try {
      return await once(async () => {
        const taken = await imports.take(project.seq, id, body);
        received = taken;
        return () => {
          writer.afterCommit(() => (isStored = true));
          return accept(project.seq, taken);
        };
      });
    } finally {
      received?.endUpload();
      if (received !== undefined) {
        await (isStored ? imports.forgetTaken(received) : imports.discard(received));
      }
    }
  }

  const json = new Elysia({ name: "import-run-routes" })
    .use(admission.secretKey)
    .post(
      "/contacts/import/:id/run",
      ({ project, params: { id }, body, once }) => runAgain(project, { id, body }, once),
      {
        params: IdParams,
        body: limited(ImportRun, BODY_LIMITS.data),
        response: withErrors({ 202: Envelope(StartedJob) }),
        detail: importOperations.runImport,
      },
    )
    .get(
      "/contacts/import/:id/faults",
      ({ project, params }) =>
        new Response(imports.faultsAsCsv(project.seq, params.id), {
          headers: {
            "Content-Type": "text/csv; charset=utf-8; header=present",
            "Content-Disposition": 'attachment; filename="faults.csv"',
            "X-Content-Type-Options": "nosniff",
          },
        }),
      {
        params: IdParams,
        response: withErrors({ 200: FaultFile }),
        detail: importOperations.getImportFaults,
      },
    );

  const progress = {
    params: IdParams,
    response: withErrors({ 200: Envelope(ImportProgress) }),
  };
  return new Elysia({ name: "import-routes" })
    .use(json)
    .use(admission.secretKeyStreaming)
    .post("/contacts/import", (context) => start(context, contactOptions(context.query)), {
      query: ImportQuery,
      response: withErrors({ 202: Envelope(StartedJob) }),
      detail: {
        ...importOperations.importContacts,
        requestBody: { required: true, content: { "multipart/form-data": { schema: FORM } } },
      },
    })
    .get(
      "/contacts/import/:id",
      ({ project, role, params }) =>
        envelope(readableProgress(role, imports.progress(project.seq, params.id))),
      { ...progress, detail: importOperations.getImport },
    )
    .post("/suppressions/import", (context) => start(context, suppressionOptions(context.query)), {
      query: SuppressionImportQuery,
      response: withErrors({ 202: Envelope(StartedJob) }),
      detail: {
        ...suppressionImportOperations.importSuppressions,
        requestBody: { required: true, content: { "multipart/form-data": { schema: LIST_FORM } } },
      },
    })
    .get(
      "/suppressions/import/:id",
      ({ project, role, params }) =>
        envelope(readableProgress(role, imports.progress(project.seq, params.id))),
      { ...progress, detail: suppressionImportOperations.getSuppressionImport },
    );
}

/** The progress as a role sees it: viewers see no rows of the file. */
function readableProgress(role: Role | null, progress: ImportProgress): ImportProgress {
  if (seesSecrets(role)) return progress;
  const errors = progress.errors.map(({ line, message }) => ({
    line,
    message: textFor(role, message),
  }));
  return { ...progress, preview: [], errors };
}

type Accepted = { status: number; body: { data: { jobId: string } } };

type Started = {
  project: { seq: number };
  request: Request;
  once: (
    prepare: () => Promise<() => Accepted> | (() => Accepted),
    identity?: unknown,
  ) => Promise<Accepted["body"]>;
};

/** The rows that could not be imported. */
const FaultFile = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "text/csv",
    description: "The faulty rows, as a file",
    examples: ["line,fault,email\r\n3,The email is empty.,\r\n"],
  }),
);

const STATUSES = {
  type: "string" as const,
  description:
    'JSON: the meaning of statuses in the file, {"gone": "UNSUBSCRIBED", "vip": null}. The values ' +
    "are null, SUBSCRIBED, UNSUBSCRIBED, MANUAL, HARD_BOUNCE and COMPLAINT.",
};

const ENCODING = {
  type: "string" as const,
  description: "Encoding of the file, such as windows-1250; needed if its words show no other",
};

const FORM = {
  description: "A CSV file with contacts, and how to read it",
  type: "object" as const,
  required: ["file"],
  additionalProperties: true,
  "x-max-body-bytes": MAX_IMPORT_BYTES + FORM_OVERHEAD_BYTES,
  examples: [{ file: "email,Plan\r\nada@example.com,pro\r\n", subscribed: true }],
  properties: {
    file: {
      type: "string" as const,
      format: "binary",
      contentMediaType: "text/csv",
      description:
        "The first line contains the column names. email is required; subscribed accepts true, 1, " +
        "yes, false, 0, no; columns such as status, unsubscribed and bounced, with the words of " +
        "other services, say who left; topic:KEY accepts the same values as subscribed and says whether " +
        "the contact is in the topic with this key; any other column is a key of the contact's data.",
    },
    mapping: {
      type: "string" as const,
      description:
        'JSON from column to field: {"E-Mail": "email", "Plan": "data.plan", "No": null}. ' +
        "number:KEY, date:KEY and text:KEY name the type of the values, topic:KEY a topic. " +
        "Nested values cannot be imported; write `\\.` for a dot in a key.",
    },
    subscribed: {
      type: "boolean" as const,
      description: "Subscription of new contacts without a value in the file; default true",
    },
    resubscribe: {
      type: "boolean" as const,
      description:
        "Whether rows that say so subscribe contacts that are not subscribed now, or have left a topic; " +
        "default false",
    },
    statuses: STATUSES,
    encoding: ENCODING,
    dateOrder: {
      type: "string" as const,
      enum: [...DATE_ORDERS],
      description: "Order of local dates in columns that are mapped to date:KEY",
    },
    decimalSeparator: {
      type: "string" as const,
      enum: [...DECIMAL_SEPARATORS],
      description: "Sign before the decimals in columns that are mapped to number:KEY",
    },
    delimiter: {
      type: "string" as const,
      enum: [...DELIMITER_NAMES],
      description: "Sign between the values; otherwise it is detected",
    },
    dryRun: {
      type: "boolean" as const,
      description:
        "Whether the request only says what the import would do. The file is kept for a day; " +
        "default false",
    },
  },
};

const LIST_FORM = {
  description: "A CSV file with addresses that get no mail",
  type: "object" as const,
  required: ["file"],
  additionalProperties: true,
  "x-max-body-bytes": MAX_IMPORT_BYTES + FORM_OVERHEAD_BYTES,
  examples: [{ file: "email,reason\r\nada@example.com,Hard bounce\r\n", reason: "MANUAL" }],
  properties: {
    file: {
      type: "string" as const,
      format: "binary",
      contentMediaType: "text/csv",
      description:
        "The first line contains the column names. email is required; reason and status may say " +
        "why, in the words of other services; all other columns are ignored.",
    },
    mapping: {
      type: "string" as const,
      description: 'JSON from column to field: {"E-Mail": "email", "Why": "status"}',
    },
    statuses: STATUSES,
    encoding: ENCODING,
    reason: {
      type: "string" as const,
      enum: [...IMPORTED_REASONS],
      description: "Reason for rows that contain no other; default MANUAL",
    },
  },
};
