/** Schemas of the ledger of consents. */

import { type Static, Type } from "@sinclair/typebox";
import { CONSENT_KINDS, CONSENT_PURPOSES, CONSENT_SOURCES } from "../../db/schema/consents.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf } from "../../http/validation.ts";

const ConsentKind = named("ConsentKind", OneOf(CONSENT_KINDS), {
  description:
    "GIVEN: the person agreed; CONFIRMED: the person confirmed it from their mailbox; WITHDRAWN: it ended",
});

const ConsentSource = named(
  "ConsentSource",
  described(
    Type.Object({
      type: OneOf(CONSENT_SOURCES),
      id: Nullable(Type.String()),
    }),
    {
      type:
        "FORM, PREFERENCES, UNSUBSCRIBE_LINK, SUBSCRIBE_LINK, ONE_CLICK (the button of a mail program), " +
        "MAIL (a mail to the unsubscribe address) and COMPLAINT come from the person; API, PUBLIC_KEY, " +
        "DASHBOARD, IMPORT, BULK and WORKFLOW from the owner of the project",
      id: "Id of the form, mail, key, user or job; null if there is none",
    },
  ),
  { description: "By which way a consent came" },
);

const ConsentWording = named(
  "ConsentWording",
  described(Type.Object({ digest: Type.String(), text: Type.String() }), {
    digest: "SHA-256 of the text in UTF-8, hexadecimal",
    text: "The text as the person saw it; `{email}` stands for the address of the person",
  }),
  { description: "The text that a person saw when they decided" },
);

export const Consent = named(
  "Consent",
  described(
    Type.Object({
      purpose: OneOf(CONSENT_PURPOSES),
      kind: ConsentKind,
      at: Type.String({ format: "date-time" }),
      topic: Nullable(
        described(Type.Object({ id: Type.String(), name: Type.String() }), {
          id: "Id of the topic",
          name: "Its name now",
        }),
      ),
      isTopicDeleted: Type.Boolean(),
      source: ConsentSource,
      clientAddress: Nullable(Type.String()),
      wording: Nullable(ConsentWording),
    }),
    {
      purpose: "MARKETING: to get newsletters; TRACKING: that opens and clicks are recorded",
      kind: "What was decided",
      at: "When it was decided",
      topic: "The topic that it is about; null for all newsletters of the project",
      isTopicDeleted: "Whether it is about a topic that was deleted since",
      source: "By which way it came",
      clientAddress: "IP address of the person's device; null if it is not known",
      wording: "The text that the person saw; null if it was no text of this server",
    },
  ),
  {
    description: "An entry in the ledger of consents, which never changes",
    example: {
      purpose: "MARKETING",
      kind: "WITHDRAWN",
      at: EXAMPLE.createdAt,
      topic: null,
      isTopicDeleted: false,
      source: { type: "UNSUBSCRIBE_LINK", id: EXAMPLE.emailId },
      clientAddress: "192.0.2.7",
      wording: {
        digest: "91dc5f1cbce8fcfd9ac91df598fded4c85a5b2a2c178916fe121c0f6831a7a7c",
        text: "Unsubscribe?\n\nAcme will no longer send newsletters to {email}.\n\n[Unsubscribe]",
      },
    },
  },
);
export type Consent = Static<typeof Consent>;

export const DocumentFormat = named("DocumentFormat", OneOf(["html", "json"]), {
  description: "html: a page to read and print; json: a file for programs",
});

const FileFormat = named("LedgerFormat", OneOf(["csv", "ndjson"]), {
  description: "csv: a table; ndjson: one JSON object per line",
});

export const ProofQuery = Input({
  format: Type.Optional(describedUse(DocumentFormat, "Default html")),
});

export const LedgerQuery = Input({
  format: Type.Optional(describedUse(FileFormat, "Default csv")),
});
