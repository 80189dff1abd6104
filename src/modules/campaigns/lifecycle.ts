/**
 * What happens to a campaign: sent, scheduled, started, paused, resumed, cancelled, finished. Each
 * is one conditional update; mails of a campaign leave only while it is SENDING, so pausing and
 * cancelling a million of them touches one row.
 */

import { and, eq, inArray, lte, sql } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { campaigns, type CampaignStatus } from "../../db/schema/campaigns.ts";
import { contacts } from "../../db/schema/contacts.ts";
import { segments } from "../../db/schema/segments.ts";
import type { Change } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { fieldError } from "../../lib/errors.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { CampaignRow, Campaigns } from "./service.ts";
import { type CampaignAction, nextStatus } from "./states.ts";
import type { Stats } from "./stats.ts";

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** The one reason to pause that goes away by itself. */
export const DOMAIN_LOST = "The sender's domain is not verified any more.";
const NOBODY = "Nobody belonged to its audience when it was sent.";
/** A later time is a slip of the pen. */
const FURTHEST_MS = 5 * 366 * 24 * 60 * 60 * 1000;

export function createLifecycle(deps: {
  db: Db;
  clock: Clock;
  campaigns: Pick<Campaigns, "get">;
  store: Pick<EmailStore, "saveMessage">;
  stats: Pick<Stats, "forgive" | "recipients">;
  requireVerified: (projectSeq: number, from: string) => void;
  /** Part of a change: mails may leave that might not before. */
  wake: Change<void>;
}) {
  const { db, clock, store } = deps;
  const findStatus = db.sqlite.prepare<{ status: CampaignStatus }, [number]>(
    "SELECT status FROM campaigns WHERE seq = +?",
  );

  /** The one conditional update: nothing happens if the status changed meanwhile. */
  function move(
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
    if (status === "SENDING") deps.wake();
    return moved;
  }

  /** By its owner: it does not go on by itself any more. */
  function keepPaused(campaign: CampaignRow): CampaignRow {
    return db
      .update(campaigns)
      .set({ statusReason: null, updatedAt: clock.now() })
      .where(and(eq(campaigns.seq, campaign.seq), eq(campaigns.status, "PAUSED")))
      .returning()
      .get();
  }

  function requireVerified({ projectSeq, from }: CampaignRow): void {
    deps.requireVerified(projectSeq, from);
  }

  /** The audience is fixed now: contacts made later do not receive it. */
  function begin(campaign: CampaignRow, action: "send" | "start"): CampaignRow {
    const now = clock.now();
    store.saveMessage(sharedMessage(campaign), now);
    return move(campaign, action, {
      startedAt: now,
      scheduledAt: action === "send" ? null : campaign.scheduledAt,
      statusReason: null,
      audienceCursor: 0,
      audienceEnd: lastContact(campaign.projectSeq),
      audienceCondition: conditionNow(campaign),
    });
  }

  /** As it is now: whoever changes the segment later changes nothing for this campaign. */
  function conditionNow({ audienceType, audienceFilter, segmentSeq }: CampaignRow): string | null {
    if (audienceType !== "SEGMENT" || segmentSeq === null) return audienceFilter;
    const [segment] = db
      .select({ condition: segments.condition })
      .from(segments)
      .where(eq(segments.seq, segmentSeq))
      .limit(1)
      .all();
    return segment?.condition ?? null;
  }

  function lastContact(projectSeq: number): number {
    const [row] = db
      .select({ last: sql<number | null>`max(${contacts.seq})` })
      .from(contacts)
      .where(eq(contacts.projectSeq, projectSeq))
      .all();
    return row?.last ?? 0;
  }

  return {
    requireVerified,

    /** Asked for each of its mails, at its turn. */
    isSending: (seq: number): boolean => findStatus.get(seq)?.status === "SENDING",

    /** Throws what `send` would, before anything is counted. */
    ensure(campaign: CampaignRow, action: CampaignAction): void {
      nextStatus(campaign.status, action);
      if (action === "send" || action === "schedule") requireVerified(campaign);
    },

    sendNow(projectSeq: number, id: string): Change<CampaignRow> {
      return () => {
        const campaign = deps.campaigns.get(projectSeq, id);
        requireVerified(campaign);
        return begin(campaign, "send");
      };
    },

    schedule(projectSeq: number, id: string, at: number): Change<CampaignRow> {
      return () => {
        const campaign = deps.campaigns.get(projectSeq, id);
        const now = clock.now();
        nextStatus(campaign.status, "schedule");
        if (at <= now) throw fieldError("scheduledFor", "too_small", "must be in the future");
        if (at > now + FURTHEST_MS) {
          throw fieldError("scheduledFor", "too_big", "must be at most five years away");
        }
        requireVerified(campaign);
        return move(campaign, "schedule", { scheduledAt: at });
      };
    },

    pause(projectSeq: number, id: string): Change<CampaignRow> {
      return () => {
        const campaign = deps.campaigns.get(projectSeq, id);
        const wouldGoOn = campaign.status === "PAUSED" && campaign.statusReason === DOMAIN_LOST;
        return wouldGoOn ? keepPaused(campaign) : move(campaign, "pause", { statusReason: null });
      };
    },

    /** Part of a change: by the service itself, with a reason. Its id; null if it is not SENDING. */
    pauseBecause(seq: number, reason: string): string | null {
      const paused = db
        .update(campaigns)
        .set({ status: "PAUSED", statusReason: reason, updatedAt: clock.now() })
        .where(and(eq(campaigns.seq, seq), eq(campaigns.status, "SENDING")))
        .returning({ id: campaigns.id })
        .all();
      return paused[0]?.id ?? null;
    },

    resume(projectSeq: number, id: string): Change<CampaignRow> {
      return () => {
        const campaign = deps.campaigns.get(projectSeq, id);
        nextStatus(campaign.status, "resume");
        requireVerified(campaign);
        deps.stats.forgive(campaign.seq);
        return move(campaign, "resume", { statusReason: null });
      };
    },

    cancel(projectSeq: number, id: string): Change<CampaignRow> {
      return () =>
        move(deps.campaigns.get(projectSeq, id), "cancel", {
          finishedAt: clock.now(),
          statusReason: null,
        });
    },

    /** Starts what is due: also what was missed while no process ran. */
    startDue(): Change<CampaignRow[]> {
      return () =>
        db
          .select()
          .from(campaigns)
          .where(and(eq(campaigns.status, "SCHEDULED"), lte(campaigns.scheduledAt, clock.now())))
          .all()
          .map((campaign) => begin(campaign, "start"));
    },

    /** When the next scheduled campaign is due; null if none waits. */
    nextDueAt(): number | null {
      const [row] = db
        .select({ at: sql<number | null>`min(${campaigns.scheduledAt})` })
        .from(campaigns)
        .where(eq(campaigns.status, "SCHEDULED"))
        .all();
      return row?.at ?? null;
    },

    finish(campaign: CampaignRow): Change<CampaignRow> {
      return () => {
        const statusReason = deps.stats.recipients(campaign.seq) === 0 ? NOBODY : null;
        return move(campaign, "finish", { finishedAt: clock.now(), statusReason });
      };
    },

    inStatus: (statuses: readonly CampaignStatus[]): CampaignRow[] =>
      db
        .select()
        .from(campaigns)
        .where(inArray(campaigns.status, [...statuses]))
        .all(),
  };
}

/** The content that all mails of a campaign share; stored once. */
export function sharedMessage(campaign: CampaignRow) {
  return {
    projectSeq: campaign.projectSeq,
    fromAddress: campaign.from,
    fromName: campaign.fromName,
    replyTo: campaign.replyTo,
    html: campaign.body,
    headers: [],
    isMarketing: true,
    attachments: [],
  };
}
