/** Fixes the audience of a campaign when it starts, because its mails are written over some time. */

import { eq, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { contacts } from "../../db/schema/contacts.ts";
import { segments } from "../../db/schema/segments.ts";
import type { CampaignRow } from "./present.ts";

/** Returns a function that makes the columns which fix the audience of a campaign that starts. */
export function createAudienceSnapshot(db: Db) {
  function lastContact(projectSeq: number): number {
    const [row] = db
      .select({ last: sql<number | null>`max(${contacts.seq})` })
      .from(contacts)
      .where(eq(contacts.projectSeq, projectSeq))
      .all();
    return row?.last ?? 0;
  }

  function currentCondition({
    audienceType,
    audienceFilter,
    segmentSeq,
  }: CampaignRow): string | null {
    if (audienceType !== "SEGMENT" || segmentSeq === null) return audienceFilter;
    const [segment] = db
      .select({ condition: segments.condition })
      .from(segments)
      .where(eq(segments.seq, segmentSeq))
      .limit(1)
      .all();
    return segment?.condition ?? null;
  }

  return (campaign: CampaignRow) => ({
    audienceCursor: 0,
    /** Contacts created later do not receive the campaign. */
    audienceEnd: lastContact(campaign.projectSeq),
    /** Later changes of the segment do not affect the audience. */
    audienceCondition: currentCondition(campaign),
  });
}
