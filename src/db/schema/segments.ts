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

export const SEGMENT_TYPES = ["DYNAMIC", "STATIC"] as const;

export const segments = sqliteTable(
  "segments",
  {
    seq: integer("seq").primaryKey({ autoIncrement: true }),
    id: text("id").notNull().unique(),
    projectSeq: integer("project_seq")
      .notNull()
      .references(() => projects.seq),
    name: text("name").notNull(),
    /** Part of the names of its entry and exit events. */
    slug: text("slug").notNull(),
    description: text("description"),
    type: text("type", { enum: SEGMENT_TYPES }).notNull(),
    /** JSON condition; null for a STATIC segment. */
    condition: text("condition"),
    trackMembership: integer("track_membership", { mode: "boolean" }).notNull(),
    /**
     * Time since which the members of a tracked DYNAMIC segment are stored. Null while they are
     * stored for the first time under the current condition; this scan records no events.
     */
    baselineAt: integer("baseline_at"),
    /**
     * Set when the segment is deleted for users. The row remains until all member rows are removed.
     */
    deletedAt: integer("deleted_at"),
    /**
     * Number of members when they were last counted for a list; null if they were not counted since
     * the condition was set.
     */
    memberCount: integer("member_count"),
    memberCountedAt: integer("member_counted_at"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [
    index("segments_page").on(table.projectSeq, table.seq),
    uniqueIndex("segments_slug").on(table.projectSeq, table.slug),
  ],
);

/** Members of STATIC segments and stored members of tracked DYNAMIC segments; WITHOUT ROWID. */
export const segmentMembers = sqliteTable(
  "segment_members",
  {
    segmentSeq: integer("segment_seq")
      .notNull()
      .references(() => segments.seq, { onDelete: "cascade" }),
    contactSeq: integer("contact_seq")
      .notNull()
      .references(() => contacts.seq, { onDelete: "cascade" }),
  },
  (table) => [
    primaryKey({ columns: [table.segmentSeq, table.contactSeq] }),
    index("segment_members_contact").on(table.contactSeq),
  ],
);
