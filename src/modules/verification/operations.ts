/** Texts of the operation that verifies addresses for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const verificationOperations = describeOperations(
  { tag: "Verification" },
  {
    verifyAddress: {
      role: "VIEWER",
      isAudited: false,
      summary: "Verify an email address",
      description:
        "Checks the syntax, the DNS and lists of well-known domains; no mail is sent. The members " +
        "of `data` are repeated beside it in the response.",
    },
  },
);
