import { type Static, Type } from "@sinclair/typebox";
import { SUPPRESSION_REASONS } from "../../db/schema/contacts.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Reason = named("SuppressionReason", OneOf(SUPPRESSION_REASONS), {
  description:
    "HARD_BOUNCE: the address does not exist; SOFT_BOUNCE: several mails bounced, for instance " +
    "because the mailbox is full, and the entry expires; COMPLAINT: the recipient reported spam; " +
    "MANUAL: a caller suppressed it",
});

const Cause = named(
  "SuppressionCause",
  described(
    Type.Object({
      emailId: Type.String(),
      reportedAt: Nullable(Type.String({ format: "date-time" })),
      reason: Nullable(Type.String()),
    }),
    {
      emailId: "Id of the mail that bounced or was reported as spam",
      reportedAt: "When the report arrived; null if the server refused the mail at once",
      reason: "The refusal or the report in words; null once the contact was deleted",
    },
  ),
  { description: "The mail, and the report about it, for which an address is suppressed" },
);

export const Suppression = named(
  "Suppression",
  described(
    Type.Object({
      email: Type.String(),
      reason: Reason,
      createdAt: Type.String({ format: "date-time" }),
      expiresAt: Nullable(Type.String({ format: "date-time" })),
      cause: Nullable(Cause),
    }),
    {
      email: "The suppressed address",
      reason: "Why no mail is sent to the address",
      createdAt: "When the address was suppressed",
      expiresAt: "When mail is sent to it again; null for never",
      cause: "The mail and the report that are the cause; null if a caller suppressed the address",
    },
  ),
  {
    description: "An address that gets no mail",
    example: {
      email: "ada@example.com",
      reason: "MANUAL",
      createdAt: EXAMPLE.createdAt,
      expiresAt: null,
      cause: null,
    },
  },
);
export type Suppression = Static<typeof Suppression>;

export const SuppressionInput = named(
  "SuppressionInput",
  described(Input({ email: EmailAddress, reason: Type.Optional(Reason) }), {
    email: "The address to suppress",
    reason: "Why no mail is to be sent to the address; default MANUAL",
  }),
  { description: "An address to suppress", example: { email: "ada@example.com" } },
);

export const SuppressionQuery = Input({
  ...PageQuery.properties,
  email: Type.Optional(
    Type.String({ maxLength: 320, description: "Part of the address, case-insensitive" }),
  ),
  reason: Type.Optional(describedUse(Reason, "Only addresses suppressed for this reason")),
});
export type SuppressionQuery = Static<typeof SuppressionQuery>;

export const EmailParams = Type.Object({ email: Type.String() });
