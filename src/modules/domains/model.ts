import { type Static, Type } from "@sinclair/typebox";
import { DOMAIN_STATUSES } from "../../db/schema/domains.ts";
import { Nullable } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { RECORD_STATUSES } from "./findings.ts";
import { PURPOSES } from "./records.ts";

const DateTime = Type.String({ format: "date-time" });

const DomainRecord = Type.Object({
  purpose: OneOf(PURPOSES),
  type: OneOf(["TXT", "MX"]),
  name: Type.String(),
  value: Type.String({
    description: "The record to publish, as one string; empty if none can be advised, see `note`",
  }),
  required: Type.Boolean(),
  status: OneOf(RECORD_STATUSES),
  found: Type.Array(Type.String(), { description: "Records found by the latest check" }),
  note: Type.String({ description: "Purpose of the record" }),
});

/** A sending domain as the API shows it (docs/interface.md#domains). */
export const Domain = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  status: OneOf(DOMAIN_STATUSES),
  verified: Type.Boolean(),
  records: Type.Array(DomainRecord),
  verifiedAt: Nullable(DateTime),
  lastCheckedAt: Nullable(DateTime),
  failingSince: Nullable(
    Type.String({
      format: "date-time",
      description: "Since when the DKIM record of the verified domain is missing in the DNS",
    }),
  ),
  createdAt: DateTime,
});
export type Domain = Static<typeof Domain>;

export const DomainInput = Input({
  domain: Type.String({
    minLength: 1,
    maxLength: 1000,
    description: "A domain name such as example.com",
  }),
});

export const DomainQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(OneOf(DOMAIN_STATUSES)),
});
export type DomainQuery = Static<typeof DomainQuery>;
