/** Texts of the operations on imports for the OpenAPI document. */

import { describeOperations } from "../../../http/documented.ts";

export const importOperations = describeOperations(
  { tag: "Contacts", id: "Id of the job that runs the import" },
  {
    importContacts: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Import contacts from a CSV file of up to 100 MiB",
      description:
        "Stores the file and starts a job that runs after the response. Options may be form fields " +
        "or query parameters; form fields win. A column that says who left is read if its name and " +
        "words are known, and otherwise the file is refused. A row never subscribes a contact that " +
        "is not subscribed now, unless the request says `resubscribe=true`.",
      isIdempotent: true,
      links: { getImport: { id: "/data/jobId" } },
    },
    getImport: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "Get the progress of an import",
      description:
        "The counts grow while the job runs; `status` says when it has ended. In a dry run they say " +
        "what the import would do.",
    },
    runImport: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Import the file of a dry run",
      description:
        "Starts a job that imports the file with the given options, or tries it once more with " +
        "`dryRun`. The file then belongs to the new job.",
      isIdempotent: true,
      links: { getImport: { id: "/data/jobId" } },
    },
    getImportFaults: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Get the faulty rows of an import as CSV",
      description:
        "The first 10,000 faulty rows, each with its line, its fault and its values, so that they " +
        "can be mended and imported again.",
    },
  },
);

export const suppressionImportOperations = describeOperations(
  { tag: "Suppressions", id: "Id of the job that runs the import" },
  {
    importSuppressions: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Suppress the addresses of a CSV file of up to 100 MiB",
      description:
        "Stores the file and starts a job that runs after the response. `created` counts addresses " +
        "that were not suppressed before. No contacts are created or changed.",
      isIdempotent: true,
      links: { getSuppressionImport: { id: "/data/jobId" } },
    },
    getSuppressionImport: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "Get the progress of an import of suppressions",
      description: "The counts grow while the job runs; `status` says when it has ended.",
    },
  },
);
