/** Schemas of erasures. */

import { type Static, Type } from "@sinclair/typebox";
import { ERASED_STANDINGS, ERASURE_ACTORS, ERASURE_STATES } from "../../db/schema/erasures.ts";
import { ALSO, described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { DocumentFormat } from "../consents/model.ts";

export const ErasureReceipt = named(
  "ErasureReceipt",
  described(
    Type.Object({
      id: Type.String(),
      state: OneOf(ERASURE_STATES),
      requestedAt: Type.String({ format: "date-time" }),
      completedAt: Nullable(Type.String({ format: "date-time" })),
      digest: Type.String(),
      standing: Nullable(OneOf(ERASED_STANDINGS)),
      by: described(Type.Object({ kind: OneOf(ERASURE_ACTORS), id: Nullable(Type.String()) }), {
        kind: "USER or KEY of the request; PERSON: the preference page; CLI: a command; SYSTEM: the server, after a backup was restored",
        id: "Id of the user or key",
      }),
      counts: Type.Record(Type.String(), Type.Integer()),
      isLogEmptied: Nullable(Type.Boolean()),
    }),
    {
      id: "Id of the erasure",
      state: "RUNNING: the contact is gone, and the rest is searched; COMPLETED: nothing is left",
      requestedAt: "When the contact was removed",
      completedAt: "When everything was removed; null before",
      digest: "HMAC-SHA-256 of the address with a key of the project, hexadecimal",
      standing:
        "What the digest keeps: UNSUBSCRIBED (no import and no request subscribes the address again), or the " +
        "reason for which it gets no mail; null if it may get mail again",
      by: "By whom",
      counts: "Removed or emptied rows by table",
      isLogEmptied:
        "Whether the write-ahead log of the database was emptied as well. False if another process held it: then the log " +
        "overwrites its old pages later, at the latest when the server stops. Null before the end",
    },
  ),
  {
    description: "The receipt of an erasure. It has no personal data and is kept",
    example: {
      id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e15",
      state: "COMPLETED",
      requestedAt: EXAMPLE.createdAt,
      completedAt: EXAMPLE.updatedAt,
      digest: "3f0a6c2b8f0e4c1d9a7b5e3c1f2d4a6b8c0e2f4a6b8d0c2e4f6a8b0c2d4e6f80",
      standing: "UNSUBSCRIBED",
      by: { kind: "USER", id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e16" },
      counts: { contacts: 1, emails: 12, events: 31, consents: 2 },
      isLogEmptied: true,
    },
  },
);
export type ErasureReceipt = Static<typeof ErasureReceipt>;

export const ErasureInput = named(
  "ErasureInput",
  described(Input({ email: EmailAddress }), {
    email: "The address to erase, also if no contact has it",
  }),
  { description: "A person to erase", example: { email: "ada@example.com" } },
);

/** The export of a person. */
export const PersonFile = Type.Unsafe<Response>(
  Type.Any({
    type: "string",
    contentMediaType: "application/json",
    description: "All that is stored about the person",
    examples: ['{"project":"Acme","contact":{},"consents":[]}'],
    [ALSO]: { "text/html": '<!doctype html><html lang="en">…</html>' },
  }),
);

export const PersonQuery = Input({
  format: Type.Optional(describedUse(DocumentFormat, "Default json")),
});
