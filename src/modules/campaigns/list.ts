/** Pages of campaigns, newest first. */

import { and, count, desc, eq } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaigns } from "../../db/schema/campaigns.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type Cursors, olderThan } from "../../http/pagination.ts";
import type { Campaign, CampaignQuery } from "./model.ts";
import type { CampaignRow } from "./present.ts";

export function createCampaignList(deps: {
  db: Db;
  cursors: Cursors;
  presenterOf: (rows: readonly CampaignRow[]) => (row: CampaignRow) => Campaign;
}) {
  const { db, cursors, presenterOf } = deps;
  return (projectSeq: number, query: CampaignQuery): Page<Campaign> => {
    const scope = `${projectSeq}:campaigns`;
    const request = cursors.read(scope, query);
    const filter = and(
      eq(campaigns.projectSeq, projectSeq),
      query.status === undefined ? undefined : eq(campaigns.status, query.status),
    );
    const rows = db
      .select()
      .from(campaigns)
      .where(and(filter, olderThan(campaigns.seq, request)))
      .orderBy(desc(campaigns.seq))
      .limit(request.limit + 1)
      .all();
    const total = db.select({ total: count() }).from(campaigns).where(filter).all()[0]?.total ?? 0;
    return cursors.page(scope, request, rows, {
      total,
      positionOf: bySeq,
      present: presenterOf(rows),
    });
  };
}
