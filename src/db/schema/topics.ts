import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import { contacts } from "./contacts.ts";
import { projects } from "./projects.ts";

/**
 * SUBSCRIBED: all contacts get its mail until they leave it; UNSUBSCRIBED: only contacts who joined
 * it get its mail.
 */
export const TOPIC_DEFAULTS = ["SUBSCRIBED", "UNSUBSCRIBED"] as const;
/** PRIVATE topics are offered only to contacts who are in them. */
export const TOPIC_VISIBILITIES = ["PUBLIC", "PRIVATE"] as const;

/** Kinds of marketing mail that a contact may get or leave, such as product news. */
export const topics = sqliteTable(
  "topics",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    /** Names the topic in conditions and imports, as the slug of a segment does. */
    key: text("key").notNull(),
    name: text("name").notNull(),
    description: text("description"),
    /** True if contacts without a choice of their own get its mail. */
    defaultState: text("default_state", { enum: TOPIC_DEFAULTS }).notNull(),
    visibility: text("visibility", { enum: TOPIC_VISIBILITIES }).notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    index("topics_page").on(table.projectSeq, table.seq),
    uniqueIndex("topics_key").on(table.projectSeq, table.key),
  ],
);

/** The choices of contacts; a contact without a row has the default of the topic. WITHOUT ROWID. */
export const topicSubscriptions = sqliteTable(
  "topic_subscriptions",
  {
    topicSeq: integer("topic_seq")
      .notNull()
      .references(() => topics.seq, { onDelete: "cascade" }),
    contactSeq: integer("contact_seq")
      .notNull()
      .references(() => contacts.seq, { onDelete: "cascade" }),
    isSubscribed: integer("is_subscribed", { mode: "boolean" }).notNull(),
    changedAt: integer("changed_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.topicSeq, table.contactSeq] }),
    index("topic_subscriptions_contact").on(table.contactSeq),
  ],
);
