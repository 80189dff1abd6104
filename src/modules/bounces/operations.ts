/** Texts of the operation on reports for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const bounceOperations = describeOperations(
  { tag: "Bounces" },
  {
    processReport: {
      role: "EDITOR",
      isAudited: false,
      summary: "Process a bounce or a complaint that another mail server received",
      description:
        "The body is the whole message as it arrived. A report counts once, however often it is " +
        "sent, and only if it is about a mail of this project. Answers 200 for other messages, too.",
    },
  },
);
