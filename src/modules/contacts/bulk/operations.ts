/** Texts of the operations on bulk actions for the OpenAPI document. */

import { describeOperations } from "../../../http/documented.ts";

export const bulkOperations = describeOperations(
  { tag: "Contacts", id: "Id of the job that runs the bulk action" },
  {
    startBulkAction: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      summary: "Change or delete many contacts",
      description:
        "Starts a job that runs after the response. The contacts are given by id, by a condition or by " +
        "the filters of the list.",
      isIdempotent: true,
      links: { getBulkAction: { id: "/data/jobId" } },
    },
    getBulkAction: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "Get the progress of a bulk action",
      description: "The counts grow while the job runs; `status` says when it has ended.",
    },
  },
);
