import { type Static, Type } from "@sinclair/typebox";
import {
  AUDIENCE_TYPES,
  CAMPAIGN_CATEGORIES,
  CAMPAIGN_STATUSES,
  CONTENT_FORMATS,
} from "../../db/schema/campaigns.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { MINIMUM_TEXT, PATTERN_TEXT } from "../../http/field-messages.ts";
import { DisplayName, EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";
import { quickTemplateErrors } from "../../render/request-mails.ts";
import { ImportedCampaign } from "./imported-model.ts";
import {
  AbTest,
  abTestErrors,
  AbTestInput,
  AbTestState,
  ShownVariant,
} from "./ab-tests/ab-model.ts";
import { BodySource, Design, PreheaderSource, SubjectSource } from "../templates/model.ts";

/** One mail per minute, in mails per second, so that a campaign ends in a foreseeable time. */
const LOWEST_RATE = 1 / 60;
const LOWEST_RATE_TEXT = "1/60, which is one mail per minute";

const DateTime = Type.String({ format: "date-time" });

export const AudienceType = named("AudienceType", OneOf(AUDIENCE_TYPES), {
  description:
    "ALL: all subscribed contacts; SEGMENT: the members of a segment; FILTERED: the contacts that " +
    "meet a condition",
});

export const CampaignStatusSchema = named("CampaignStatus", OneOf(CAMPAIGN_STATUSES), {
  description:
    "DRAFT: can be changed; SCHEDULED: is sent at scheduledAt; SENDING: mails leave; PAUSED: mails " +
    "wait; SENT: every mail was handed over; CANCELLED: no further mail leaves",
});

export const Category = named("CampaignCategory", OneOf(CAMPAIGN_CATEGORIES), {
  description:
    "MARKETING: goes to subscribed contacts, with a link to unsubscribe; TRANSACTIONAL: a notice to " +
    "all contacts of the audience, also to those who have unsubscribed, without such a link",
});

const UtmValue = Type.Optional(Nullable(Type.String({ maxLength: 255 })));
const Utm = described(
  Input({
    source: UtmValue,
    medium: UtmValue,
    campaign: UtmValue,
    term: UtmValue,
    content: UtmValue,
  }),
  {
    source: "Value of utm_source",
    medium: "Value of utm_medium",
    campaign: "Value of utm_campaign",
    term: "Value of utm_term",
    content: "Value of utm_content",
  },
);
export type Utm = Static<typeof Utm>;

/** The fields that a campaign needs before it is sent, and that a draft may lack. */
const SENDING_FIELDS = ["subject", "body", "from", "segmentId", "audienceFilter"] as const;

/** Descriptions of the fields that callers set. */
const CONTENT_TEXTS = {
  name: "Name of the campaign, which recipients do not see",
  description: "Note about the campaign, which recipients do not see",
  subject: "Liquid template of the subject, one line; empty while a draft has none",
  body: "Liquid template of the HTML body; empty while a draft has none",
  from: "Address of the sender, at a verified domain of the project; empty while a draft has none",
  fromName: "Display name of the sender",
  replyTo: "Address to which replies go, with or without a display name",
  audienceType: "Whether all contacts, the members of a segment or filtered contacts get the mail",
  segmentId: "Id of the segment; required if audienceType is SEGMENT, otherwise null",
  audienceFilter: "Condition on the contacts; required if audienceType is FILTERED, otherwise null",
  rate: "Highest number of mails per second, at least one mail per minute (1/60); null for no limit",
  category: "Whether it is marketing or a notice; the field type of a request sets it, too",
  preheader: "Liquid template of the text that mail programs show after the subject",
  format: "Whether the body is edited as code or made by the visual editor",
  design: "The JSON of the visual editor from which the body was made; null for CODE",
  layoutId: "Id of the layout around the body; null for none",
  templateId: "Id of the template from which the content was copied; null for none",
  utm: "Parameters that are added to the links of the mail; null for none",
  topicId: "Id of the topic of the mail, which goes only to contacts in it; only for MARKETING",
  archived: "Whether everybody may read the campaign at archiveUrl",
  archiveSlug: "Last part of archiveUrl: lower-case letters, digits and hyphens",
  abTest: "The A/B test; null for none",
} as const;

const EXAMPLE_CAMPAIGN = {
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
  category: "MARKETING",
  preheader: null,
  format: "CODE",
  design: null,
  layoutId: null,
  templateId: null,
  utm: null,
  topicId: null,
  archived: false,
  archiveSlug: null,
  archiveUrl: null,
  abTest: null,
  abTestState: null,
  revision: 1,
  missing: [],
  status: "DRAFT",
  statusReason: null,
  scheduledAt: null,
  timeZone: null,
  fallbackTimeZone: null,
  startedAt: null,
  finishedAt: null,
  imported: null,
  createdAt: EXAMPLE.createdAt,
  updatedAt: EXAMPLE.updatedAt,
};

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
      category: Category,
      preheader: Nullable(Type.String()),
      format: OneOf(CONTENT_FORMATS),
      design: Nullable(Type.Unknown()),
      layoutId: Nullable(Type.String()),
      templateId: Nullable(Type.String()),
      utm: Nullable(Type.Record(Type.String(), Type.String())),
      topicId: Nullable(Type.String()),
      archived: Type.Boolean(),
      archiveSlug: Nullable(Type.String()),
      archiveUrl: Nullable(Type.String()),
      abTest: Nullable(AbTest),
      abTestState: Nullable(AbTestState),
      revision: Type.Integer(),
      missing: Type.Array(OneOf(SENDING_FIELDS)),
      status: CampaignStatusSchema,
      statusReason: Nullable(Type.String()),
      scheduledAt: Nullable(DateTime),
      timeZone: Nullable(Type.String()),
      fallbackTimeZone: Nullable(Type.String()),
      startedAt: Nullable(DateTime),
      finishedAt: Nullable(DateTime),
      imported: Nullable(ImportedCampaign),
      createdAt: DateTime,
      updatedAt: DateTime,
    }),
    {
      id: "Id of the campaign",
      ...CONTENT_TEXTS,
      type: "The same as audienceType",
      abTestState: "How far the A/B test has come; null without one, and before the start",
      archiveUrl: "Address of the public page of the campaign; null unless it is archived",
      revision: "Grows with each change of the content; the header If-Match compares it",
      missing: "The fields that a draft still needs before it can be sent",
      status: "Status of the campaign",
      statusReason: "Why the campaign was paused or cancelled; null if a caller did it",
      scheduledAt: "When sending is to start; null if it is not scheduled",
      timeZone: "Zone in which the time was chosen, or RECIPIENT; null if none was named",
      fallbackTimeZone: "For RECIPIENT: the zone of contacts without one; otherwise null",
      startedAt: "When sending started; null before",
      finishedAt: "When the last mail was handed to a mail server or the campaign was cancelled",
      imported: "The product that sent the campaign; null for a campaign of this server",
      createdAt: "When the campaign was created",
      updatedAt: "When the campaign was changed last",
    },
  ),
  {
    description: "One mail to an audience of contacts",
    example: EXAMPLE_CAMPAIGN,
  },
);
export type Campaign = Static<typeof Campaign>;

const { design: _design, abTest: _abTest, ...LISTED } = Campaign.properties;
const { design: _shown, abTest: _test, ...LISTED_EXAMPLE } = EXAMPLE_CAMPAIGN;

/** Without the design and the A/B test, which may be large. */
export const ListedCampaign = named("ListedCampaign", Type.Object(LISTED), {
  description: "A campaign in the list of campaigns, without its design and its A/B test",
  example: LISTED_EXAMPLE,
});
export type ListedCampaign = Static<typeof ListedCampaign>;

/**
 * The category, or the type of the audience, for a caller that sends back the campaign that it has
 * read.
 */
const RequestType = OneOf([...CAMPAIGN_CATEGORIES, ...AUDIENCE_TYPES]);

const ArchiveSlug = Type.String({
  pattern: "^[a-z0-9]+(?:-[a-z0-9]+)*$",
  [PATTERN_TEXT]: "must have lower-case letters and digits, with single hyphens between them",
  maxLength: 100,
});

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
    category: Type.Optional(Category),
    type: Type.Optional(RequestType),
    preheader: Type.Optional(Nullable(PreheaderSource)),
    format: Type.Optional(OneOf(CONTENT_FORMATS)),
    design: Type.Optional(Nullable(Design)),
    layoutId: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
    templateId: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
    utm: Type.Optional(Nullable(Utm)),
    topicId: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
    archived: Type.Optional(Type.Boolean()),
    archiveSlug: Type.Optional(Nullable(ArchiveSlug)),
    abTest: Type.Optional(Nullable(AbTestInput)),
  }),
  {
    ...CONTENT_TEXTS,
    type: "The category; an audience type is accepted only if it equals audienceType",
  },
);

/** The fields of a draft, of which it may lack any but the name. */
const DraftFields = described(
  Input({
    ...Type.Partial(Fields).properties,
    subject: Type.Optional(Nullable(SubjectSource)),
    body: Type.Optional(Nullable(BodySource)),
    from: Type.Optional(Nullable(EmailAddress)),
  }),
  {
    ...CONTENT_TEXTS,
    type: "The category; an audience type is accepted only if it equals audienceType",
    templateId: "Id of a template whose content is copied; fields of the request replace it",
  },
);

export const CampaignInput = named(
  "CampaignInput",
  withChecks(Fields, (value, request) => [
    ...quickTemplateErrors(value, request),
    ...abTestErrors(value, request),
    ...audienceErrors(value),
    ...restrictionErrors(value),
    ...typeErrors(value),
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

export const CampaignDraft = named(
  "CampaignDraft",
  withChecks(
    described(Input({ ...DraftFields.properties, name: Fields.properties.name }), {
      ...CONTENT_TEXTS,
      type: "The category; an audience type is accepted only if it equals audienceType",
      templateId: "Id of a template whose content is copied; fields of the request replace it",
    }),
    (value, request) => [
      ...quickTemplateErrors(value, request),
      ...abTestErrors(value, request),
      ...audienceErrors(value),
      ...restrictionErrors(value),
      ...typeErrors(value),
    ],
  ),
  {
    description: "A campaign that may lack what only sending needs; send requires it",
    example: { name: "Spring news", templateId: EXAMPLE.templateId },
  },
);
export type CampaignDraft = Static<typeof CampaignDraft>;

export const CampaignPatch = named(
  "CampaignPatch",
  withChecks(DraftFields, (value, request) => [
    ...quickTemplateErrors(value, request),
    ...abTestErrors(value, request),
    ...restrictionErrors(value),
    ...typeErrors(value),
  ]),
  {
    description:
      "Changes of a campaign; omitted fields stay as they are. null removes the subject, the body or " +
      "the sender of a draft.",
    example: { subject: "Spring news for {{ name }}", rate: 10 },
  },
);
export type CampaignPatch = Static<typeof CampaignPatch>;

/** Refuses a type that contradicts another field. */
export function typeErrors({
  type,
  category,
  audienceType,
}: Readonly<Record<string, unknown>>): FieldError[] {
  if (type === undefined || CAMPAIGN_CATEGORIES.some((each) => each === type)) {
    if (type === undefined || category === undefined || type === category) return [];
    return [{ field: "type", message: "must be the same as category", code: "invalid_value" }];
  }
  if (audienceType === undefined || audienceType === type) return [];
  const message = "must be MARKETING or TRANSACTIONAL; audienceType says who gets it";
  return [{ field: "type", message, code: "invalid_value" }];
}

/** The category that a request sets; undefined if it sets none. */
export function categoryIn({ category, type }: CampaignPatch): Campaign["category"] | undefined {
  return category ?? CAMPAIGN_CATEGORIES.find((each) => each === type);
}

/** The names of the fields that a campaign still needs before it is sent. */
export function missingFields(campaign: {
  subject: string;
  body: string;
  from: string;
  audienceType: Campaign["audienceType"];
  hasSegment: boolean;
  hasFilter: boolean;
}): Campaign["missing"] {
  const { subject, body, from, audienceType, hasSegment, hasFilter } = campaign;
  const isMissing = {
    subject: subject === "",
    body: body === "",
    from: from === "",
    segmentId: audienceType === "SEGMENT" && !hasSegment,
    audienceFilter: audienceType === "FILTERED" && !hasFilter,
  };
  return SENDING_FIELDS.filter((field) => isMissing[field]);
}

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
  described(
    Input({
      scheduledFor: Type.Optional(Nullable(DateTime)),
      timeZone: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
      fallbackTimeZone: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
      confirm: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
    {
      scheduledFor: "When sending is to start; omitted or null for now",
      timeZone:
        "Name of the zone in which the time was chosen, such as Europe/Berlin. RECIPIENT: each contact " +
        "gets the mail when its clock shows what the clock of fallbackTimeZone shows at scheduledFor",
      fallbackTimeZone:
        "The zone of contacts whose data have none in timezone, timeZone or time_zone; default UTC",
      confirm:
        "The number of recipients that the sender expects, without those whom an A/B test holds out; " +
        "the campaign is refused with 409 if more get it than this number, 5 % and ten",
    },
  ),
  {
    description: "When to send a campaign",
    example: { scheduledFor: "2036-03-03T09:00:00Z" },
  },
);

export type SendCampaignInput = Static<typeof SendCampaignInput>;

export const FollowUpInput = named(
  "FollowUpInput",
  withChecks(
    described(
      Input({
        audience: Type.Optional(OneOf(["NOT_OPENED", "NOT_CLICKED"])),
        name: Type.Optional(Fields.properties.name),
        subject: Type.Optional(SubjectSource),
      }),
      {
        audience:
          "NOT_OPENED, the default: those who got the campaign and did not open it; NOT_CLICKED: those " +
          "who clicked none of its links",
        name: "Name of the new campaign",
        subject: "Its subject; that of the campaign if omitted",
      },
    ),
    quickTemplateErrors,
  ),
  {
    description: "A second campaign for those who did not react to the first",
    example: { audience: "NOT_OPENED", subject: "Did you see our spring news, {{ name }}?" },
  },
);
export type FollowUpInput = Static<typeof FollowUpInput>;

export const TestCampaignInput = named(
  "TestCampaignInput",
  described(
    Input({
      email: EmailAddress,
      contactId: Type.Optional(Nullable(Type.String())),
      variantId: ShownVariant,
    }),
    {
      email: "Address that gets the test mail",
      contactId: "Id of the contact whose data is used; that of the address if omitted",
      variantId: "Variant of the A/B test; the content of the campaign if omitted",
    },
  ),
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
