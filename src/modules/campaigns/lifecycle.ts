/**
 * The actions that change the status of a campaign: send, schedule, unschedule, start, pause,
 * resume, cancel, finish. Each is one conditional update. The mails of a campaign leave only while
 * it is SENDING, so pausing or cancelling a campaign of a million mails updates one row.
 */

import { and, eq, inArray, lte, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { campaigns, type CampaignStatus } from "../../db/schema/campaigns.ts";
import type { Change } from "../../db/writer.ts";
import { fieldError } from "../../lib/errors.ts";
import { cachePerIteration } from "../../lib/iteration-cache.ts";
import { emailStore, wakeSending } from "../../outbox/enqueue.ts";
import { refuseLocalTimes, requireSendableAbTest } from "./ab-tests/ab-drafts.ts";
import { beginAbTest } from "./ab-tests/ab-progress.ts";
import { createAudienceSnapshot } from "./audience-snapshot.ts";
import { startOf } from "./local-times.ts";
import { bodyFault, sharedMessage } from "./message.ts";
import type { CampaignRow } from "./present.ts";
import { campaignService } from "./service.ts";
import { type CampaignAction, nextStatus } from "./states.ts";
import { requireComplete, requireVerifiedSender } from "./sending-rules.ts";
import { campaignStats } from "./stats.ts";
import { perApp } from "../../lib/per-app.ts";
import { noteCampaignChange } from "./log.ts";

export type Lifecycle = ReturnType<typeof createLifecycle>;

/**
 * Reason of a pause that ends by itself once the domain is verified again. Rows store this text, and
 * `isWaitingForDomain` compares them with it, so it must not change.
 */
export const DOMAIN_LOST = "The sender's domain is not verified any more.";
/**
 * Start of the reason of a pause because the audience cannot be written. Rows store this text, and
 * `isAudienceRefused` compares them with it, so it must not change.
 */
const AUDIENCE_REFUSED = "The audience cannot be written: ";
const EMPTY_AUDIENCE = "Its audience was empty when it was sent.";
/** Longest time in advance; a later date is most likely a typing error. */
const FURTHEST_MS = 5 * 366 * 24 * 60 * 60 * 1000;

const UNSCHEDULED = { scheduledAt: null, startAt: null, timeZone: null, fallbackZone: null };

/** The time of a campaign in milliseconds since the epoch, and the names of zones. */
type SendingTime = { at: number; timeZone: string | null; fallbackZone: string | null };

type ScheduledTime = Pick<CampaignRow, "scheduledAt" | "timeZone" | "fallbackZone">;

const isAt = (campaign: ScheduledTime, time: ScheduledTime): boolean =>
  campaign.scheduledAt === time.scheduledAt &&
  campaign.timeZone === time.timeZone &&
  campaign.fallbackZone === time.fallbackZone;

export const campaignLifecycle = perApp(createLifecycle);

function createLifecycle(app: App) {
  const { clock } = app;
  const [campaigns, store, stats] = [campaignService(app), emailStore(app), campaignStats(app)];
  const rows = createStatusRows(app);
  const snapshotAudience = createAudienceSnapshot(app.db);

  function requireVerified({ projectSeq, from }: CampaignRow): void {
    requireVerifiedSender(app, projectSeq, from);
  }

  function requireSendable(campaign: CampaignRow): void {
    requireComplete(campaign);
    const fault = bodyFault(app, campaign);
    if (fault !== null) throw fieldError("body", "too_big", fault);
    requireSendableAbTest(app, campaign);
  }

  /** Starts sending and fixes the audience and the content. */
  function begin(campaign: CampaignRow, action: "send" | "start"): CampaignRow {
    const now = clock.now();
    const messageSeq = store.saveMessage(sharedMessage(app, campaign), now);
    beginAbTest(app, campaign);
    return rows.move(campaign, action, {
      messageSeq,
      startedAt: now,
      ...(action === "send" ? UNSCHEDULED : {}),
      statusReason: null,
      ...snapshotAudience(campaign),
    });
  }

  function resumeRow(campaign: CampaignRow): CampaignRow {
    nextStatus(campaign.status, "resume");
    requireVerified(campaign);
    stats.forgive(campaign.seq);
    return rows.move(campaign, "resume", { statusReason: null });
  }

  return {
    requireVerified,
    isSending: rows.isSending,
    inStatus: rows.inStatus,
    nextDueAt: rows.nextDueAt,
    pauseBecause: rows.pauseBecause,

    /**
     * Part of a change: pauses a campaign whose audience cannot be written. A campaign that is
     * paused already gets the new reason, so that its audience is not tried again before a person
     * resumes it.
     */
    pauseForAudience: (seq: number, message: string): string | null =>
      rows.pauseBecause(seq, AUDIENCE_REFUSED + message, ["SENDING", "PAUSED"]),

    /** Throws the errors of `send` and `schedule` early, before the audience is read. */
    ensure(campaign: CampaignRow, action: CampaignAction): void {
      nextStatus(campaign.status, action);
      if (action === "send" || action === "schedule") requireSendable(campaign);
      if (action === "send" || action === "schedule") requireVerified(campaign);
    },

    sendNow(projectSeq: number, id: string): Change<CampaignRow> {
      return () => {
        const campaign = campaigns.get(projectSeq, id);
        nextStatus(campaign.status, "send");
        requireSendable(campaign);
        requireVerified(campaign);
        return begin(campaign, "send");
      };
    },

    schedule(
      projectSeq: number,
      id: string,
      { at, timeZone, fallbackZone }: SendingTime,
    ): Change<CampaignRow> {
      return () => {
        const campaign = campaigns.get(projectSeq, id);
        const now = clock.now();
        nextStatus(campaign.status, "schedule");
        if (at <= now) throw fieldError("scheduledFor", "too_small", "must be in the future");
        if (at > now + FURTHEST_MS) {
          throw fieldError("scheduledFor", "too_big", "must be at most five years away");
        }
        requireSendable(campaign);
        requireVerified(campaign);
        // A repeated request changes nothing.
        refuseLocalTimes(app, campaign, timeZone);
        const time = { scheduledAt: at, timeZone, fallbackZone };
        if (campaign.status === "SCHEDULED" && isAt(campaign, time)) return campaign;
        return rows.move(campaign, "schedule", { ...time, startAt: startOf(time, now) });
      };
    },

    /** Makes a scheduled campaign a draft again; no mail of it exists yet. */
    unschedule(projectSeq: number, id: string): Change<CampaignRow> {
      return () =>
        rows.move(campaigns.get(projectSeq, id), "unschedule", {
          ...UNSCHEDULED,
        });
    },

    pause(projectSeq: number, id: string): Change<CampaignRow> {
      return () => {
        const campaign = campaigns.get(projectSeq, id);
        if (isWaitingForDomain(campaign)) return rows.keepPaused(campaign);
        return rows.move(campaign, "pause", { statusReason: null });
      };
    },

    resume:
      (projectSeq: number, id: string): Change<CampaignRow> =>
      () =>
        resumeRow(campaigns.get(projectSeq, id)),

    /** Resumes a campaign that waits for its domain. Returns null if a person paused it meanwhile. */
    resumeVerified(projectSeq: number, id: string): Change<CampaignRow | null> {
      return () => {
        const campaign = campaigns.get(projectSeq, id);
        return isWaitingForDomain(campaign) ? resumeRow(campaign) : null;
      };
    },

    cancel(projectSeq: number, id: string): Change<CampaignRow> {
      return () =>
        rows.move(campaigns.get(projectSeq, id), "cancel", {
          finishedAt: clock.now(),
          statusReason: null,
        });
    },

    /** Starts the campaigns that are due, including those that became due while no process ran. */
    startDue(): Change<CampaignRow[]> {
      return () => rows.due().map((campaign) => begin(campaign, "start"));
    },

    finish(projectSeq: number, id: string): Change<CampaignRow> {
      return () => {
        const campaign = campaigns.get(projectSeq, id);
        const statusReason = stats.recipients(campaign.seq) === 0 ? EMPTY_AUDIENCE : null;
        return rows.move(campaign, "finish", { finishedAt: clock.now(), statusReason });
      };
    },
  };
}

const START_AT = sql<number>`coalesce(${campaigns.startAt}, ${campaigns.scheduledAt})`;

/** Finds campaigns by their status, and changes it if it is still the expected one. */
function createStatusRows(app: App) {
  const { db, clock } = app;
  const findStatus = db.sqlite.prepare<{ status: CampaignStatus }, [number]>(
    "SELECT status FROM campaigns WHERE seq = +?",
  );
  const statusOf = cachePerIteration((seq) => findStatus.get(Number(seq))?.status ?? null);

  return {
    /** Called for each mail of a campaign just before it is sent. */
    isSending: (seq: number): boolean => statusOf(String(seq)) === "SENDING",

    inStatus: (statuses: readonly CampaignStatus[]): CampaignRow[] =>
      db
        .select()
        .from(campaigns)
        .where(inArray(campaigns.status, [...statuses]))
        .all(),

    due: (): CampaignRow[] =>
      db
        .select()
        .from(campaigns)
        .where(and(eq(campaigns.status, "SCHEDULED"), lte(START_AT, clock.now())))
        .all(),

    /** The time at which the next scheduled campaign is due; null if none is scheduled. */
    nextDueAt(): number | null {
      const [row] = db
        .select({ at: sql<number | null>`min(${START_AT})` })
        .from(campaigns)
        .where(eq(campaigns.status, "SCHEDULED"))
        .all();
      return row?.at ?? null;
    },

    /** Part of a change: changes the status as `action` does, and the given columns. */
    move(
      campaign: CampaignRow,
      action: CampaignAction,
      columns: Partial<CampaignRow> = {},
    ): CampaignRow {
      const status = nextStatus(campaign.status, action);
      const [moved] = db
        .update(campaigns)
        .set({ ...columns, status, updatedAt: clock.now() })
        .where(and(eq(campaigns.seq, campaign.seq), eq(campaigns.status, campaign.status)))
        .returning()
        .all();
      if (moved === undefined) throw new Error("a campaign changed within a transaction");
      if (status === "SENDING") wakeSending(app);
      noteCampaignChange(app, moved);
      return moved;
    },

    /**
     * Part of a change: pauses a campaign for a reason. Returns its id; null if its status is not
     * one of `from`.
     */
    pauseBecause(
      seq: number,
      reason: string,
      from: readonly CampaignStatus[] = ["SENDING"],
    ): string | null {
      const [paused] = db
        .update(campaigns)
        .set({ status: "PAUSED", statusReason: reason, updatedAt: clock.now() })
        .where(and(eq(campaigns.seq, seq), inArray(campaigns.status, [...from])))
        .returning({ id: campaigns.id, projectSeq: campaigns.projectSeq })
        .all();
      if (paused === undefined) return null;
      noteCampaignChange(app, paused);
      return paused.id;
    },

    /** Part of a change: removes the reason of a pause, so that it no longer ends by itself. */
    keepPaused(campaign: CampaignRow): CampaignRow {
      noteCampaignChange(app, campaign);
      return db
        .update(campaigns)
        .set({ statusReason: null, updatedAt: clock.now() })
        .where(and(eq(campaigns.seq, campaign.seq), eq(campaigns.status, "PAUSED")))
        .returning()
        .get();
    },
  };
}

/** True if the campaign resumes by itself once the domain of its sender is verified again. */
export function isWaitingForDomain({ status, statusReason }: CampaignRow): boolean {
  return status === "PAUSED" && statusReason === DOMAIN_LOST;
}

/** True if the campaign is paused because its audience cannot be written, until it is resumed. */
export function isAudienceRefused({ status, statusReason }: CampaignRow): boolean {
  return status === "PAUSED" && statusReason?.startsWith(AUDIENCE_REFUSED) === true;
}
