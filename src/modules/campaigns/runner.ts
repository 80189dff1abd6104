/**
 * Advances all campaigns in rounds. A round starts the campaigns that are due, resumes and pauses
 * campaigns by the verification of their sender's domain, and finishes campaigns without open mails.
 * Work that may take long goes on beside the rounds: it writes audiences, counts the figures of A/B
 * tests, and marks the mails of cancelled campaigns. The state of a campaign is in the database only.
 */

import { isEndOfReads } from "../../db/reader.ts";
import { isStorageRefusal } from "../../db/refusal.ts";
import type { Change } from "../../db/writer.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { createWorker } from "../../lib/worker.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { cancellation } from "../../outbox/cancel.ts";
import { queueHold } from "../../outbox/queue-hold.ts";
import { advanceAbTest, isAbTestOver, nextDecisionAt } from "./ab-tests/ab-progress.ts";
import { abSenders } from "./ab-tests/ab-tests.ts";
import { campaignExpansion } from "./expand.ts";
import {
  DOMAIN_LOST,
  isAudienceRefused,
  isWaitingForDomain,
  campaignLifecycle,
} from "./lifecycle.ts";
import type { CampaignRow } from "./present.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { campaignLog } from "./log.ts";
import { isSenderVerified } from "../domains/domains.ts";

/** Mails cancelled in one change: about ten milliseconds of work. */
const SLICE = 250;
const CANCELLED = "The campaign was cancelled.";
/** The same as the interval of the recurring rounds. */
const PAUSE_AFTER_ERROR_MS = 5_000;

export const campaignRunner = perApp(createRunner);

function createRunner(app: App) {
  const { db, writer, clock } = app;
  const [log, lifecycle] = [campaignLog(app), campaignLifecycle(app)];
  const findOpen = db.sqlite.prepare<{ open: number }, [number]>(`
    SELECT EXISTS (SELECT 1 FROM emails
                   WHERE campaign_seq = ? AND next_at IS NOT NULL) AS open`);
  const findCancelled = db.sqlite.prepare<{ seq: number }, []>(`
    SELECT campaigns.seq FROM campaigns
    WHERE status = 'CANCELLED'
      AND EXISTS (SELECT 1 FROM emails
                  WHERE campaign_seq = campaigns.seq AND status = 'QUEUED' AND next_at IS NOT NULL)`);
  const worker = createWorker({
    clock,
    step: round,
    onError: reportError,
    pauseMs: PAUSE_AFTER_ERROR_MS,
  });
  const hold = queueHold(app);
  hold.onReleased(worker.wake);
  const longWork = createLongWork(app, {
    isStopping: () => !worker.isRunning(),
    onEnd: worker.wake,
    onError(error) {
      if (!isEndOfReads(error)) reportError(error);
      worker.pause();
    },
  });

  /** Does one round of work on all campaigns. Returns the delay until the next start or decision. */
  async function round(): Promise<number | null> {
    if (hold.isHeld()) return null;
    const started = await writer.write(lifecycle.startDue());
    for (const { id, name } of started) log.info("a campaign was started", { campaign: id, name });
    for (const { seq } of findCancelled.all()) longWork.cancelMails(seq);
    for (const campaign of lifecycle.inStatus(["PAUSED"])) await resumeIfVerified(campaign);
    for (const campaign of lifecycle.inStatus(["SENDING"])) await pauseUnlessVerified(campaign);
    for (const campaign of lifecycle.inStatus(["SENDING"])) longWork.advanceTest(campaign);
    writeAudiences();
    for (const campaign of lifecycle.inStatus(["SENDING"])) await finishIfDone(campaign);
    const nextAt = Math.min(lifecycle.nextDueAt() ?? Infinity, nextDecisionAt(app) ?? Infinity);
    return nextAt === Infinity ? null : Math.max(0, nextAt - clock.now());
  }

  function isVerified(campaign: CampaignRow): boolean {
    return abSenders(app, campaign).every((from) =>
      isSenderVerified(app, campaign.projectSeq, domainOf(from)),
    );
  }

  /** Pauses a campaign whose sender's domain lost its verification, until it is verified again. */
  async function pauseUnlessVerified(campaign: CampaignRow): Promise<void> {
    if (isVerified(campaign)) return;
    const paused = await writer.write(() => lifecycle.pauseBecause(campaign.seq, DOMAIN_LOST));
    if (paused !== null)
      log.warn("a campaign was paused", { campaign: paused, reason: DOMAIN_LOST });
  }

  async function resumeIfVerified(campaign: CampaignRow): Promise<void> {
    if (!isWaitingForDomain(campaign) || !isVerified(campaign)) return;
    const { projectSeq, id } = campaign;
    const resumed = await changeStatus(lifecycle.resumeVerified(projectSeq, id));
    if (resumed !== null)
      log.info("a campaign was resumed: its domain is verified again", { campaign: id });
  }

  /**
   * The audience is fixed at the start, so it is also written while the campaign is paused. Nothing
   * is awaited here, so an expansion that ends meanwhile cannot be started again at an old cursor.
   */
  function writeAudiences(): void {
    for (const campaign of lifecycle.inStatus(["SENDING", "PAUSED"]))
      if (isAudienceDue(campaign)) longWork.writeAudience(campaign);
  }

  async function finishIfDone(campaign: CampaignRow): Promise<void> {
    if (!isExpanded(campaign) || !isAbTestOver(app, campaign.seq)) return;
    if (findOpen.get(campaign.seq)?.open !== 0) return;
    await changeStatus(lifecycle.finish(campaign.projectSeq, campaign.id));
  }

  /** Resolves to null if a request changed the status at the same moment, which takes precedence. */
  async function changeStatus(change: Change<CampaignRow | null>): Promise<CampaignRow | null> {
    try {
      return await writer.write(change);
    } catch (error) {
      if (!(error instanceof AppError) || isStorageRefusal(error)) throw error;
      return null;
    }
  }

  function reportError(error: unknown): void {
    log.error("a round of the campaign runner failed", { error: describeError(error) });
  }

  return {
    wake: worker.wake,

    /** Does one round of work; called regularly, and by tests. */
    tick(): Promise<void> {
      worker.wake();
      return worker.idle();
    },

    /** Also starts campaigns that became due while no process ran. */
    start(): Promise<void> {
      worker.start();
      return worker.idle();
    },

    async stop(): Promise<void> {
      await worker.stop();
      await longWork.ended();
    },
  };
}

function isExpanded({ audienceCursor, audienceEnd }: CampaignRow): boolean {
  return audienceCursor !== null && audienceEnd !== null && audienceCursor >= audienceEnd;
}

/**
 * True if a part of the audience is not written yet, and can be. False for a row without an audience,
 * and for an audience that was refused: its expansion would end at once, again and again.
 */
function isAudienceDue(campaign: CampaignRow): boolean {
  const { audienceCursor, audienceEnd } = campaign;
  if (audienceCursor === null || audienceEnd === null) return false;
  return audienceCursor < audienceEnd && !isAudienceRefused(campaign);
}

/**
 * Work on one campaign that may take long: at most one audience, one cancellation and one step of an
 * A/B test of each campaign are under way at a time, however many rounds ask for it.
 */
function createLongWork(
  app: App,
  on: { isStopping: () => boolean; onEnd: () => void; onError: (error: unknown) => void },
) {
  const { isStopping, onEnd, onError } = on;
  const { writer } = app;
  const [log, lifecycle] = [campaignLog(app), campaignLifecycle(app)];
  const audiences = new Map<number, Promise<void>>();
  const cancellations = new Map<number, Promise<void>>();
  const tests = new Map<number, Promise<void>>();

  /** `work` resolves to whether the next round has something to do. */
  function startOnce(
    underWay: Map<number, Promise<void>>,
    campaignSeq: number,
    work: () => Promise<boolean>,
  ): void {
    if (underWay.has(campaignSeq)) return;
    const run = async (): Promise<void> => {
      let hasEffect = true;
      try {
        hasEffect = await work();
      } catch (error) {
        onError(error);
      }
      underWay.delete(campaignSeq);
      if (hasEffect) onEnd();
    };
    underWay.set(campaignSeq, run());
  }

  async function expand(campaign: CampaignRow): Promise<void> {
    try {
      const { recipients, workMs } = await campaignExpansion(app).run(campaign, isStopping);
      log.info("the audience of a campaign was written", {
        campaign: campaign.id,
        recipients,
        workMs: Math.round(workMs),
      });
    } catch (error) {
      if (isEndOfReads(error)) throw error;
      log.error("the audience of a campaign cannot be written", {
        campaign: campaign.id,
        error: describeError(error),
      });
      if (!(error instanceof AppError) || isStorageRefusal(error)) throw error;
      // The segment was deleted or exceeds a limit: a person has to fix it and resume the campaign.
      const { message } = error;
      await writer.write(() => lifecycle.pauseForAudience(campaign.seq, message));
    }
  }

  async function cancelAll(campaignSeq: number): Promise<void> {
    const cancelSlice = () => cancellation(app).ofCampaign(campaignSeq, CANCELLED, SLICE);
    while ((await writer.write(cancelSlice)) === SLICE) if (isStopping()) return;
  }

  return {
    writeAudience(campaign: CampaignRow): void {
      startOnce(audiences, campaign.seq, async () => {
        await expand(campaign);
        return true;
      });
    },

    /** Takes the step of an A/B test that is due. */
    advanceTest(campaign: CampaignRow): void {
      if (isAbTestOver(app, campaign.seq)) return;
      startOnce(tests, campaign.seq, () => advanceAbTest(app, campaign));
    },

    /** Marks the mails of a cancelled campaign, which no longer leave. */
    cancelMails(campaignSeq: number): void {
      startOnce(cancellations, campaignSeq, async () => {
        await cancelAll(campaignSeq);
        return true;
      });
    },

    /** Resolves when no work is under way. */
    async ended(): Promise<void> {
      await Promise.all([...audiences.values(), ...cancellations.values(), ...tests.values()]);
    },
  };
}
