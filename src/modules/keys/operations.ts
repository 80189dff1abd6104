/** Texts of the operations on API keys for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const keyOperations = describeOperations(
  { tag: "API keys", id: "Id of the API key" },
  {
    listKeys: {
      role: "ADMIN",
      access: "SESSION",
      summary: "List API keys",
      description: "All keys of the project without their texts, newest first.",
    },
    createKey: {
      role: "ADMIN",
      access: "SESSION",
      needsConfirmation: true,
      summary: "Create an API key; it is shown once",
      description:
        "403 with the code CONFIRMATION_REQUIRED if the password was not entered lately.",
      isIdempotent: true,
      links: { revokeKey: { id: "/data/id" } },
    },
    revokeKey: {
      role: "ADMIN",
      access: "SESSION",
      summary: "Revoke an API key",
      description: "The key is refused from the next request on. It stays in the list.",
    },
  },
);
