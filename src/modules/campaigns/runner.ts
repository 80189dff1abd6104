/**
 * Advances all campaigns: it starts those that are due, cancels mails, writes audiences, and
 * finishes campaigns without open mails. One timer sleeps until the next scheduled start. The state
 * of a campaign is in the database only.
 *
 * This loop is not that of lib/worker.ts, because rounds overlap: the start of a campaign does not
 * wait until the mails of another, cancelled campaign are marked, which may take a minute.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { Cancellation } from "../../outbox/cancel.ts";
import type { Expansion } from "./expand.ts";
import { DOMAIN_LOST, isWaitingForDomain, type Lifecycle } from "./lifecycle.ts";
import type { CampaignRow } from "./present.ts";

export type Runner = ReturnType<typeof createRunner>;

/** Mails cancelled in one change: about ten milliseconds of work. */
const SLICE = 250;
const CANCELLED = "The campaign was cancelled.";

export function createRunner(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  lifecycle: Lifecycle;
  expansion: Expansion;
  cancellation: Pick<Cancellation, "ofCampaign">;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
}) {
  const { writer, clock, log, lifecycle, expansion } = deps;
  const findOpen = deps.db.sqlite.prepare<{ open: number }, [number]>(`
    SELECT EXISTS (SELECT 1 FROM emails
                   WHERE campaign_seq = ? AND next_at IS NOT NULL) AS open`);
  const findCancelled = deps.db.sqlite.prepare<{ seq: number }, []>(`
    SELECT campaigns.seq FROM campaigns
    WHERE status = 'CANCELLED'
      AND EXISTS (SELECT 1 FROM emails
                  WHERE campaign_seq = campaigns.seq AND status = 'QUEUED' AND next_at IS NOT NULL)`);
  const underWay = new Map<number, Promise<void>>();
  let isRunning = false;
  let cancelTimer = () => {};

  /** Does one round of work on all campaigns. */
  async function round(): Promise<void> {
    const started = await writer.write(lifecycle.startDue());
    for (const { id, name } of started) log.info("campaign started", { campaign: id, name });
    for (const { seq } of findCancelled.all()) await cancelMails(seq);
    for (const campaign of lifecycle.inStatus(["PAUSED"])) {
      await resumeIfVerified(campaign);
      // The audience is fixed at the start, so it is also written while the campaign is paused.
      if (!isExpanded(campaign)) expandOnce(campaign);
    }
    for (const campaign of lifecycle.inStatus(["SENDING"])) {
      if (!isVerified(campaign)) await hold(campaign);
      else if (!isExpanded(campaign)) expandOnce(campaign);
      else if (findOpen.get(campaign.seq)?.open === 0) await finish(campaign);
    }
    sleep();
  }

  function isVerified({ projectSeq, from }: CampaignRow): boolean {
    return deps.isSenderVerified(projectSeq, domainOf(from));
  }

  /** Pauses a campaign whose sender's domain lost its verification, until it is verified again. */
  async function hold(campaign: CampaignRow): Promise<void> {
    await writer.write(() => lifecycle.pauseBecause(campaign.seq, DOMAIN_LOST));
    log.warn("a campaign was paused", { campaign: campaign.id, reason: DOMAIN_LOST });
  }

  async function resumeIfVerified(campaign: CampaignRow): Promise<void> {
    if (!isWaitingForDomain(campaign) || !isVerified(campaign)) return;
    await writer.write(lifecycle.resume(campaign.projectSeq, campaign.id));
    log.info("a campaign goes on", { campaign: campaign.id });
  }

  /** Marks the mails of a cancelled campaign. They no longer leave, so this may take a while. */
  async function cancelMails(campaignSeq: number): Promise<void> {
    const cancelSlice = () => deps.cancellation.ofCampaign(campaignSeq, CANCELLED, SLICE);
    while ((await writer.write(cancelSlice)) === SLICE) if (!isRunning) return;
  }

  function isExpanded({ audienceCursor, audienceEnd }: CampaignRow): boolean {
    return audienceCursor !== null && audienceEnd !== null && audienceCursor >= audienceEnd;
  }

  function expandOnce(campaign: CampaignRow): void {
    if (underWay.has(campaign.seq)) return;
    const work = expansion
      .run(campaign, () => !isRunning)
      .then(({ recipients, workMs }) =>
        log.info("the audience of a campaign was written", {
          campaign: campaign.id,
          recipients,
          workMs: Math.round(workMs),
        }),
      )
      .catch((error: unknown) => failed(campaign, error))
      .finally(() => {
        underWay.delete(campaign.seq);
        wake();
      });
    underWay.set(campaign.seq, work);
  }

  /** Pauses a campaign whose segment or filter was deleted: a person has to fix the audience. */
  async function failed(campaign: CampaignRow, error: unknown): Promise<void> {
    log.error("the audience of a campaign cannot be written", {
      campaign: campaign.id,
      error: describeError(error),
    });
    if (!(error instanceof AppError) || error.status === 503) return;
    const { message } = error;
    await writer.write(() => lifecycle.pauseBecause(campaign.seq, message));
  }

  async function finish(campaign: CampaignRow): Promise<void> {
    const finished = lifecycle.finish(campaign.projectSeq, campaign.id);
    await writer.write(finished).catch((error: unknown) => {
      // The campaign was paused or cancelled at the same moment, which takes precedence.
      if (!(error instanceof AppError)) throw error;
    });
  }

  function sleep(): void {
    cancelTimer();
    const next = lifecycle.nextDueAt();
    if (!isRunning || next === null) return;
    cancelTimer = clock.after(Math.max(0, next - clock.now()), wake);
  }

  function wake(): void {
    if (!isRunning) return;
    void tick();
  }

  function tick(): Promise<void> {
    return round().catch((error: unknown) =>
      log.error("campaigns could not be looked at", { error: describeError(error) }),
    );
  }

  return {
    wake,

    /** Does one round of work; called regularly, and by tests. */
    tick,

    /** Also starts campaigns that became due while no process ran. */
    start(): Promise<void> {
      isRunning = true;
      return tick();
    },

    async stop(): Promise<void> {
      isRunning = false;
      cancelTimer();
      await Promise.all(underWay.values());
    },
  };
}
