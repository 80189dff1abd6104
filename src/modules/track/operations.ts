/** Texts of the operation that records events for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const trackOperations = describeOperations(
  { tag: "Events" },
  {
    trackEvent: {
      role: "EDITOR",
      isAudited: false,
      summary: "Record a custom event and create or update its contact",
      description:
        "Pages may call this with a public key, which can do less than a secret key. The members " +
        "of `data` are repeated beside it in the response.",
      isIdempotent: true,
      links: { getContact: { id: "/data/contact" } },
      security: [{ publicKey: [] }, { secretKey: [] }],
    },
  },
);
