/**
 * Makes the message of a stored mail again, as it leaves, without sending it: for people who look at
 * a mail. It is composed like any other mail (compose/composer.ts), so an expensive template runs in
 * a thread and has the same time limit. Nothing is written, and the campaign of the mail is not told
 * what its templates cost.
 */

import type { Db } from "../db/open.ts";
import type { Composer } from "./compose/composer.ts";
import type { Prepared } from "./compose/prepare.ts";
import { createMailReader, type LeasedMail } from "./lane/rows.ts";
import type { Busy } from "./outcome.ts";

/** A stored mail, and what is still known of its content. */
export type StoredMail = {
  mail: LeasedMail;
  /** Whether its subject is a template that is rendered when it is sent. */
  hasSubjectTemplate: boolean;
  /** False if its content was removed: after its retention, or with its contact. */
  hasContent: boolean;
  /** Campaign mail is rendered with the data of its contact, which may have changed since. */
  usesCurrentData: boolean;
};

type Row = {
  seq: number;
  isPurged: number;
  hasVariables: number;
  isSent: number;
};

export type MailCopies = ReturnType<typeof createMailCopies>;

export function createMailCopies(deps: { db: Db; composer: Pick<Composer, "prepare"> }) {
  const { composer } = deps;
  const readMail = createMailReader(deps.db);
  const findMail = deps.db.sqlite.prepare<Row, [number, string]>(`
    SELECT e.seq, m.digest LIKE 'purged %' AS isPurged, e.variables IS NOT NULL AS hasVariables,
           e.sent_at IS NOT NULL AS isSent
    FROM emails e JOIN messages m ON m.seq = e.message_seq
    WHERE e.project_seq = +? AND e.id = +?`);

  return {
    find(projectSeq: number, id: string): StoredMail | null {
      const row = findMail.get(projectSeq, id);
      if (row === null) return null;
      const mail = readMail(row.seq);
      if (mail === null) return null;
      const isOfCampaign = mail.campaignSeq !== null;
      // The subject of campaign mail is a template until the mail is sent.
      const isTemplate = isOfCampaign && row.isSent === 0 && mail.to !== null;
      return {
        mail,
        hasSubjectTemplate: isTemplate,
        hasContent:
          row.isPurged === 0 && mail.to !== null && (row.hasVariables === 1 || isOfCampaign),
        usesCurrentData: row.hasVariables === 0,
      };
    },

    /**
     * Composes and signs the message of a mail that has its content. Without `isTracked` it has no
     * tracked links and no pixel, so that its reader is not counted as the recipient.
     */
    prepare({ mail }: StoredMail, { isTracked }: { isTracked: boolean }): Promise<Prepared | Busy> {
      const copy: LeasedMail = {
        ...mail,
        tracking: isTracked ? mail.tracking : "DISABLED",
        // Otherwise the subject would be rendered again, and the time counted against the campaign.
        campaignSeq: null,
      };
      return new Promise((resolve, reject) => composer.prepare(copy, { resolve, reject }));
    },
  };
}
