/**
 * Suppresses the address of a mail that bounced (docs/delivery.md#R2): for good if the address does
 * not exist, and for some days after several soft bounces without a delivery between them.
 */

import type { Db } from "../db/open.ts";
import type { ReplyClass } from "../protocols/smtp/reply-classes.ts";

type BouncedMail = {
  seq: number;
  projectSeq: number;
  /** Null if the contact was deleted. */
  contactSeq: number | null;
  to: string | null;
  class: ReplyClass;
  at: number;
};

type BounceReason = "HARD_BOUNCE" | "SOFT_BOUNCE";

type SoftBounceLimits = {
  /** This many soft bounces suppress an address; 0 if none ever do. */
  bounces: number;
  /** They must be within this time. */
  withinDays: number;
  /** The time for which the address is then suppressed. */
  forDays: number;
};

/** Part of a change. Returns the reason for which the address is suppressed; null if it is not. */
export type SuppressBounced = (mail: BouncedMail) => BounceReason | null;

/** Adds an entry to the suppression list; part of a change. */
type Suppress = (
  projectSeq: number,
  address: string,
  entry: { reason: BounceReason; at: number; emailSeq: number; expiresAt: number | null },
) => void;

const DAY_MS = 24 * 60 * 60_000;
/** The newest mails of a contact to an address that are considered. */
const MAX_MAILS = 200;

/**
 * Failures of the mailbox. Blocks, failed authentication, and faults of networks or DNS are not: they
 * are no fault of the recipient.
 */
const SOFT: ReadonlySet<string> = new Set<ReplyClass>(["mailbox_full", "temporary"]);

type PastMail = { bouncedAt: number | null; reachedAt: number | null; class: string | null };

export function createBounceSuppression(deps: {
  db: Db;
  limits: SoftBounceLimits;
  suppress: Suppress;
}): SuppressBounced {
  const { limits, suppress } = deps;
  // A report names its class; otherwise the attempt that bounced has it.
  const pastMails = deps.db.sqlite.prepare<PastMail, [number, string]>(`
    SELECT iif(status = 'BOUNCED', bounced_at, NULL) AS bouncedAt,
           iif(status = 'BOUNCED', NULL, max(coalesce(delivered_at, 0), coalesce(opened_at, 0),
                                             coalesce(clicked_at, 0))) AS reachedAt,
           iif(status <> 'BOUNCED', NULL, coalesce(
             (SELECT class FROM email_reports WHERE email_seq = emails.seq AND kind = 'BOUNCE'),
             (SELECT class FROM attempts WHERE email_seq = emails.seq AND outcome = 'bounced')
           )) AS class
    FROM emails WHERE contact_seq = +? AND to_address = +? ORDER BY seq DESC LIMIT ${MAX_MAILS}`);

  /**
   * Soft bounces of the contact at this address since its latest delivery there, within the time of
   * the limit. The contact may have had another address before.
   */
  function softBounces(contactSeq: number, address: string, now: number): number {
    const mails = pastMails.all(contactSeq, address);
    const reached = mails.map(({ reachedAt }) => reachedAt ?? 0);
    const since = Math.max(now - limits.withinDays * DAY_MS, ...reached);
    return mails.filter(
      ({ bouncedAt, class: found }) =>
        bouncedAt !== null && bouncedAt > since && found !== null && SOFT.has(found),
    ).length;
  }

  return (mail) => {
    const { seq, projectSeq, contactSeq, to, at } = mail;
    if (to === null) return null;
    if (mail.class === "no_such_recipient") {
      suppress(projectSeq, to, { reason: "HARD_BOUNCE", at, emailSeq: seq, expiresAt: null });
      return "HARD_BOUNCE";
    }
    if (!SOFT.has(mail.class) || contactSeq === null || limits.bounces === 0) return null;
    if (softBounces(contactSeq, to, at) < limits.bounces) return null;
    const expiresAt = at + limits.forDays * DAY_MS;
    suppress(projectSeq, to, { reason: "SOFT_BOUNCE", at, emailSeq: seq, expiresAt });
    return "SOFT_BOUNCE";
  };
}
