import { type Static, Type } from "@sinclair/typebox";
import { AUDIENCE_TYPES, CAMPAIGN_STATUSES } from "../../db/schema/campaigns.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { EmailStatusSchema } from "../../http/email-enums.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { MINIMUM_TEXT } from "../../http/field-messages.ts";
import { DisplayName, EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { quickTemplateErrors } from "../../render/request-mails.ts";
import { BodySource, SubjectSource } from "../templates.ts";

/** One mail per minute, in mails per second, so that a campaign ends in a foreseeable time. */
const LOWEST_RATE = 1 / 60;
const LOWEST_RATE_TEXT = "1/60, which is one mail per minute";

const DateTime = Type.String({ format: "date-time" });

const AudienceType = named("AudienceType", OneOf(AUDIENCE_TYPES), {
  description:
    "ALL: all subscribed contacts; SEGMENT: the members of a segment; FILTERED: the contacts that " +
    "meet a condition",
});

export const CampaignStatusSchema = named("CampaignStatus", OneOf(CAMPAIGN_STATUSES), {
  description:
    "DRAFT: can be changed; SCHEDULED: is sent at scheduledAt; SENDING: mails leave; PAUSED: mails " +
    "wait; SENT: every mail was handed over; CANCELLED: no further mail leaves",
});

/** Descriptions of the fields that callers set. */
const CONTENT_TEXTS = {
  name: "Name of the campaign, which recipients do not see",
  description: "Note about the campaign, which recipients do not see",
  subject: "Liquid template of the subject, one line",
  body: "Liquid template of the HTML body",
  from: "Address of the sender, at a verified domain of the project",
  fromName: "Display name of the sender",
  replyTo: "Address to which replies go, with or without a display name",
  audienceType: "Whether all contacts, the members of a segment or filtered contacts get the mail",
  segmentId: "Id of the segment; required if audienceType is SEGMENT, otherwise null",
  audienceFilter: "Condition on the contacts; required if audienceType is FILTERED, otherwise null",
  rate: "Highest number of mails per second, at least one mail per minute (1/60); null for no limit",
} as const;

/** A campaign as the API shows it (docs/specification.md#s2.3, docs/interface.md#campaigns). */
export const Campaign = named(
  "Campaign",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Nullable(Type.String()),
      subject: Type.String(),
      body: Type.String(),
      from: Type.String(),
      fromName: Nullable(Type.String()),
      replyTo: Nullable(Type.String()),
      type: AudienceType,
      audienceType: AudienceType,
      segmentId: Nullable(Type.String()),
      audienceFilter: Nullable(named("Condition", Type.Unknown())),
      rate: Nullable(Type.Number()),
      status: CampaignStatusSchema,
      statusReason: Nullable(Type.String()),
      scheduledAt: Nullable(DateTime),
      startedAt: Nullable(DateTime),
      finishedAt: Nullable(DateTime),
      createdAt: DateTime,
      updatedAt: DateTime,
    }),
    {
      id: "Id of the campaign",
      ...CONTENT_TEXTS,
      type: "The same as audienceType",
      status: "Status of the campaign",
      statusReason: "Why the campaign was paused or cancelled; null if a caller did it",
      scheduledAt: "When sending is to start; null if it is not scheduled",
      startedAt: "When sending started; null before",
      finishedAt: "When the last mail was handed to a mail server or the campaign was cancelled",
      createdAt: "When the campaign was created",
      updatedAt: "When the campaign was changed last",
    },
  ),
  {
    description: "One mail to an audience of contacts",
    example: {
      id: EXAMPLE.campaignId,
      name: "Spring news",
      description: null,
      subject: "News for {{ name }}",
      body: "<p>Hello {{ name }}</p>",
      from: "news@acme.example",
      fromName: "Acme",
      replyTo: null,
      type: "ALL",
      audienceType: "ALL",
      segmentId: null,
      audienceFilter: null,
      rate: null,
      status: "DRAFT",
      statusReason: null,
      scheduledAt: null,
      startedAt: null,
      finishedAt: null,
      createdAt: EXAMPLE.createdAt,
      updatedAt: EXAMPLE.updatedAt,
    },
  },
);
export type Campaign = Static<typeof Campaign>;

const Fields = described(
  Input({
    name: Type.String({ minLength: 1, maxLength: 255 }),
    description: Type.Optional(Nullable(Type.String({ maxLength: 1000 }))),
    subject: SubjectSource,
    body: BodySource,
    from: EmailAddress,
    fromName: Type.Optional(Nullable(DisplayName)),
    replyTo: Type.Optional(Nullable(EmailAddress)),
    audienceType: AudienceType,
    segmentId: Type.Optional(Nullable(Type.String())),
    audienceFilter: Type.Optional(Nullable(named("Condition", Type.Unknown()))),
    rate: Type.Optional(
      Nullable(Type.Number({ minimum: LOWEST_RATE, [MINIMUM_TEXT]: LOWEST_RATE_TEXT })),
    ),
  }),
  CONTENT_TEXTS,
);

export const CampaignInput = named(
  "CampaignInput",
  withChecks(Fields, (value, request) => [
    ...quickTemplateErrors(value, request),
    ...audienceErrors(value),
    ...restrictionErrors(value),
  ]),
  {
    description: "A campaign to create",
    example: {
      name: "Spring news",
      subject: "News for {{ name }}",
      body: "<p>Hello {{ name }}</p>",
      from: "news@acme.example",
      fromName: "Acme",
      audienceType: "ALL",
    },
  },
);
export type CampaignInput = Static<typeof CampaignInput>;

export const CampaignPatch = named(
  "CampaignPatch",
  withChecks(Type.Partial(Fields), (value, request) => [
    ...quickTemplateErrors(value, request),
    ...restrictionErrors(value),
  ]),
  {
    description: "Changes of a campaign; omitted fields stay as they are",
    example: { subject: "Spring news for {{ name }}", rate: 10 },
  },
);
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

export const SendCampaignInput = named(
  "SendCampaignInput",
  described(Input({ scheduledFor: Type.Optional(Nullable(DateTime)) }), {
    scheduledFor: "When sending is to start; omitted or null for now",
  }),
  {
    description: "When to send a campaign",
    example: { scheduledFor: "2036-03-03T09:00:00Z" },
  },
);

export const TestCampaignInput = named(
  "TestCampaignInput",
  described(Input({ email: EmailAddress }), { email: "Address that gets the test mail" }),
  { description: "Where to send a test mail", example: { email: "ada@example.com" } },
);

export const SentTest = named(
  "SentTest",
  described(Type.Object({ email: Type.String() }), { email: "Id of the email record" }),
  { description: "A test mail that was queued", example: { email: EXAMPLE.emailId } },
);

export const CampaignQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(describedUse(CampaignStatusSchema, "Only campaigns of this status")),
});
export type CampaignQuery = Static<typeof CampaignQuery>;

export const RECIPIENT_ACTIONS = [
  "OPENED",
  "CLICKED",
  "NOT_OPENED",
  "BOUNCED",
  "COMPLAINED",
  "UNSUBSCRIBED",
] as const;

export const RecipientQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(
    describedUse(EmailStatusSchema, "Only recipients whose mail has this status"),
  ),
  action: Type.Optional({
    ...OneOf(RECIPIENT_ACTIONS),
    description:
      "Only recipients who did this: OPENED and CLICKED by a person, BOUNCED, COMPLAINED, " +
      "UNSUBSCRIBED by this mail, or NOT_OPENED: the mail was sent and did not bounce, and no " +
      "person opened it",
  }),
  link: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8192,
      description: "Only recipients who clicked the link with this target",
    }),
  ),
});
export type RecipientQuery = Static<typeof RecipientQuery>;
