/** Pages of campaigns without their content, with their main numbers, newest first. */

import { and, eq, lt } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaignCounts, campaigns } from "../../db/schema/campaigns.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Page } from "../../http/envelope.ts";
import { containsText, type ListPage, newestRows } from "../../http/pagination.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { unsettled } from "./report.ts";
import type { Campaigns } from "./service.ts";
import type { CampaignSummary, CampaignSummaryQuery } from "./summary-model.ts";

export type CampaignSummaries = ReturnType<typeof createCampaignSummaries>;

const COLUMNS = {
  seq: campaigns.seq,
  id: campaigns.id,
  name: campaigns.name,
  subject: campaigns.subject,
  status: campaigns.status,
  statusReason: campaigns.statusReason,
  audienceType: campaigns.audienceType,
  segmentId: segments.id,
  segmentName: segments.name,
  scheduledAt: campaigns.scheduledAt,
  startedAt: campaigns.startedAt,
  finishedAt: campaigns.finishedAt,
  createdAt: campaigns.createdAt,
  counts: campaignCounts,
};

export function createCampaignSummaries(deps: {
  db: Db;
  listPage: ListPage;
  campaigns: Pick<Campaigns, "get">;
}) {
  const { db, listPage } = deps;

  const selectRows = () =>
    db
      .select(COLUMNS)
      .from(campaigns)
      .innerJoin(campaignCounts, eq(campaignCounts.campaignSeq, campaigns.seq))
      .leftJoin(segments, eq(segments.seq, campaigns.segmentSeq));
  type Row = ReturnType<ReturnType<typeof selectRows>["all"]>[number];

  function present({ seq: _seq, counts, ...row }: Row): CampaignSummary {
    const { totalRecipients, sent, delivered, opened, clicked } = counts;
    const { bounced, bouncedLater, complained, unsubscribed } = counts;
    return {
      ...row,
      scheduledAt: isoTimeOrNull(row.scheduledAt),
      startedAt: isoTimeOrNull(row.startedAt),
      finishedAt: isoTimeOrNull(row.finishedAt),
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

  /** Throws 404 if `before` names no campaign of the project. */
  return (projectSeq: number, query: CampaignSummaryQuery): Promise<Page<CampaignSummary>> => {
    const { status, name, before } = query;
    const filter = and(
      eq(campaigns.projectSeq, projectSeq),
      status === undefined ? undefined : eq(campaigns.status, status),
      name === undefined ? undefined : containsText(campaigns.name, name),
      before === undefined
        ? undefined
        : lt(campaigns.seq, deps.campaigns.get(projectSeq, before).seq),
    );
    return listPage(
      { scope: `${projectSeq}:campaign-summaries`, query },
      newestRows(db, { table: campaigns, filter, select: selectRows() }),
      (rows) => rows.map(present),
    );
  };
}
