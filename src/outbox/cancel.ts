/**
 * Cancels mails that wait in the queue, and records the event of each. A mail under way is left
 * alone: its attempt decides what becomes of it.
 */

import type { App } from "../core/app.ts";
import { eventLog } from "../events/log.ts";
import { perApp } from "../lib/per-app.ts";
import { stateAfter, TRANSITIONS } from "./states.ts";

type Cancelled = {
  seq: number;
  projectSeq: number;
  contactSeq: number | null;
  campaignSeq: number | null;
};

const RETURNING = `RETURNING seq, project_seq AS projectSeq, contact_seq AS contactSeq,
  campaign_seq AS campaignSeq`;

export const cancellation = perApp(createCancellation);

function createCancellation(app: App) {
  const { usage, clock } = app;
  const { sqlite } = app.db;
  const events = eventLog(app);
  const cancelOfContact = sqlite.prepare<Cancelled, [string, number]>(`
    UPDATE emails SET status = ${stateAfter("cancel")}, next_at = NULL, last_error = ?
    WHERE contact_seq = +? AND status = 'QUEUED' ${RETURNING}`);
  const cancelOfCampaign = sqlite.prepare<Cancelled, [string, number, number]>(`
    UPDATE emails SET status = ${stateAfter("cancel")}, next_at = NULL, last_error = ?
    WHERE seq IN (SELECT seq FROM emails
                  WHERE campaign_seq = +? AND status = 'QUEUED' AND next_at IS NOT NULL LIMIT +?)
    ${RETURNING}`);

  const cancelOne = sqlite.prepare<Cancelled, [string, number, string]>(`
    UPDATE emails SET status = ${stateAfter("cancel")}, next_at = NULL, last_error = ?
    WHERE project_seq = +? AND id = +? AND status = 'QUEUED' ${RETURNING}`);

  const cancelMails = sqlite.prepare<Cancelled, [string, string]>(`
    UPDATE emails SET status = ${stateAfter("cancel")}, next_at = NULL, last_error = ?
    WHERE seq IN (SELECT value FROM json_each(?)) AND status = 'QUEUED' ${RETURNING}`);

  function record(cancelled: readonly Cancelled[], reason: string): void {
    const at = clock.now();
    for (const { seq: emailSeq, projectSeq, contactSeq, campaignSeq } of cancelled) {
      if (campaignSeq === null) usage.addQueued(projectSeq, -1);
      const { event: name } = TRANSITIONS.cancel;
      events.record({ projectSeq, name, contactSeq, emailSeq, data: { reason }, at });
    }
  }

  return {
    /** Part of a change: cancels a mail. False if it is not queued, but under way or at its end. */
    ofOne(projectSeq: number, id: string, reason: string): boolean {
      const cancelled = cancelOne.all(reason, projectSeq, id);
      record(cancelled, reason);
      return cancelled.length > 0;
    },

    /** Part of a change: cancels those of these mails that are queued; returns their number. */
    ofMails(seqs: readonly number[], reason: string): number {
      const cancelled = cancelMails.all(reason, JSON.stringify(seqs));
      record(cancelled, reason);
      return cancelled.length;
    },

    /** Part of a change: cancels all queued mails of a contact. */
    ofContact(contactSeq: number, reason: string): void {
      record(cancelOfContact.all(reason, contactSeq), reason);
    },

    /** Part of a change: cancels up to `limit` queued mails of a campaign; returns their number. */
    ofCampaign(campaignSeq: number, reason: string, limit: number): number {
      const cancelled = cancelOfCampaign.all(reason, campaignSeq, limit);
      record(cancelled, reason);
      return cancelled.length;
    },
  };
}
