/** Campaigns without their content, with their main numbers. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, QueryBoolean } from "../../http/validation.ts";
import { Campaign, CampaignStatusSchema } from "./model.ts";

const Count = Type.Integer();
const { properties } = Campaign;

export const CampaignSummary = named(
  "CampaignSummary",
  described(
    Type.Object({
      id: properties.id,
      name: properties.name,
      subject: properties.subject,
      status: properties.status,
      statusReason: properties.statusReason,
      audienceType: properties.audienceType,
      segmentId: properties.segmentId,
      segmentName: Nullable(Type.String()),
      scheduledAt: properties.scheduledAt,
      startedAt: properties.startedAt,
      finishedAt: properties.finishedAt,
      imported: properties.imported,
      abTestState: properties.abTestState,
      createdAt: properties.createdAt,
      totalRecipients: Count,
      queued: Count,
      sent: Count,
      delivered: Count,
      opened: Count,
      clicked: Count,
      bounced: Count,
      bouncedLater: Count,
      complained: Count,
      unsubscribed: Count,
    }),
    {
      id: "Id of the campaign",
      name: "Name of the campaign",
      subject: "Liquid template of the subject",
      status: "Status of the campaign",
      statusReason: "Why the campaign was paused or cancelled; null if a caller did it",
      audienceType: "Whether all contacts, a segment or filtered contacts get the mail",
      segmentId: "Id of the segment; null for another audience, or if it was deleted",
      segmentName: "Name of the segment; null like segmentId",
      scheduledAt: "When sending is to start; null if it is not scheduled",
      startedAt: "When sending started; null before",
      finishedAt: "When the last mail left or the campaign was cancelled; null before",
      imported: "The product that sent the campaign; null for a campaign of this server",
      abTestState: "How far the A/B test has come; null without one, and before the start",
      createdAt: "When the campaign was created",
      totalRecipients: "Contacts that the campaign is for",
      queued: "Mails that wait to be sent",
      sent: "Mails that a mail server accepted",
      delivered: "Mails whose delivery was confirmed",
      opened: "Mails that a person opened",
      clicked: "Mails with a link that a person clicked",
      bounced: "Mails that bounced, at delivery or later",
      bouncedLater: "Those of them that a report announced after the mail was accepted",
      complained: "Mails that were reported as spam",
      unsubscribed: "Recipients who unsubscribed by this campaign",
    },
  ),
  {
    description: "A campaign without its content, with its main numbers",
    example: {
      id: EXAMPLE.campaignId,
      name: "Spring news",
      subject: "News for {{ name }}",
      status: "SENT",
      statusReason: null,
      audienceType: "SEGMENT",
      segmentId: EXAMPLE.segmentId,
      segmentName: "Customers",
      scheduledAt: null,
      startedAt: EXAMPLE.createdAt,
      finishedAt: EXAMPLE.updatedAt,
      imported: null,
      abTestState: null,
      createdAt: EXAMPLE.createdAt,
      totalRecipients: 120,
      queued: 0,
      sent: 118,
      delivered: 116,
      opened: 61,
      clicked: 14,
      bounced: 2,
      bouncedLater: 0,
      complained: 0,
      unsubscribed: 1,
    },
  },
);
export type CampaignSummary = Static<typeof CampaignSummary>;

export const CampaignSummaryQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(describedUse(CampaignStatusSchema, "Only campaigns of this status")),
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "Only campaigns whose name contains this text; case matters beyond ASCII",
    }),
  ),
  imported: Type.Optional(
    describedUse(
      QueryBoolean(),
      "Only campaigns that another product has sent, or only those of this server",
    ),
  ),
  before: Type.Optional(
    Type.String({
      description: "Id of a campaign: only those that were created before it",
    }),
  ),
});
export type CampaignSummaryQuery = Static<typeof CampaignSummaryQuery>;
