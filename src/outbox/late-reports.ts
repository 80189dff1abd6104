/**
 * Stores what a report says of a mail that a server had accepted: a bounce or a complaint. Each kind
 * counts once per mail, however often a report arrives.
 */

import type { Db } from "../db/open.ts";
import type { EventInput } from "../events/log.ts";
import type { ReplyClass } from "../protocols/smtp/reply-classes.ts";
import type { SuppressBounced } from "./bounce-suppression.ts";
import { isFrom, stateAfter, stateIfFrom, TRANSITIONS } from "./states.ts";

/** A mail of which a report may be about. */
export type ReportedMail = {
  seq: number;
  id: string;
  projectSeq: number;
  /** Null if the contact was deleted. */
  contactSeq: number | null;
  to: string | null;
  fromAddress: string;
};

/** The part of a report that is stored. */
export type StoredReport = {
  form: string;
  statusCode: string | null;
  reason: string;
  reportingMta: string | null;
  excerpt: string;
  at: number;
};

type Row = Omit<StoredReport, "at"> & {
  emailSeq: number;
  kind: "BOUNCE" | "COMPLAINT";
  class: ReplyClass | null;
  receivedAt: number;
};

export type LateReports = ReturnType<typeof createLateReports>;

/** Longest stored reason, in UTF-16 units. */
const LONGEST_REASON = 1_000;
/** Mails with the same Message-ID and address that are looked at. */
const MAX_SUBMITTED = 10;

export function createLateReports(deps: {
  db: Db;
  recordEvent: (event: EventInput) => void;
  suppressBounced: SuppressBounced;
}) {
  const { sqlite } = deps.db;
  const find = sqlite.prepare<ReportedMail, [string]>(`
    SELECT emails.seq, emails.id, emails.project_seq AS projectSeq,
           emails.contact_seq AS contactSeq, to_address AS "to",
           messages.from_address AS fromAddress
    FROM emails JOIN messages ON messages.seq = emails.message_seq WHERE emails.id = ?`);
  const findSubmitted = sqlite.prepare<ReportedMail, [string, string]>(`
    SELECT emails.seq, emails.id, emails.project_seq AS projectSeq,
           emails.contact_seq AS contactSeq, to_address AS "to",
           messages.from_address AS fromAddress
    FROM messages CROSS JOIN emails ON emails.message_seq = messages.seq
    WHERE messages.message_id = ? AND emails.to_address = ? LIMIT ${MAX_SUBMITTED}`);
  const bounce = sqlite.prepare<{ seq: number }, [number, string, number]>(`
    UPDATE emails
    SET status = ${stateAfter("bounceLater")}, bounced_at = ?,
        last_error = iif(to_address IS NULL, NULL, ?)
    WHERE seq = +? AND ${isFrom("bounceLater")} RETURNING seq`);
  const complain = sqlite.prepare<{ isComplained: number }, [number, number]>(`
    UPDATE emails
    SET complained_at = iif(${isFrom("complain")}, ?, complained_at),
        status = ${stateIfFrom("complain")}
    WHERE seq = +? RETURNING status = ${stateAfter("complain")} AS isComplained`);
  const insert = sqlite.prepare<{ seq: number }, [Row]>(`
    INSERT INTO email_reports (email_seq, kind, received_at, form, class, status_code, reason,
                               reporting_mta, excerpt)
    VALUES ($emailSeq, $kind, $receivedAt, $form, $class, $statusCode, $reason, $reportingMta,
            $excerpt)
    ON CONFLICT (email_seq, kind) DO NOTHING RETURNING seq`);
  const forget = sqlite.prepare<unknown, [number]>(`
    UPDATE email_reports SET reason = '', excerpt = ''
    WHERE email_seq IN (SELECT seq FROM emails WHERE contact_seq = ?)`);

  /** Returns false if a report of this kind is stored already. */
  function store(
    mail: ReportedMail,
    report: StoredReport,
    rest: Pick<Row, "kind" | "class">,
  ): boolean {
    const { at, ...stored } = report;
    // After the contact was deleted, nothing personal is stored.
    const words = mail.to === null ? { reason: "", excerpt: "" } : {};
    const row = { ...stored, ...words, ...rest, emailSeq: mail.seq, receivedAt: at };
    return insert.get({ ...row, reason: row.reason.slice(0, LONGEST_REASON) }) !== null;
  }

  function record(mail: ReportedMail, name: string, data: unknown, at: number): void {
    const { projectSeq, contactSeq, seq: emailSeq } = mail;
    deps.recordEvent({ projectSeq, name, contactSeq, emailSeq, data, at });
  }

  return {
    /** Returns null if there is no mail of this id. */
    find: (emailId: string): ReportedMail | null => find.get(emailId),

    /**
     * The mails of submitted messages with this Message-ID to this address. Their senders choose the
     * id, so several may have the same.
     */
    findSubmitted: (messageId: string, address: string): ReportedMail[] =>
      findSubmitted.all(messageId, address),

    /**
     * Part of a change. Returns null if the mail cannot bounce any more, for instance because it
     * bounced before; otherwise the reason for which its address is suppressed, if it is.
     */
    bounce(
      mail: ReportedMail,
      replyClass: ReplyClass,
      report: StoredReport,
    ): { suppressed: ReturnType<SuppressBounced> } | null {
      const { at } = report;
      const reason = report.reason.slice(0, LONGEST_REASON);
      if (bounce.get(at, reason, mail.seq) === null) return null;
      store(mail, report, { kind: "BOUNCE", class: replyClass });
      const words = mail.to === null ? "The contact was deleted." : reason;
      const data = { class: replyClass, reason: words, reportedBy: "dsn" };
      record(mail, TRANSITIONS.bounceLater.event, data, at);
      return { suppressed: deps.suppressBounced({ ...mail, class: replyClass, at }) };
    },

    /**
     * Part of a change. Returns false if the complaint is known already. A mail that bounced keeps
     * its state.
     */
    complain(mail: ReportedMail, feedbackType: string, report: StoredReport): boolean {
      if (!store(mail, report, { kind: "COMPLAINT", class: null })) return false;
      if (complain.get(report.at, mail.seq)?.isComplained !== 1) return true;
      const data = { feedbackType, reportedBy: "arf" };
      record(mail, TRANSITIONS.complain.event, data, report.at);
      return true;
    },

    /** Part of a change: removes the words of the reports about a contact's mails. */
    forget: (contactSeq: number): void => void forget.run(contactSeq),
  };
}

/** Whether the data of `email.bounced` says that a report announced the bounce of a sent mail. */
export function isReportedLater(data: unknown): boolean {
  return typeof data === "object" && data !== null && "reportedBy" in data;
}
