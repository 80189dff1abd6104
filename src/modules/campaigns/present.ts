/** Shows campaigns as the API does. */

import { inArray } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import type { campaigns } from "../../db/schema/campaigns.ts";
import { segments } from "../../db/schema/segments.ts";
import { conditionFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { contentOf } from "../templates.ts";
import type { Campaign } from "./model.ts";

/** The campaign as a role sees it. */
export function readableCampaign(role: Role | null, campaign: Campaign): Campaign {
  return { ...campaign, audienceFilter: conditionFor(role, campaign.audienceFilter) };
}

export type CampaignRow = typeof campaigns.$inferSelect;

/** Returns a function that reads the segments of some campaigns and returns their presenter. */
export function createPresenter(db: Db) {
  function segmentIds(rows: readonly CampaignRow[]): Map<number, string> {
    const seqs = rows.flatMap((row) => row.segmentSeq ?? []);
    if (seqs.length === 0) return new Map();
    const found = db.select().from(segments).where(inArray(segments.seq, seqs)).all();
    return new Map(found.map((segment) => [segment.seq, segment.id]));
  }

  return (rows: readonly CampaignRow[]): ((row: CampaignRow) => Campaign) => {
    const ids = segmentIds(rows);
    return (row) => present(row, ids);
  };
}

function present(row: CampaignRow, segmentIds: ReadonlyMap<number, string>): Campaign {
  return {
    id: row.id,
    ...contentOf(row),
    type: row.audienceType,
    audienceType: row.audienceType,
    segmentId: row.segmentSeq === null ? null : (segmentIds.get(row.segmentSeq) ?? null),
    audienceFilter: row.audienceFilter === null ? null : JSON.parse(row.audienceFilter),
    rate: row.rate,
    status: row.status,
    statusReason: row.statusReason,
    scheduledAt: isoTimeOrNull(row.scheduledAt),
    startedAt: isoTimeOrNull(row.startedAt),
    finishedAt: isoTimeOrNull(row.finishedAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
