/** Writes the mails of a campaign for many contacts in one statement. */

import type { Db } from "../db/open.ts";
import { bytesOfRow } from "../db/usage.ts";
import type { UsageCounter } from "../db/usage-counter.ts";

type CampaignEmails = {
  campaign: {
    seq: number;
    projectSeq: number;
    subject: string;
    category: string;
    topicSeq: number | null;
  };
  messageSeq: number;
  /** The variant of an A/B test; null for other mail. */
  variant: string | null;
  contactSeqs: readonly number[];
  /** The earliest time at which the mails may leave. */
  dueAt: number;
  now: number;
};

/** The suppressed mails are among the inserted ones. */
type InsertedEmails = { inserted: number; suppressed: number };

type Values = {
  /** The time of a UUIDv7: its first twelve hexadecimal digits, with a hyphen after the eighth. */
  time: string;
  messageSeq: number;
  campaignSeq: number;
  variant: string | null;
  subject: string;
  now: number;
  dueAt: number;
  /** 1 for a notice to all contacts of the audience, also if they have unsubscribed. */
  isNotice: 0 | 1;
  topicSeq: number | null;
  /** JSON array. */
  seqs: string;
};

const BYTES_OF_MAIL = bytesOfRow("emails", { variables: null, tags: null });

/**
 * Part of a change. Contacts that are not subscribed, not in the topic of the campaign or have paused get
 * none, unless it is a notice, nor do those that have a mail of this campaign already; suppressed ones get a mail that is SUPPRESSED from the start.
 */
export function createCampaignInsert({ db, usage }: { db: Db; usage: UsageCounter }) {
  // SQLite makes the ids (UUIDv7, RFC 9562 §5.7), because a thousand round trips would cost more.
  const insert = db.sqlite.prepare<unknown, [Values]>(`
    INSERT INTO emails (id, project_seq, contact_seq, message_seq, source, campaign_seq, variant, to_address,
                        subject, status, priority, next_at, created_at)
    SELECT $time || '-7' || substr(random, 1, 3) || '-' ||
             substr('89ab', 1 + (asked.key & 3), 1) || substr(random, 4, 3) || '-' ||
             substr(random, 7, 12),
           project_seq, seq, $messageSeq, 'CAMPAIGN', $campaignSeq, $variant, email, $subject,
           iif(suppressed, 'SUPPRESSED', 'QUEUED'), 1, iif(suppressed, NULL, $dueAt), $now
    FROM (
      SELECT asked.key, contacts.seq, contacts.project_seq, contacts.email,
             lower(hex(randomblob(9))) AS random,
             EXISTS (SELECT 1 FROM suppressions
                     WHERE suppressions.project_seq = contacts.project_seq
                       AND suppressions.email = contacts.email) AS suppressed
      FROM json_each($seqs) AS asked CROSS JOIN contacts ON contacts.seq = asked.value
      WHERE $isNotice OR (
        contacts.is_subscribed AND coalesce(contacts.paused_until, 0) <= $now
        AND ($topicSeq IS NULL OR coalesce(
          (SELECT chosen.is_subscribed FROM topic_subscriptions AS chosen
           WHERE chosen.topic_seq = $topicSeq AND chosen.contact_seq = contacts.seq),
          (SELECT topics.default_state = 'SUBSCRIBED' FROM topics
           WHERE topics.seq = $topicSeq))))) AS asked
    WHERE true
    ON CONFLICT DO NOTHING`);
  const lastEmail = db.sqlite.prepare<{ seq: number | null }, []>(
    "SELECT max(seq) AS seq FROM emails",
  );
  const countSuppressed = db.sqlite.prepare<{ n: number }, [number]>(
    "SELECT count(*) AS n FROM emails WHERE seq > +? AND status = 'SUPPRESSED'",
  );

  return (mails: CampaignEmails): InsertedEmails => {
    const { campaign, messageSeq, variant, contactSeqs, dueAt, now } = mails;
    const before = lastEmail.get()?.seq ?? 0;
    const hex = now.toString(16).padStart(12, "0");
    const { changes } = insert.run({
      time: `${hex.slice(0, 8)}-${hex.slice(8)}`,
      messageSeq,
      campaignSeq: campaign.seq,
      variant,
      subject: campaign.subject,
      now,
      dueAt,
      isNotice: campaign.category === "TRANSACTIONAL" ? 1 : 0,
      topicSeq: campaign.topicSeq,
      seqs: JSON.stringify(contactSeqs),
    });
    usage.addEmails(campaign.projectSeq, changes);
    usage.addBytes(campaign.projectSeq, changes * BYTES_OF_MAIL);
    return { inserted: changes, suppressed: countSuppressed.get(before)?.n ?? 0 };
  };
}
