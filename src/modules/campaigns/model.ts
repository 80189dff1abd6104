import { type Static, Type } from "@sinclair/typebox";
import { AUDIENCE_TYPES, CAMPAIGN_STATUSES } from "../../db/schema/campaigns.ts";
import { EMAIL_STATUSES } from "../../db/schema/emails.ts";
import { Nullable } from "../../http/envelope.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { BodySource, HeaderText, SubjectSource, templateErrors } from "../templates/model.ts";

/** One mail per minute, in mails per second, so that a campaign ends in a foreseeable time. */
const LOWEST_RATE = 1 / 60;

const DateTime = Type.String({ format: "date-time" });

/** A campaign as the API shows it (docs/specification.md#s2.3, docs/interface.md#campaigns). */
export const Campaign = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: Nullable(Type.String()),
  subject: Type.String(),
  body: Type.String(),
  from: Type.String(),
  fromName: Nullable(Type.String()),
  replyTo: Nullable(Type.String()),
  type: OneOf(AUDIENCE_TYPES),
  audienceType: OneOf(AUDIENCE_TYPES),
  segmentId: Nullable(Type.String()),
  audienceFilter: Nullable(Type.Unknown()),
  rate: Nullable(Type.Number()),
  status: OneOf(CAMPAIGN_STATUSES),
  statusReason: Nullable(Type.String()),
  scheduledAt: Nullable(DateTime),
  startedAt: Nullable(DateTime),
  finishedAt: Nullable(DateTime),
  createdAt: DateTime,
  updatedAt: DateTime,
});
export type Campaign = Static<typeof Campaign>;

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255 }),
  description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
  subject: SubjectSource,
  body: BodySource,
  from: EmailAddress,
  fromName: Type.Optional(Nullable(HeaderText)),
  replyTo: Type.Optional(Nullable(EmailAddress)),
  audienceType: OneOf(AUDIENCE_TYPES),
  segmentId: Type.Optional(Nullable(Type.String())),
  audienceFilter: Type.Optional(Nullable(Type.Unknown())),
  rate: Type.Optional(
    Nullable(
      Type.Number({
        minimum: LOWEST_RATE,
        description: "Highest number of mails per second; at least one mail per minute (1/60)",
      }),
    ),
  ),
};

export const CampaignInput = withChecks(Input(fields), (value) => [
  ...templateErrors(value),
  ...audienceErrors(value),
  ...restrictionErrors(value),
]);
export type CampaignInput = Static<typeof CampaignInput>;

export const CampaignPatch = withChecks(Type.Partial(Input(fields)), (value) => [
  ...templateErrors(value),
  ...restrictionErrors(value),
]);
export type CampaignPatch = Static<typeof CampaignPatch>;

/** Refuses an audience that lacks a field its type requires (docs/specification.md#s2.3). */
export function audienceErrors(value: Readonly<Record<string, unknown>>): FieldError[] {
  const { audienceType, segmentId, audienceFilter } = value;
  if (audienceType === "SEGMENT" && typeof segmentId !== "string") {
    const message = "is required for the audienceType SEGMENT";
    return [{ field: "segmentId", message, code: "required" }];
  }
  if (audienceType === "FILTERED" && (audienceFilter === undefined || audienceFilter === null)) {
    const message = "is required for the audienceType FILTERED";
    return [{ field: "audienceFilter", message, code: "required" }];
  }
  return [];
}

/** Refuses a restriction that the audience type ignores: the mail would reach more contacts. */
export function restrictionErrors(value: Readonly<Record<string, unknown>>): FieldError[] {
  const { audienceType } = value;
  if (typeof audienceType !== "string") return [];
  return RESTRICTIONS.filter(
    ({ field, type }) => (value[field] ?? null) !== null && audienceType !== type,
  ).map(({ field, type }) => {
    const message = `must be omitted unless audienceType is ${type}, but it is ${audienceType}`;
    return { field, message, code: "invalid_value" };
  });
}

const RESTRICTIONS = [
  { field: "segmentId", type: "SEGMENT" },
  { field: "audienceFilter", type: "FILTERED" },
] as const;

/**
 * Unknown fields are ignored (docs/interface.md#requests), but a misspelt time is refused: without
 * a time the campaign is sent immediately, which cannot be undone.
 */
export const SendCampaignInput = withChecks(
  Input({ scheduledFor: Type.Optional(Nullable(DateTime)) }),
  (value) =>
    Object.keys(value)
      .filter((field) => /^schedul/i.test(field) && field !== "scheduledFor")
      .map((field) => {
        const message = "is not a field of this route; use scheduledFor for the time to send at";
        return { field, message, code: "invalid_value" };
      }),
);

export const TestCampaignInput = Input({ email: EmailAddress });

const Count = Type.Integer();
const Rate = Type.Number({ description: "Share of the sent mails, 0 to 1" });

/** Statistics of a campaign (docs/interface.md#campaigns). */
export const CampaignStats = Type.Object({
  totalRecipients: Count,
  queued: Count,
  sent: Count,
  delivered: Count,
  opened: Count,
  clicked: Count,
  machineOpens: Count,
  machineClicks: Count,
  bounced: Count,
  complained: Count,
  unsubscribed: Count,
  failed: Count,
  suppressed: Count,
  cancelled: Count,
  deliveryRate: Rate,
  openRate: Rate,
  clickRate: Rate,
  bounceRate: Type.Number({ description: "Share of the sent and bounced mails, 0 to 1" }),
  complaintRate: Rate,
  unsubscribeRate: Rate,
  links: Type.Array(Type.Object({ url: Type.String(), clicks: Count, uniqueClicks: Count })),
  timeline: Type.Array(Type.Object({ at: DateTime, opens: Count, clicks: Count })),
});
export type CampaignStats = Static<typeof CampaignStats>;

export const CampaignQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(OneOf(CAMPAIGN_STATUSES)),
});
export type CampaignQuery = Static<typeof CampaignQuery>;

export const RecipientQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(OneOf(EMAIL_STATUSES)),
});
export type RecipientQuery = Static<typeof RecipientQuery>;

export const Recipient = Type.Object({
  emailId: Type.String(),
  contactId: Nullable(Type.String()),
  email: Nullable(Type.String()),
  status: OneOf(EMAIL_STATUSES),
  lastError: Nullable(Type.String()),
  sentAt: Nullable(DateTime),
});
export type Recipient = Static<typeof Recipient>;
