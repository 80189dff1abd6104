/** Texts of the operations on imports for the OpenAPI document. */

import { describeOperations } from "../../../http/documented.ts";

export const importOperations = describeOperations(
  { tag: "Contacts", id: "Id of the job that runs the import" },
  {
    importContacts: {
      role: "EDITOR",
      summary: "Import contacts from a CSV file of up to 100 MiB",
      description:
        "Stores the file and starts a job that runs after the response. Options may be form fields " +
        "or query parameters; form fields win.",
      isIdempotent: true,
      links: { getImport: { id: "/data/jobId" } },
    },
    getImport: {
      role: "VIEWER",
      summary: "Get the progress of an import",
      description: "The counts grow while the job runs; `status` says when it has ended.",
    },
  },
);
