/**
 * Counters of campaigns, by link and by hour as well. Each event of their mails updates them. The
 * mails that left are added up and written once for each transaction.
 */

import type { Statement } from "bun:sqlite";
import { eq, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { campaignCounts, campaignLinks } from "../../db/schema/campaigns.ts";
import { perApp } from "../../lib/per-app.ts";

export type Stats = ReturnType<typeof createStats>;

type Counts = typeof campaignCounts.$inferSelect;
type Counter = Exclude<keyof Counts, "campaignSeq" | `forgiven${string}`>;

type HourCounter = "opens" | "clicks";

type SinceResumed = { left: number; bounced: number; complained: number };

const HOUR_MS = 60 * 60 * 1000;
/** More than the hours from 1970 to the year 3000, so one number can name a campaign and an hour. */
const HOUR_NUMBERS = 2 ** 24;

/** The start of the hour. */
const hourOf = (at: number): number => Math.floor(at / HOUR_MS) * HOUR_MS;

export const campaignStats = perApp(createStats);

function createStats({ db, writer }: App) {
  // Prepared once, because one of them runs for every mail that is settled.
  const additions = new Map<Counter, Statement<unknown, [number, number]>>();

  const findSinceResumed = db.sqlite.prepare<SinceResumed, [number]>(`
    SELECT sent + bounced - bounced_later - forgiven_mails AS left, bounced - forgiven_bounces AS bounced,
           complained - forgiven_complaints AS complained
    FROM campaign_counts WHERE campaign_seq = +?`);

  /** The mails that left, by campaign and by the start of an hour. */
  const sentByCampaign = writer.tally<number>((campaignSeq, mails) =>
    add(campaignSeq, "sent", mails),
  );
  const addSentInHour = prepareSentInHour(db);
  const sentByHour = writer.tally<number>((key, mails) => {
    const hour = (key % HOUR_NUMBERS) * HOUR_MS;
    addSentInHour.run({ campaignSeq: Math.floor(key / HOUR_NUMBERS), hour, mails });
  });

  const hourAdditions = {
    opens: prepareHourAddition(db, "opens"),
    clicks: prepareHourAddition(db, "clicks"),
  };

  function additionTo(counter: Counter): Statement<unknown, [number, number]> {
    const { name } = campaignCounts[counter];
    const statement =
      additions.get(counter) ??
      db.sqlite.prepare<unknown, [number, number]>(
        `UPDATE campaign_counts SET ${name} = ${name} + ? WHERE campaign_seq = +?`,
      );
    additions.set(counter, statement);
    return statement;
  }

  function add(campaignSeq: number, counter: Counter, by = 1): void {
    additionTo(counter).run(by, campaignSeq);
  }

  /** Counts for the circuit breaker, which restart when a person resumes the campaign. */
  function sinceResumed(campaignSeq: number): SinceResumed {
    const stored = findSinceResumed.get(campaignSeq);
    if (stored === null) return { left: 0, bounced: 0, complained: 0 };
    return { ...stored, left: stored.left + sentByCampaign.pending(campaignSeq) };
  }

  /** Part of a change: restarts the counts of the circuit breaker. */
  function forgive(campaignSeq: number): void {
    db.update(campaignCounts)
      .set({
        forgivenMails: sql`${campaignCounts.sent} + ${sentByCampaign.pending(campaignSeq)} + ${campaignCounts.bounced} - ${campaignCounts.bouncedLater}`,
        forgivenBounces: sql`${campaignCounts.bounced}`,
        forgivenComplaints: sql`${campaignCounts.complained}`,
      })
      .where(eq(campaignCounts.campaignSeq, campaignSeq))
      .run();
  }

  function addHour(campaignSeq: number, at: number, kind: HourCounter): void {
    hourAdditions[kind].run({ campaignSeq, hour: hourOf(at) });
  }

  return {
    /** Part of a change: adds to one counter. */
    add,

    sinceResumed,

    /** Number of recipients whose mails are written so far. */
    recipients: (campaignSeq: number): number => readCounts({ db }, campaignSeq).totalRecipients,

    forgive,

    /**
     * Part of a change: counts a mail that a server accepted at the time `at`. Returns true if it is
     * the campaign's first one in its transaction.
     */
    sent(campaignSeq: number, at: number): boolean {
      const isFirst = sentByCampaign.pending(campaignSeq) === 0;
      sentByCampaign.add(campaignSeq, 1);
      sentByHour.add(campaignSeq * HOUR_NUMBERS + Math.floor(at / HOUR_MS), 1);
      return isFirst;
    },

    /** Part of a change: counts an open by a person; `isFirst` if it is the first of this mail. */
    open(campaignSeq: number, { at, isFirst }: { at: number; isFirst: boolean }): void {
      if (isFirst) add(campaignSeq, "opened");
      addHour(campaignSeq, at, "opens");
    },

    /** Part of a change: counts a click by a person. */
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
  };
}

export function readCounts({ db }: Pick<App, "db">, campaignSeq: number): Counts {
  const match = eq(campaignCounts.campaignSeq, campaignSeq);
  const row = db.select().from(campaignCounts).where(match).limit(1).get();
  if (row === undefined) throw new Error("a campaign without counters");
  return row;
}

/** A statement that adds one to a counter of an hour, and creates the row of the hour first. */
function prepareHourAddition({ sqlite }: Db, counter: HourCounter) {
  return sqlite.prepare<unknown, [{ campaignSeq: number; hour: number }]>(`
    INSERT INTO campaign_hours (campaign_seq, hour, sent, opens, clicks)
    VALUES ($campaignSeq, $hour, 0, ${Number(counter === "opens")}, ${Number(counter === "clicks")})
    ON CONFLICT (campaign_seq, hour) DO UPDATE SET ${counter} = ${counter} + 1`);
}

/** A statement that adds to the mails of an hour; nothing if the campaign was deleted meanwhile. */
function prepareSentInHour({ sqlite }: Db) {
  return sqlite.prepare<unknown, [{ campaignSeq: number; hour: number; mails: number }]>(`
    INSERT INTO campaign_hours (campaign_seq, hour, sent, opens, clicks)
    SELECT seq, $hour, $mails, 0, 0 FROM campaigns WHERE seq = +$campaignSeq
    ON CONFLICT (campaign_seq, hour) DO UPDATE SET sent = sent + excluded.sent`);
}
