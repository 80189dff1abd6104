/** Writes to the log about campaigns, and announces their changes to the dashboard. */

import type { App } from "../../core/app.ts";
import { statement } from "../../db/statement.ts";
import { announceChange } from "../../events/announcements.ts";
import { withPages } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { pageUrl } from "../projects.ts";

const findProject = statement<{ projectSeq: number }, [string]>(
  "SELECT project_seq AS projectSeq FROM campaigns WHERE id = +?",
);

/** A log whose lines about a campaign have a link to its page. */
export const campaignLog = perApp((app: App) =>
  withPages(app.log, ({ campaign }) => {
    const found = typeof campaign === "string" ? findProject(app).get(campaign) : null;
    return found === null ? null : pageUrl(app, found.projectSeq, `campaigns/${String(campaign)}`);
  }),
);

/** Part of a change: tells the dashboard that a campaign was created, changed or removed. */
export function noteCampaignChange(
  app: App,
  { projectSeq, id }: { projectSeq: number; id: string },
): void {
  announceChange(app, { projectSeq, type: "campaign.changed", id });
}
