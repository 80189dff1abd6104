/** Texts of the operation on the installation for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const systemOperations = describeOperations(
  { tag: "System" },
  {
    getSystem: {
      role: "OWNER",
      access: "SESSION",
      summary: "The state of the installation",
      description:
        "Version, storage, queue, paused sites, and the findings of the checks that `mailstead " +
        "doctor` also runs. The checks run at most once a minute; the first response waits for " +
        "them for three seconds.",
    },
  },
);
