import { type Static, Type } from "@sinclair/typebox";
import { SUPPRESSION_REASONS } from "../../db/schema/contacts.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Reason = named("SuppressionReason", OneOf(SUPPRESSION_REASONS), {
  description:
    "HARD_BOUNCE: the address does not exist; COMPLAINT: the recipient reported spam; MANUAL: a " +
    "caller suppressed it",
});

export const Suppression = named(
  "Suppression",
  described(
    Type.Object({
      email: Type.String(),
      reason: Reason,
      createdAt: Type.String({ format: "date-time" }),
    }),
    {
      email: "The suppressed address",
      reason: "Why no mail is sent to the address",
      createdAt: "When the address was suppressed",
    },
  ),
  {
    description: "An address that gets no mail",
    example: { email: "ada@example.com", reason: "MANUAL", createdAt: EXAMPLE.createdAt },
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
