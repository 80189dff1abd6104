/** Shows campaigns as the API does. */

import { Value } from "@sinclair/typebox/value";
import type { App } from "../../core/app.ts";
import type { campaigns } from "../../db/schema/campaigns.ts";
import { statement } from "../../db/statement.ts";
import { conditionFor } from "../../http/role-views.ts";
import type { Role } from "../../http/roles.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { contentOf } from "../templates/present.ts";
import { topicIdOf } from "../topics/choices.ts";
import { findAbTest, presentAbState, presentAbTest } from "./ab-tests/ab-tests.ts";
import { archiveUrlOf } from "./archive.ts";
import { type ImportedCampaign, ImportedCounts } from "./imported-model.ts";
import { type Campaign, missingFields } from "./model.ts";

/** The campaign as a role sees it. */
export function readableCampaign<C extends Pick<Campaign, "audienceFilter">>(
  role: Role | null,
  campaign: C,
): C {
  return { ...campaign, audienceFilter: conditionFor(role, campaign.audienceFilter) };
}

export type CampaignRow = typeof campaigns.$inferSelect;

const findSegment = statement<{ id: string }, [number | null]>(
  "SELECT id FROM segments WHERE seq = +?",
);

export function presentCampaign(app: App, row: CampaignRow): Campaign {
  const abTest = findAbTest(app, row.seq);
  return {
    id: row.id,
    ...contentOf(row),
    type: row.audienceType,
    audienceType: row.audienceType,
    segmentId: findSegment(app).get(row.segmentSeq)?.id ?? null,
    audienceFilter: parsed(row.audienceFilter),
    rate: row.rate,
    category: row.category,
    preheader: row.preheader,
    format: row.format,
    design: parsed(row.design),
    layoutId: row.layoutId,
    templateId: row.templateId,
    utm: parsed(row.utm),
    topicId: topicIdOf(app, row.topicSeq),
    archived: row.isArchived,
    archiveSlug: row.archiveSlug,
    abTest: presentAbTest(abTest),
    abTestState: presentAbState(abTest),
    revision: row.revision,
    missing: row.importedFrom === null ? missingOf(row) : [],
    status: row.status,
    statusReason: row.statusReason,
    scheduledAt: isoTimeOrNull(row.scheduledAt),
    timeZone: row.timeZone,
    fallbackTimeZone: row.fallbackZone,
    startedAt: isoTimeOrNull(row.startedAt),
    finishedAt: isoTimeOrNull(row.finishedAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
    archiveUrl: archiveUrlOf(app, row),
    imported: importedOf(row),
  };
}

/** The product from which a campaign was imported; null for a campaign of this server. */
export function importedOf(row: CampaignRow): ImportedCampaign | null {
  const { importedFrom, importedId, importedAt, importedSentAt, importedCounts } = row;
  if (importedFrom === null || importedId === null || importedAt === null) return null;
  return {
    source: importedFrom,
    sourceId: importedId,
    sentAt: isoTimeOrNull(importedSentAt),
    importedAt: isoTime(importedAt),
    counts: Value.Parse(ImportedCounts, JSON.parse(importedCounts ?? "{}")),
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
