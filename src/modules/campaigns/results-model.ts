/** The statistics and the recipients of a campaign. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../http/documented.ts";
import { EmailStatusSchema } from "../../http/email-enums.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { VariantId } from "./ab-tests/ab-model.ts";

const DateTime = Type.String({ format: "date-time" });
const Count = Type.Integer();
const Rate = Type.Number();

const LinkStats = named(
  "LinkStats",
  described(Type.Object({ url: Type.String(), clicks: Count, uniqueClicks: Count }), {
    url: "The target of the link",
    clicks: "All clicks by people",
    uniqueClicks: "Recipients who clicked the link",
  }),
  { description: "Clicks on one link of a campaign" },
);

const TimelineEntry = named(
  "TimelineEntry",
  described(Type.Object({ at: DateTime, opens: Count, clicks: Count }), {
    at: "Start of the hour",
    opens: "Opens in this hour",
    clicks: "Clicks in this hour",
  }),
  { description: "Opens and clicks of a campaign in one hour" },
);

const SentInHour = named(
  "SentInHour",
  described(Type.Object({ at: DateTime, sent: Count }), {
    at: "Start of the hour",
    sent: "Mails that a mail server accepted in this hour",
  }),
  { description: "Sent mails of a campaign in one hour" },
);

/** Statistics of a campaign (docs/interface.md#campaigns). */
export const CampaignStats = named(
  "CampaignStats",
  described(
    Type.Object({
      totalRecipients: Count,
      queued: Count,
      sent: Count,
      delivered: Count,
      opened: Count,
      clicked: Count,
      machineOpens: Count,
      machineClicks: Count,
      bounced: Count,
      bouncedLater: Count,
      complained: Count,
      unsubscribed: Count,
      failed: Count,
      suppressed: Count,
      cancelled: Count,
      deliveryRate: Rate,
      openRate: Rate,
      clickRate: Rate,
      bounceRate: Rate,
      complaintRate: Rate,
      unsubscribeRate: Rate,
      links: Type.Array(LinkStats),
      timeline: Type.Array(TimelineEntry),
      sentByHour: Type.Array(SentInHour),
    }),
    {
      totalRecipients: "Contacts that the campaign is for",
      queued: "Mails that wait to be sent",
      sent: "Mails that a mail server accepted",
      delivered: "Mails whose delivery was confirmed",
      opened: "Mails that a person opened",
      clicked: "Mails with a link that a person clicked",
      machineOpens: "Opens by programs, such as privacy proxies; not counted in opened",
      machineClicks: "Clicks by programs, such as link scanners; not counted in clicked",
      bounced: "Mails that bounced, at delivery or later",
      bouncedLater: "Those of them that a report announced after the mail was accepted",
      complained: "Mails that were reported as spam",
      unsubscribed: "Recipients who unsubscribed by this campaign",
      failed: "Mails that could not be sent",
      suppressed: "Mails that were not sent because the address is suppressed",
      cancelled: "Mails that were cancelled before they were sent",
      deliveryRate: "Delivered mails as a share of the sent mails, 0 to 1",
      openRate: "Opened mails as a share of the sent mails, 0 to 1",
      clickRate: "Clicked mails as a share of the sent mails, 0 to 1",
      bounceRate: "Bounced mails as a share of the mails that left, 0 to 1",
      complaintRate: "Complaints as a share of the sent mails, 0 to 1",
      unsubscribeRate: "Unsubscriptions as a share of the sent mails, 0 to 1",
      links: "Clicks by link",
      timeline: "Opens and clicks by hour, without hours that had none",
      sentByHour: "Sent mails by hour, without hours that had none",
    },
  ),
  {
    description: "Statistics of a campaign",
    example: {
      totalRecipients: 2,
      queued: 0,
      sent: 2,
      delivered: 2,
      opened: 1,
      clicked: 1,
      machineOpens: 0,
      machineClicks: 0,
      bounced: 0,
      bouncedLater: 0,
      complained: 0,
      unsubscribed: 0,
      failed: 0,
      suppressed: 0,
      cancelled: 0,
      deliveryRate: 1,
      openRate: 0.5,
      clickRate: 0.5,
      bounceRate: 0,
      complaintRate: 0,
      unsubscribeRate: 0,
      links: [{ url: "https://acme.example/news", clicks: 1, uniqueClicks: 1 }],
      timeline: [{ at: EXAMPLE.createdAt, opens: 1, clicks: 1 }],
      sentByHour: [{ at: EXAMPLE.createdAt, sent: 2 }],
    },
  },
);
export type CampaignStats = Static<typeof CampaignStats>;

export const Recipient = named(
  "CampaignRecipient",
  described(
    Type.Object({
      emailId: Type.String(),
      contactId: Nullable(Type.String()),
      email: Nullable(Type.String()),
      status: EmailStatusSchema,
      lastError: Nullable(Type.String()),
      sentAt: Nullable(DateTime),
      openedAt: Nullable(DateTime),
      clickedAt: Nullable(DateTime),
      bouncedAt: Nullable(DateTime),
      complainedAt: Nullable(DateTime),
      links: Type.Array(Type.String()),
      variantId: Nullable(Type.String()),
    }),
    {
      emailId: "Id of the email record",
      contactId: "Id of the contact; null once the contact was deleted",
      email: "Address of the recipient; null once the contact was deleted",
      status: "Status of the mail",
      lastError: "Why the latest attempt failed; null if none failed",
      sentAt: "When a mail server accepted the mail; null before",
      openedAt: "When a person first opened it; null before",
      clickedAt: "When a person first clicked a link; null before",
      bouncedAt: "When it bounced, with lastError as the reason; null if it did not",
      complainedAt: "When it was reported as spam; null if it was not",
      links: "Targets of the links that the recipient clicked, the first one first, at most 20",
      variantId: "Variant of the A/B test; null for a contact outside of the test",
    },
  ),
  {
    description: "A recipient of a campaign with the status of the mail",
    example: {
      emailId: EXAMPLE.emailId,
      contactId: EXAMPLE.contactId,
      email: "ada@example.com",
      status: "DELIVERED",
      lastError: null,
      sentAt: EXAMPLE.updatedAt,
      openedAt: EXAMPLE.updatedAt,
      clickedAt: null,
      bouncedAt: null,
      complainedAt: null,
      links: [],
      variantId: null,
    },
  },
);
export type Recipient = Static<typeof Recipient>;

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
  variantId: Type.Optional(
    describedUse(VariantId, "Only recipients of the A/B test who have this variant"),
  ),
  link: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8192,
      description: "Only recipients who clicked the link with this target",
    }),
  ),
});
export type RecipientQuery = Static<typeof RecipientQuery>;
