/** Pages of campaigns, newest first. */

import { and, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaigns } from "../../db/schema/campaigns.ts";
import type { Page } from "../../http/envelope.ts";
import { type ListPage, newestRows } from "../../http/pagination.ts";
import type { Campaign, CampaignQuery, ListedCampaign } from "./model.ts";
import type { CampaignRow } from "./present.ts";

export function createCampaignList(deps: {
  db: Db;
  listPage: ListPage;
  presenterOf: (rows: readonly CampaignRow[]) => (row: CampaignRow) => Campaign;
}) {
  const { db, listPage, presenterOf } = deps;
  return (projectSeq: number, query: CampaignQuery): Promise<Page<ListedCampaign>> =>
    listPage(
      { scope: `${projectSeq}:campaigns`, query },
      newestRows(db, {
        table: campaigns,
        filter: and(
          eq(campaigns.projectSeq, projectSeq),
          query.status === undefined ? undefined : eq(campaigns.status, query.status),
        ),
        select: db.select().from(campaigns),
      }),
      (rows) =>
        rows
          .map(presenterOf(rows))
          .map(({ design: _design, ...campaign }): ListedCampaign => campaign),
    );
}
