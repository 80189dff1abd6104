/** Pages of campaigns without their content, with their main numbers, newest first. */

import { and, eq, isNotNull, isNull, lt } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import { statement } from "../../db/statement.ts";
import type { Page } from "../../http/envelope.ts";
import { containsText, newestPage } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { findAbTest, presentAbState } from "./ab-tests/ab-tests.ts";
import { type CampaignRow, importedOf } from "./present.ts";
import { unsettled } from "./report.ts";
import type { CampaignSummary, CampaignSummaryQuery } from "./summary-model.ts";

/** With `before`, those before another campaign. */
export function listCampaignSummaries(
  app: App,
  project: { seq: number },
  { status, name, imported, ...query }: Omit<CampaignSummaryQuery, "before">,
  before: CampaignRow | null,
): Promise<Page<CampaignSummary>> {
  return newestPage(app, project, {
    name: "campaign-summaries",
    query,
    table: campaigns,
    filter: and(
      eq(campaigns.projectSeq, project.seq),
      status === undefined ? undefined : eq(campaigns.status, status),
      name === undefined ? undefined : containsText(campaigns.name, name),
      imported === undefined ? undefined : isImported(imported === "true"),
      before === null ? undefined : lt(campaigns.seq, before.seq),
    ),
    present: (row) => present(app, row),
  });
}

const findSegment = statement<{ id: string; name: string }, [number | null]>(
  "SELECT id, name FROM segments WHERE seq = +?",
);

const isImported = (wanted: boolean) =>
  wanted ? isNotNull(campaigns.importedFrom) : isNull(campaigns.importedFrom);

/** Null if the campaign was deleted meanwhile. */
function present(app: App, row: CampaignRow): CampaignSummary | null {
  const ofCampaign = eq(campaignCounts.campaignSeq, row.seq);
  const counts = app.db.select().from(campaignCounts).where(ofCampaign).limit(1).get();
  if (counts === undefined) return null;
  const segment = findSegment(app).get(row.segmentSeq);
  const { id, name, subject, status, statusReason, audienceType } = row;
  const { totalRecipients, sent, delivered, opened, clicked } = counts;
  const { bounced, bouncedLater, complained, unsubscribed } = counts;
  return {
    id,
    name,
    subject,
    status,
    statusReason,
    audienceType,
    segmentId: segment?.id ?? null,
    segmentName: segment?.name ?? null,
    scheduledAt: isoTimeOrNull(row.scheduledAt),
    startedAt: isoTimeOrNull(row.startedAt),
    finishedAt: isoTimeOrNull(row.finishedAt),
    imported: importedOf(row),
    abTestState: presentAbState(findAbTest(app, row.seq)),
    createdAt: isoTime(row.createdAt),
    totalRecipients,
    queued: unsettled(counts),
    sent,
    delivered,
    opened,
    clicked,
    bounced,
    bouncedLater,
    complained,
    unsubscribed,
  };
}
