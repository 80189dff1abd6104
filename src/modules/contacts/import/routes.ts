/**
 * POST /contacts/import         upload a CSV file as a form; imported after the response
 * GET  /contacts/import/{id}    progress of the import
 */

import { Elysia } from "elysia";
import type { Writer } from "../../../db/writer.ts";
import type { Admission } from "../../../http/admission.ts";
import type { Bodies } from "../../../http/body.ts";
import { MAX_IMPORT_BYTES } from "../../../http/body-limits.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../../http/envelope.ts";
import { FORM_OVERHEAD_BYTES } from "../../../http/multipart.ts";
import type { Imports, Received } from "./imports.ts";
import { ImportProgress, ImportQuery } from "./model.ts";
import { StartedJob } from "../jobs/model.ts";
import { importOperations } from "./operations.ts";

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

  return new Elysia({ name: "import-routes", prefix: "/contacts/import" })
    .use(admission.secretKeyStreaming)
    .post(
      "",
      async ({ project, query, request, once }) => {
        const holder = { projectSeq: project.seq, isPublic: false };
        const pieces = () => bodies.pieces(request, holder);
        const received = await imports.receive(project.seq, { request, pieces }, query);
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
      },
      {
        query: ImportQuery,
        response: withErrors({ 202: Envelope(StartedJob) }),
        detail: {
          ...importOperations.importContacts,
          requestBody: { required: true, content: { "multipart/form-data": { schema: FORM } } },
        },
      },
    )
    .get("/:id", ({ project, params }) => envelope(imports.progress(project.seq, params.id)), {
      params: IdParams,
      response: withErrors({ 200: Envelope(ImportProgress) }),
      detail: importOperations.getImport,
    });
}

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
        "yes, false, 0, no; any other column is a key of the contact's data.",
    },
    mapping: {
      type: "string" as const,
      description:
        'JSON from column to field: {"E-Mail": "email", "Plan": "data.plan", "No": null}. ' +
        "Nested values cannot be imported; write `\\.` for a dot in a key.",
    },
    subscribed: {
      type: "boolean" as const,
      description: "Subscription of new contacts without a value in the file; default true",
    },
  },
};
