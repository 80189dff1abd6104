import { type Static, Type } from "@sinclair/typebox";
import { SUPPRESSION_REASONS } from "../../db/schema/contacts.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Reason = OneOf(SUPPRESSION_REASONS);

export const Suppression = Type.Object({
  email: Type.String(),
  reason: Reason,
  createdAt: Type.String({ format: "date-time" }),
});
export type Suppression = Static<typeof Suppression>;

export const SuppressionInput = Input({
  email: EmailAddress,
  reason: Type.Optional(Reason),
});

export const SuppressionQuery = Input({
  ...PageQuery.properties,
  email: Type.Optional(
    Type.String({ maxLength: 320, description: "Part of the address, case-insensitive" }),
  ),
  reason: Type.Optional(Reason),
});
export type SuppressionQuery = Static<typeof SuppressionQuery>;

export const EmailParams = Type.Object({ email: Type.String() });
