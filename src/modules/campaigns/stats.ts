/** Statistics of a campaign, read from counters that are kept with the events. */

import { asc, desc, eq, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaignCounts, campaignHours, campaignLinks } from "../../db/schema/campaigns.ts";
import { isoTime } from "../../lib/clock.ts";
import type { CampaignStats } from "./model.ts";

export type Stats = ReturnType<typeof createStats>;

type Counter = Exclude<keyof typeof campaignCounts.$inferSelect, "campaignSeq">;

const HOUR_MS = 60 * 60 * 1000;
const MOST_LINKS = 1000;

export function createStats({ db }: { db: Db }) {
  function add(campaignSeq: number, counter: Counter, by = 1): void {
    const column = campaignCounts[counter];
    db.update(campaignCounts)
      .set({ [counter]: sql`${column} + ${by}` })
      .where(eq(campaignCounts.campaignSeq, campaignSeq))
      .run();
  }

  function counts(campaignSeq: number) {
    const match = eq(campaignCounts.campaignSeq, campaignSeq);
    const row = db.select().from(campaignCounts).where(match).limit(1).get();
    if (row === undefined) throw new Error("a campaign without counters");
    const { campaignSeq: _, ...found } = row;
    return found;
  }

  function addHour(campaignSeq: number, at: number, kind: "opens" | "clicks"): void {
    const hour = Math.floor(at / HOUR_MS) * HOUR_MS;
    db.insert(campaignHours)
      .values({
        campaignSeq,
        hour,
        opens: kind === "opens" ? 1 : 0,
        clicks: kind === "clicks" ? 1 : 0,
      })
      .onConflictDoUpdate({
        target: [campaignHours.campaignSeq, campaignHours.hour],
        set: { [kind]: sql`${campaignHours[kind]} + 1` },
      })
      .run();
  }

  return {
    /** Part of a change. */
    add,

    counts,

    /** Part of a change: an open by a person; `isFirst` if it is their first of this mail. */
    open(campaignSeq: number, { at, isFirst }: { at: number; isFirst: boolean }): void {
      if (isFirst) add(campaignSeq, "opened");
      addHour(campaignSeq, at, "opens");
    },

    /** Part of a change: a click by a person. */
    click(
      campaignSeq: number,
      click: { at: number; url: string; isFirst: boolean; isFirstOfLink: boolean },
    ): void {
      if (click.isFirst) add(campaignSeq, "clicked");
      addHour(campaignSeq, click.at, "clicks");
      const uniqueClicks = click.isFirstOfLink ? 1 : 0;
      db.insert(campaignLinks)
        .values({ campaignSeq, url: click.url, clicks: 1, uniqueClicks })
        .onConflictDoUpdate({
          target: [campaignLinks.campaignSeq, campaignLinks.url],
          set: {
            clicks: sql`${campaignLinks.clicks} + 1`,
            uniqueClicks: sql`${campaignLinks.uniqueClicks} + ${uniqueClicks}`,
          },
        })
        .run();
    },

    read(campaignSeq: number): CampaignStats {
      const found = counts(campaignSeq);
      const { totalRecipients, sent, bounced, failed, suppressed, cancelled } = found;
      const settled = sent + bounced + failed + suppressed + cancelled;
      const rate = (part: number) => (sent === 0 ? 0 : Math.min(1, part / sent));
      return {
        ...found,
        queued: Math.max(0, totalRecipients - settled),
        deliveryRate: rate(found.delivered),
        openRate: rate(found.opened),
        clickRate: rate(found.clicked),
        bounceRate: rate(bounced),
        complaintRate: rate(found.complained),
        unsubscribeRate: rate(found.unsubscribed),
        links: db
          .select({
            url: campaignLinks.url,
            clicks: campaignLinks.clicks,
            uniqueClicks: campaignLinks.uniqueClicks,
          })
          .from(campaignLinks)
          .where(eq(campaignLinks.campaignSeq, campaignSeq))
          .orderBy(desc(campaignLinks.clicks))
          .limit(MOST_LINKS)
          .all(),
        timeline: db
          .select()
          .from(campaignHours)
          .where(eq(campaignHours.campaignSeq, campaignSeq))
          .orderBy(asc(campaignHours.hour))
          .all()
          .map(({ hour, opens, clicks }) => ({ at: isoTime(hour), opens, clicks })),
      };
    },
  };
}
