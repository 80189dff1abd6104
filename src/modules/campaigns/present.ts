/** Shows campaigns as the API does. */

import { inArray } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import type { campaigns } from "../../db/schema/campaigns.ts";
import { segments } from "../../db/schema/segments.ts";
import { conditionFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { contentOf } from "../templates/present.ts";
import { type Campaign, missingFields } from "./model.ts";

/** The campaign as a role sees it. */
export function readableCampaign<C extends Pick<Campaign, "audienceFilter">>(
  role: Role | null,
  campaign: C,
): C {
  return { ...campaign, audienceFilter: conditionFor(role, campaign.audienceFilter) };
}

export type CampaignRow = typeof campaigns.$inferSelect;

/** Returns a function that reads the segments of some campaigns and returns their presenter. */
export function createPresenter({
  db,
  archiveUrlOf,
}: {
  db: Db;
  archiveUrlOf: (row: CampaignRow) => string | null;
}) {
  function segmentIds(rows: readonly CampaignRow[]): Map<number, string> {
    const seqs = rows.flatMap((row) => row.segmentSeq ?? []);
    if (seqs.length === 0) return new Map();
    const found = db.select().from(segments).where(inArray(segments.seq, seqs)).all();
    return new Map(found.map((segment) => [segment.seq, segment.id]));
  }

  return (rows: readonly CampaignRow[]): ((row: CampaignRow) => Campaign) => {
    const ids = segmentIds(rows);
    return (row) => ({ ...present(row, ids), archiveUrl: archiveUrlOf(row) });
  };
}

function present(
  row: CampaignRow,
  segmentIds: ReadonlyMap<number, string>,
): Omit<Campaign, "archiveUrl"> {
  return {
    id: row.id,
    ...contentOf(row),
    type: row.audienceType,
    audienceType: row.audienceType,
    segmentId: row.segmentSeq === null ? null : (segmentIds.get(row.segmentSeq) ?? null),
    audienceFilter: parsed(row.audienceFilter),
    rate: row.rate,
    category: row.category,
    preheader: row.preheader,
    format: row.format,
    design: parsed(row.design),
    layoutId: row.layoutId,
    templateId: row.templateId,
    utm: parsed(row.utm),
    archived: row.isArchived,
    archiveSlug: row.archiveSlug,
    revision: row.revision,
    missing: missingOf(row),
    status: row.status,
    statusReason: row.statusReason,
    scheduledAt: isoTimeOrNull(row.scheduledAt),
    timeZone: row.timeZone,
    fallbackTimeZone: row.fallbackZone,
    startedAt: isoTimeOrNull(row.startedAt),
    finishedAt: isoTimeOrNull(row.finishedAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

/** A condition, a design or parameters of links, as they were stored. */
const parsed = (json: string | null) => (json === null ? null : JSON.parse(json));

/** The names of the fields that a campaign still needs before it is sent; none after its start. */
export function missingOf(row: CampaignRow): Campaign["missing"] {
  if (row.startedAt !== null) return [];
  const { segmentSeq, audienceFilter } = row;
  return missingFields({
    ...row,
    hasSegment: segmentSeq !== null,
    hasFilter: audienceFilter !== null,
  });
}
