/** Texts of the operations on suppressions for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const suppressionOperations = describeOperations(
  { tag: "Suppressions" },
  {
    listSuppressions: {
      role: "VIEWER",
      summary: "List suppressed addresses",
      description: "Addresses that match all given filters, newest first.",
    },
    suppressAddress: {
      role: "EDITOR",
      summary: "Suppress an address; an existing reason is not changed",
      description:
        "Answers 201 for a new entry and 200 if the address was suppressed before. Mails to the " +
        "address get the status SUPPRESSED and are not sent.",
      isIdempotent: true,
      links: { unsuppressAddress: { email: "/data/email" } },
    },
    unsuppressAddress: {
      role: "EDITOR",
      summary: "Remove the suppression of an address",
      description: "Mail that is accepted afterwards is sent to the address again.",
      parameters: { email: "The suppressed address" },
    },
  },
);
