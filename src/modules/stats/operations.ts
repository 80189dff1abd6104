/** Texts of the operations on statistics for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const statsOperations = describeOperations(
  { tag: "Statistics" },
  {
    getStats: {
      role: "VIEWER",
      summary: "Numbers of a project by hour or day",
      description:
        "Counters that are kept in the transaction of each event. They stay when old mails and " +
        "events are removed.",
    },
  },
);
