/** GET    /contacts/export           export as CSV or NDJSON */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { ALSO } from "../../http/documented.ts";
import { withErrors } from "../../http/envelope.ts";
import { ensureChecks } from "../../http/validation.ts";
import type { Exports } from "./export.ts";
import { CONTACT_EXAMPLE, ExportQuery } from "./model.ts";
import { contactOperations } from "./operations.ts";

const FORMATS = {
  csv: { type: "text/csv; charset=utf-8; header=present", extension: "csv" },
  ndjson: { type: "application/x-ndjson; charset=utf-8", extension: "ndjson" },
} as const;

/** The exported file. */
const ExportedFile = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "text/csv",
    description: "The contacts, as a file",
    examples: ["email,subscribed,data.plan\r\nada@example.com,true,pro\r\n"],
    [ALSO]: {
      "application/x-ndjson": `${JSON.stringify(CONTACT_EXAMPLE)}\n`,
    },
  }),
);

export function exportRoutes({ admission, exports }: { admission: Admission; exports: Exports }) {
  return new Elysia({ name: "export-routes", prefix: "/contacts" }).use(admission.secretKey).get(
    "/export",
    async ({ project, query }) => {
      ensureChecks(ExportQuery, query);
      const { type, extension } = FORMATS[query.format ?? "csv"];
      return new Response(await exports.stream(project.seq, query), {
        headers: {
          "Content-Type": type,
          "Content-Disposition": `attachment; filename="contacts.${extension}"`,
          "X-Content-Type-Options": "nosniff",
        },
      });
    },
    {
      query: ExportQuery,
      response: withErrors({ 200: ExportedFile }),
      detail: contactOperations.exportContacts,
    },
  );
}
