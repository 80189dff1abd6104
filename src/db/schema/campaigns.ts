import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  real,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { contacts } from "./contacts.ts";
import { projects } from "./projects.ts";
import { segments } from "./segments.ts";
import { topics } from "./topics.ts";

export const AUDIENCE_TYPES = ["ALL", "SEGMENT", "FILTERED"] as const;

/** MARKETING goes to subscribed contacts only; TRANSACTIONAL is a notice to all of the audience. */
export const CAMPAIGN_CATEGORIES = ["MARKETING", "TRANSACTIONAL"] as const;

export const CONTENT_FORMATS = ["CODE", "VISUAL"] as const;

export const CAMPAIGN_STATUSES = [
  "DRAFT",
  "SCHEDULED",
  "SENDING",
  "PAUSED",
  "SENT",
  "CANCELLED",
] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const campaigns = sqliteTable(
  "campaigns",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    description: text("description"),
    subject: text("subject").notNull(),
    body: text("body").notNull(),
    from: text("from_address").notNull(),
    fromName: text("from_name"),
    replyTo: text("reply_to"),
    audienceType: text("audience_type", { enum: AUDIENCE_TYPES }).notNull(),
    segmentSeq: integer("segment_seq").references(() => segments.seq, { onDelete: "set null" }),
    /** JSON condition; only for FILTERED. */
    audienceFilter: text("audience_filter"),
    /** Mails per second, below the rate of the installation; null if the campaign has no own rate. */
    rate: real("rate"),
    status: text("status", { enum: CAMPAIGN_STATUSES }).notNull(),
    /** Reason for the pause, if the service paused the campaign itself. */
    statusReason: text("status_reason"),
    /** Start time of a SCHEDULED campaign. It is stored, so it survives a restart. */
    scheduledAt: integer("scheduled_at"),
    startedAt: integer("started_at"),
    finishedAt: integer("finished_at"),
    /**
     * The audience is fixed when sending starts: contacts with a `seq` up to `audience_end`. All
     * recipients up to `audience_cursor` have a row in `emails`; the cursor is committed with these
     * rows. Null before the start.
     */
    audienceCursor: integer("audience_cursor"),
    audienceEnd: integer("audience_end"),
    /** JSON condition of the filter or DYNAMIC segment at the start; null if there is none. */
    audienceCondition: text("audience_condition"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    category: text("category", { enum: CAMPAIGN_CATEGORIES }).notNull().default("MARKETING"),
    /** Liquid source of the text that mail programs show after the subject. */
    preheader: text("preheader"),
    format: text("format", { enum: CONTENT_FORMATS }).notNull().default("CODE"),
    /** JSON of the visual editor, from which it makes the body. */
    design: text("design"),
    layoutId: text("layout_id"),
    /** The template from which the content was copied. */
    templateId: text("template_id"),
    /** Grows by one with each change of the content. */
    revision: integer("revision").notNull().default(1),
    /** JSON: the parameters that are added to its links. */
    utm: text("utm"),
    /** Last part of the address of its public page; it stays if the page is hidden again. */
    archiveSlug: text("archive_slug"),
    isArchived: integer("is_archived", { mode: "boolean" }).notNull().default(false),
    /** The content of its mails, which is fixed when sending starts; null before. */
    messageSeq: integer("message_seq"),
    /** The start of a SCHEDULED campaign if it is before `scheduled_at` (campaigns/local-times.ts). */
    startAt: integer("start_at"),
    /** Name of the zone in which the time was chosen, or RECIPIENT. */
    timeZone: text("time_zone"),
    /**
     * For RECIPIENT: the zone of contacts without one, in which `scheduled_at` has the local time of
     * all.
     */
    fallbackZone: text("fallback_zone"),
    /**
     * The product from which a sent campaign was imported, and its id there; null for the campaigns of
     * this server. An imported campaign never has mails, recipients or counters here.
     */
    importedFrom: text("imported_from"),
    importedId: text("imported_id"),
    importedAt: integer("imported_at"),
    /** When the other product sent it, if it says so. */
    importedSentAt: integer("imported_sent_at"),
    /** JSON: the totals that the other product has counted (campaigns/imported-model.ts). */
    importedCounts: text("imported_counts"),
    /** The topic of its mails, which go only to contacts in it; only for MARKETING. */
    topicSeq: integer("topic_seq").references(() => topics.seq, { onDelete: "set null" }),
  },
  (table) => [
    index("campaigns_page").on(table.projectSeq, table.seq),
    index("campaigns_due")
      .on(table.scheduledAt)
      .where(sql`status = 'SCHEDULED'`),
    index("campaigns_active")
      .on(table.status)
      .where(sql`status IN ('SENDING', 'PAUSED')`),
    index("campaigns_topic")
      .on(table.topicSeq)
      .where(sql`topic_seq IS NOT NULL`),
    index("campaigns_segment")
      .on(table.segmentSeq)
      .where(sql`segment_seq IS NOT NULL`),
    uniqueIndex("campaigns_archive")
      .on(table.projectSeq, table.archiveSlug)
      .where(sql`archive_slug IS NOT NULL`),
    uniqueIndex("campaigns_imported")
      .on(table.projectSeq, table.importedFrom, table.importedId)
      .where(sql`imported_id IS NOT NULL`),
  ],
);

/** Counters of a campaign. Each counter changes in the transaction of its event. */
export const campaignCounts = sqliteTable("campaign_counts", {
  campaignSeq: integer("campaign_seq")
    .primaryKey()
    .references(() => campaigns.seq, { onDelete: "cascade" }),
  totalRecipients: integer("total_recipients").notNull().default(0),
  sent: integer("sent").notNull().default(0),
  delivered: integer("delivered").notNull().default(0),
  opened: integer("opened").notNull().default(0),
  clicked: integer("clicked").notNull().default(0),
  machineOpens: integer("machine_opens").notNull().default(0),
  machineClicks: integer("machine_clicks").notNull().default(0),
  bounced: integer("bounced").notNull().default(0),
  /** Number of bounced mails that a server had accepted before; they are counted as sent, too. */
  bouncedLater: integer("bounced_later").notNull().default(0),
  complained: integer("complained").notNull().default(0),
  unsubscribed: integer("unsubscribed").notNull().default(0),
  failed: integer("failed").notNull().default(0),
  suppressed: integer("suppressed").notNull().default(0),
  cancelled: integer("cancelled").notNull().default(0),
  /** Sent, bounced and complained mails when a person last resumed the campaign. */
  forgivenMails: integer("forgiven_mails").notNull().default(0),
  forgivenBounces: integer("forgiven_bounces").notNull().default(0),
  forgivenComplaints: integer("forgiven_complaints").notNull().default(0),
});

/** Clicks per link of a campaign. */
export const campaignLinks = sqliteTable(
  "campaign_links",
  {
    campaignSeq: integer("campaign_seq")
      .notNull()
      .references(() => campaigns.seq, { onDelete: "cascade" }),
    url: text("url").notNull(),
    clicks: integer("clicks").notNull(),
    uniqueClicks: integer("unique_clicks").notNull(),
  },
  (table) => [primaryKey({ columns: [table.campaignSeq, table.url] })],
);

/** Sent mails, opens and clicks per hour. */
export const campaignHours = sqliteTable(
  "campaign_hours",
  {
    campaignSeq: integer("campaign_seq")
      .notNull()
      .references(() => campaigns.seq, { onDelete: "cascade" }),
    /** Start of the hour, milliseconds since the epoch. */
    hour: integer("hour").notNull(),
    opens: integer("opens").notNull(),
    clicks: integer("clicks").notNull(),
    sent: integer("sent").notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.campaignSeq, table.hour] })],
);

/** The rule for the winner of an A/B test: the best rate, or the choice of a person. */
export const AB_WINNER_RULES = ["OPENS", "CLICKS", "EVENT", "MANUAL"] as const;

/** TEST: its mails leave; WAITING: for the winner; REST: nothing is left to decide. */
export const AB_PHASES = ["TEST", "WAITING", "REST"] as const;

export const AB_CHOSEN_BY = ["RULE", "PERSON"] as const;

/** The A/B test of a campaign, as it is planned and as it goes on. */
export const abTests = sqliteTable(
  "ab_tests",
  {
    campaignSeq: integer("campaign_seq")
      .primaryKey()
      .references(() => campaigns.seq, { onDelete: "cascade" }),
    /** Percent of the audience that gets the variants, and percent that gets nothing. */
    share: integer("share").notNull(),
    holdOut: integer("hold_out").notNull(),
    winnerBy: text("winner_by", { enum: AB_WINNER_RULES }).notNull(),
    /** Only for EVENT. */
    eventName: text("event_name"),
    afterMinutes: integer("after_minutes").notNull(),
    /** Null before the campaign starts. */
    phase: text("phase", { enum: AB_PHASES }),
    /** From the start of the campaign: true once a contact was found who is neither in the test nor held out. */
    hasRest: integer("has_rest", { mode: "boolean" }).notNull().default(true),
    /** When the winner is chosen; null before WAITING, and for MANUAL. */
    waitsUntil: integer("waits_until"),
    winnerId: text("winner_id"),
    chosenBy: text("chosen_by", { enum: AB_CHOSEN_BY }),
    decidedAt: integer("decided_at"),
  },
  (table) => [
    index("ab_tests_waiting")
      .on(table.waitsUntil)
      .where(sql`phase = 'WAITING'`),
  ],
);

/**
 * The variants of an A/B test. The first one, A, is the content of the campaign. Null stands for the
 * value of the campaign; format, design and layout belong to the body.
 */
export const abVariants = sqliteTable(
  "ab_variants",
  {
    campaignSeq: integer("campaign_seq")
      .notNull()
      .references(() => campaigns.seq, { onDelete: "cascade" }),
    id: text("id").notNull(),
    name: text("name"),
    subject: text("subject"),
    preheader: text("preheader"),
    from: text("from_address"),
    fromName: text("from_name"),
    replyTo: text("reply_to"),
    body: text("body"),
    format: text("format", { enum: CONTENT_FORMATS }).notNull().default("CODE"),
    design: text("design"),
    layoutId: text("layout_id"),
    templateId: text("template_id"),
    /** The content of its mails, which is fixed when sending starts; null before. */
    messageSeq: integer("message_seq"),
    /** The mails that were sent and those that met the rule when the winner was chosen by it. */
    decidedSent: integer("decided_sent"),
    decidedHits: integer("decided_hits"),
  },
  (table) => [primaryKey({ columns: [table.campaignSeq, table.id] })],
);

/** The contacts of an audience who get nothing, to measure the effect of the campaign. */
export const abHoldOuts = sqliteTable(
  "ab_hold_outs",
  {
    campaignSeq: integer("campaign_seq")
      .notNull()
      .references(() => campaigns.seq, { onDelete: "cascade" }),
    contactSeq: integer("contact_seq")
      .notNull()
      .references(() => contacts.seq, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.campaignSeq, table.contactSeq] }),
    // Deleting a contact finds its rows.
    index("ab_hold_outs_contact").on(table.contactSeq),
  ],
);
