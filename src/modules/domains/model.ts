import { type Static, Type } from "@sinclair/typebox";
import { DOMAIN_STATUSES } from "../../db/schema/domains.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { RECORD_STATUSES } from "./findings.ts";
import { PURPOSES } from "./records.ts";

const DateTime = Type.String({ format: "date-time" });

const DomainStatus = named("DomainStatus", OneOf(DOMAIN_STATUSES), {
  description:
    "PENDING: not verified yet; VERIFIED: the project may send; FAILED: its DKIM record was missing " +
    "for too long",
});

const RecordStatus = named("DomainRecordStatus", OneOf(RECORD_STATUSES), {
  description:
    "PENDING: not checked yet; OK: found; MISMATCH: another record was found; MISSING: none was",
});

const DomainRecord = named(
  "DomainRecord",
  described(
    Type.Object({
      purpose: OneOf(PURPOSES),
      type: OneOf(["TXT", "MX"]),
      name: Type.String(),
      host: Type.String(),
      value: Type.String(),
      required: Type.Boolean(),
      status: RecordStatus,
      found: Type.Array(Type.String()),
      note: Type.String(),
    }),
    {
      purpose: "Purpose of the record",
      type: "Type of the DNS record",
      name: "Full name of the DNS record",
      host:
        "The name relative to the domain that was registered, as most DNS providers want it: `news` " +
        "for news.example.com, and `@` for example.com",
      value: "The record to publish, as one string; empty if none can be advised, see `note`",
      required: "Whether the domain is verified only with this record",
      status: "Result of the latest check",
      found: "Records found by the latest check",
      note: "Explanation of the record, in words",
    },
  ),
  { description: "A DNS record to publish for a domain" },
);

/** A sending domain as the API shows it (docs/interface.md#domains). */
export const Domain = named(
  "Domain",
  described(
    Type.Object({
      id: Type.String(),
      domain: Type.String(),
      status: DomainStatus,
      verified: Type.Boolean(),
      records: Type.Array(DomainRecord),
      verifiedAt: Nullable(DateTime),
      lastCheckedAt: Nullable(DateTime),
      failingSince: Nullable(DateTime),
      createdAt: DateTime,
    }),
    {
      id: "Id of the domain",
      domain: "The name of the domain",
      status: "Whether the required DNS records were found",
      verified: "Whether the project may send from the domain",
      records: "The DNS records to publish, with the result of the latest check",
      verifiedAt: "When the domain was verified; null before",
      lastCheckedAt: "When its DNS records were checked last; null before the first check",
      failingSince:
        "When the DKIM record of the verified domain was first missing in the DNS; null otherwise",
      createdAt: "When the domain was added",
    },
  ),
  {
    description: "A domain from which the project sends",
    example: {
      id: EXAMPLE.domainId,
      domain: "acme.example",
      status: "PENDING",
      verified: false,
      records: [
        {
          purpose: "DKIM",
          type: "TXT",
          name: "ms1._domainkey.acme.example",
          host: "ms1._domainkey",
          value: "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
          required: true,
          status: "PENDING",
          found: [],
          note: "Signs the mail of the domain.",
        },
      ],
      verifiedAt: null,
      lastCheckedAt: null,
      failingSince: null,
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type Domain = Static<typeof Domain>;

const OwnKeyInput = described(
  Input({
    selector: Type.String({ minLength: 1, maxLength: 200 }),
    privateKey: Type.String({ minLength: 1, maxLength: 10_000 }),
    record: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 4_000 }))),
  }),
  {
    selector: "The name before ._domainkey in the DNS",
    privateKey: "The private key in PEM: RSA with 1024 to 4096 bits, or Ed25519",
    record:
      "The TXT record at selector._domainkey, if the DNS is not to be asked; it must have the public key",
  },
);
export type OwnKeyInput = Static<typeof OwnKeyInput>;

export const DomainInput = named(
  "DomainInput",
  described(
    Input({
      domain: Type.String({ minLength: 1, maxLength: 1000 }),
      dkim: Type.Optional(Nullable(OwnKeyInput)),
    }),
    {
      domain: "A domain name such as example.com",
      dkim:
        "The DKIM key that is published already: mail is signed with it alone, so that the DNS need not " +
        "change. Without it, keys are generated",
    },
  ),
  { description: "A domain to add", example: { domain: "acme.example" } },
);

export const DomainQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(describedUse(DomainStatus, "Only domains of this status")),
});
export type DomainQuery = Static<typeof DomainQuery>;
