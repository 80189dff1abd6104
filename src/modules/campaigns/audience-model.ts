/**
 * The schemas of the audience of a campaign: the number of contacts who get it, and of contacts who
 * do not, by reason.
 */

import { type Static, Type } from "@sinclair/typebox";
import { SUPPRESSION_REASONS } from "../../db/schema/contacts.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, withChecks } from "../../http/validation.ts";
import { SegmentQuery } from "../segments/model.ts";
import { MARKETING_REFUSALS } from "../topics/choices.ts";
import { audienceErrors, AudienceType, Category, restrictionErrors } from "./model.ts";

const Count = Type.Integer();

export const EXCLUSION_REASONS = [...MARKETING_REFUSALS, ...SUPPRESSION_REASONS] as const;
export type ExclusionReason = (typeof EXCLUSION_REASONS)[number];
const Reason = named("ExclusionReason", OneOf(EXCLUSION_REASONS), {
  description:
    "UNSUBSCRIBED: not subscribed; TOPIC: not in the topic of the campaign; PAUSED: they want no " +
    "marketing mail at present; HARD_BOUNCE: the address does not exist; SOFT_BOUNCE: mail to it " +
    "failed often; COMPLAINT: it reported mail as spam; MANUAL: somebody suppressed it",
});

const Excluded = named(
  "ExcludedContacts",
  described(Type.Object({ reason: Reason, count: Count, query: Nullable(Type.String()) }), {
    reason: "Why they get no mail; of several reasons the first one",
    count: "Number of contacts with this reason",
    query: "Path of the request that lists them; null if the audience belongs to no campaign",
  }),
  { description: "Contacts of an audience who get no mail for one reason" },
);

export const AudienceBreakdown = named(
  "AudienceBreakdown",
  described(
    Type.Object({
      matched: Count,
      matching: Count,
      unsubscribed: Count,
      suppressed: Count,
      recipients: Count,
      isExact: Type.Boolean(),
      excluded: Type.Array(Excluded),
    }),
    {
      matched: "Contacts that match the audience now",
      matching: "The same as matched",
      unsubscribed: "Those of them who are not subscribed; 0 for a TRANSACTIONAL campaign",
      suppressed: "Others whose address is suppressed",
      recipients: "Those who remain: the campaign would be sent to them now",
      isExact: "False if the numbers are estimated from random contacts",
      excluded: "Contacts who get no mail by their reason, without reasons that none has",
    },
  ),
  {
    description: "Who gets a campaign, and who does not, for which reason",
    example: {
      matched: 120,
      matching: 120,
      unsubscribed: 12,
      suppressed: 3,
      recipients: 105,
      isExact: true,
      excluded: [
        {
          reason: "UNSUBSCRIBED",
          count: 12,
          query: `/campaigns/${EXAMPLE.campaignId}/audience/contacts?reason=UNSUBSCRIBED`,
        },
        {
          reason: "HARD_BOUNCE",
          count: 3,
          query: `/campaigns/${EXAMPLE.campaignId}/audience/contacts?reason=HARD_BOUNCE`,
        },
      ],
    },
  },
);
export type AudienceBreakdown = Static<typeof AudienceBreakdown>;

export const AudienceQuery = Input({
  counted: Type.Optional(
    describedUse(
      SegmentQuery.properties.counted,
      "EXACT counts all contacts, which is the default; RECENT answers with an estimate if counting " +
        "takes longer than 200 ms",
    ),
  ),
});

export const AudienceContactsQuery = Input({
  ...PageQuery.properties,
  reason: Type.Optional(
    describedUse(
      Reason,
      "Only contacts who get no mail for this reason; omitted for those who get it",
    ),
  ),
});
export type AudienceContactsQuery = Static<typeof AudienceContactsQuery>;

export const AudienceInput = named(
  "AudienceInput",
  withChecks(
    described(
      Input({
        audienceType: AudienceType,
        segmentId: Type.Optional(Nullable(Type.String())),
        audienceFilter: Type.Optional(Nullable(named("Condition", Type.Unknown()))),
        category: Type.Optional(Category),
        type: Type.Optional(Category),
        topicId: Type.Optional(Nullable(Type.String({ maxLength: 100 }))),
      }),
      {
        audienceType: "Whether all contacts, the members of a segment or filtered contacts get it",
        segmentId: "Id of the segment; required if audienceType is SEGMENT, otherwise null",
        audienceFilter: "Condition; required if audienceType is FILTERED, otherwise null",
        category: "Whether it would be marketing, which is the default, or a notice to all",
        type: "The same as category",
        topicId: "Id of the topic of the mail, which goes only to contacts in it",
      },
    ),
    (value) => [...audienceErrors(value), ...restrictionErrors(value)],
  ),
  {
    description: "An audience to count",
    example: { audienceType: "SEGMENT", segmentId: EXAMPLE.segmentId },
  },
);
export type AudienceInput = Static<typeof AudienceInput>;
