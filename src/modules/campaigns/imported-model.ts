/** The schemas of campaigns that another product has sent. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { DisplayName, EmailAddress } from "../../http/formats.ts";
import { Input, withChecks } from "../../http/validation.ts";
import { quickTemplateErrors } from "../../render/request-mails.ts";
import { BodySource, PreheaderSource, SubjectSource } from "../templates/model.ts";

const DateTime = Type.String({ format: "date-time" });

/** The totals that products export. A total that a product does not export is null, and not 0. */
const COUNTS = {
  recipients: "Recipients that the other product had for it",
  sent: "Mails that it sent",
  delivered: "Mails whose delivery it confirmed",
  opened: "Recipients who opened the mail",
  opens: "All opens, also several of one recipient",
  clicked: "Recipients who followed a link",
  clicks: "All clicks, also several of one recipient",
  bounced: "Mails that bounced",
  complained: "Mails that were reported as spam",
  unsubscribed: "Recipients who unsubscribed by it",
} as const;
const Count = Nullable(Type.Integer());
export const ImportedCounts = described(
  Type.Object({
    recipients: Count,
    sent: Count,
    delivered: Count,
    opened: Count,
    opens: Count,
    clicked: Count,
    clicks: Count,
    bounced: Count,
    complained: Count,
    unsubscribed: Count,
  }),
  COUNTS,
);

/** Before a product has told any. */
export const NO_COUNTS: Static<typeof ImportedCounts> = {
  recipients: null,
  sent: null,
  delivered: null,
  opened: null,
  opens: null,
  clicked: null,
  clicks: null,
  bounced: null,
  complained: null,
  unsubscribed: null,
};

export const ImportedCampaign = named(
  "ImportedCampaign",
  described(
    Type.Object({
      source: Type.String(),
      sourceId: Type.String(),
      sentAt: Nullable(DateTime),
      importedAt: DateTime,
      counts: ImportedCounts,
    }),
    {
      source: "The product that sent the campaign",
      sourceId: "Id of the campaign in that product",
      sentAt: "When that product sent it; null if it is not known",
      importedAt: "When it was imported here",
      counts: "The totals of that product; null for those that it does not tell",
    },
  ),
  {
    description:
      "Where a campaign comes from that another product has sent. It never sends here, and its totals " +
      "are in no statistics of this server",
    example: {
      source: "listmonk",
      sourceId: "7",
      sentAt: EXAMPLE.createdAt,
      importedAt: EXAMPLE.updatedAt,
      counts: {
        recipients: 120,
        sent: 118,
        delivered: null,
        opened: null,
        opens: 61,
        clicked: null,
        clicks: 14,
        bounced: 2,
        complained: null,
        unsubscribed: null,
      },
    },
  },
);
export type ImportedCampaign = Static<typeof ImportedCampaign>;

const GivenCount = Type.Optional(
  Nullable(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
);
const GivenCounts = described(
  Input({
    recipients: GivenCount,
    sent: GivenCount,
    delivered: GivenCount,
    opened: GivenCount,
    opens: GivenCount,
    clicked: GivenCount,
    clicks: GivenCount,
    bounced: GivenCount,
    complained: GivenCount,
    unsubscribed: GivenCount,
  }),
  COUNTS,
);

export const CampaignImportInput = named(
  "CampaignImportInput",
  withChecks(
    described(
      Input({
        source: Type.String({ minLength: 1, maxLength: 50 }),
        sourceId: Type.String({ minLength: 1, maxLength: 255 }),
        name: Type.String({ minLength: 1, maxLength: 255 }),
        subject: SubjectSource,
        body: Type.Optional(Nullable(BodySource)),
        preheader: Type.Optional(Nullable(PreheaderSource)),
        from: Type.Optional(Nullable(EmailAddress)),
        fromName: Type.Optional(Nullable(DisplayName)),
        replyTo: Type.Optional(Nullable(EmailAddress)),
        sentAt: Type.Optional(Nullable(DateTime)),
        counts: Type.Optional(GivenCounts),
      }),
      {
        source: "The product that sent the campaign, such as listmonk",
        sourceId: "Id of the campaign in that product, by which a repeated import finds it",
        name: "Name of the campaign, which recipients do not see",
        subject: "Liquid template of the subject, one line",
        body: "Liquid template of the HTML body; omitted or null if the product does not give it",
        preheader: "Liquid template of the text that mail programs show after the subject",
        from: "Address of the sender, at any domain",
        fromName: "Display name of the sender",
        replyTo: "Address to which replies went",
        sentAt: "When the product sent it; omitted or null if it is not known",
        counts: "The totals of the product; omitted ones are not known",
      },
    ),
    (value, request) => quickTemplateErrors({ ...value, body: value.body ?? undefined }, request),
  ),
  {
    description: "A campaign that another product has sent",
    example: {
      source: "listmonk",
      sourceId: "7",
      name: "Spring news",
      subject: "News for {{ name }}",
      body: "<p>Hello {{ name }}</p>",
      sentAt: EXAMPLE.createdAt,
      counts: { sent: 118, opens: 61, clicks: 14 },
    },
  },
);
export type CampaignImportInput = Static<typeof CampaignImportInput>;
