/**
 * Stores what a report says of a mail: a bounce, a complaint or a delivery. Each kind counts once per mail, however
 * often a report arrives. A report may arrive before the outcome of the attempt is recorded; then the
 * transaction of the outcome applies it (report-effects.ts).
 */

import type { App } from "../core/app.ts";
import type { Db } from "../db/open.ts";
import type { REPORT_KINDS } from "../db/schema/emails.ts";
import { statement } from "../db/statement.ts";
import type { EventInput } from "../events/log.ts";
import type { ReplyClass } from "../protocols/smtp/reply-classes.ts";
import type { UsageCounter } from "../db/usage-counter.ts";
import type { SuppressBounced } from "./bounce-suppression.ts";
import { type BounceEffect, createReportEffects, type Reporter } from "./report-effects.ts";

/** A mail of which a report may be about. */
export type ReportedMail = {
  seq: number;
  id: string;
  /** The id of the first copy of its message, whose Message-ID it has; null for other mails. */
  groupId: string | null;
  projectSeq: number;
  /** Null if the contact was deleted. */
  contactSeq: number | null;
  to: string | null;
  fromAddress: string;
  /** When it was accepted, or the time for which it was scheduled. */
  acceptedAt: number;
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
  kind: (typeof REPORT_KINDS)[number];
  class: ReplyClass | null;
  receivedAt: number;
};

/** Longest stored reason, in UTF-16 units. */
const LONGEST_REASON = 1_000;
/** Mails with the same Message-ID and address that are looked at. */
const MAX_SUBMITTED = 10;

const MAIL_COLUMNS = `emails.seq, emails.id, emails.group_id AS groupId,
           emails.project_seq AS projectSeq, emails.contact_seq AS contactSeq, to_address AS "to",
           messages.from_address AS fromAddress,
           coalesce(emails.scheduled_at, emails.created_at) AS acceptedAt`;

const INTERRUPTED = `status = 'SENDING'
    AND EXISTS (SELECT 1 FROM email_reports WHERE email_seq = emails.seq)`;

/** The stored reason of a complaint is this text and the type of the feedback. */
const COMPLAINT_REASON = "The recipient reported the mail: ";

const DELIVERED = "The relay delivered the mail.";
const WEBHOOK_FORM = "webhook: ";

const findById = statement<ReportedMail, [string]>(`
  SELECT ${MAIL_COLUMNS}
  FROM emails JOIN messages ON messages.seq = emails.message_seq WHERE emails.id = +?`);

/** Returns null if there is no mail of this id. */
export function findReportedMail(app: App, emailId: string): ReportedMail | null {
  return findById(app).get(emailId);
}

const findCopy = statement<ReportedMail, [string, string, string]>(`
  SELECT ${MAIL_COLUMNS}
  FROM emails JOIN messages ON messages.seq = emails.message_seq
  WHERE emails.message_seq = (SELECT message_seq FROM emails WHERE id = +?)
    AND emails.group_id = +? AND to_address = +? LIMIT 1`);

/** The copy of a message that went to this address; null if none did. */
export function findCopyTo(app: App, groupId: string, address: string): ReportedMail | null {
  return findCopy(app).get(groupId, groupId, address);
}

const findBySubmittedId = statement<ReportedMail, [string, string]>(`
  SELECT ${MAIL_COLUMNS}
  FROM messages CROSS JOIN emails ON emails.message_seq = messages.seq
  WHERE messages.message_id = +? AND emails.to_address = +? LIMIT ${MAX_SUBMITTED}`);

/**
 * The mails of submitted messages with this Message-ID to this address. Their senders choose the id, so
 * several may have the same.
 */
export function findSubmittedMails(app: App, messageId: string, address: string): ReportedMail[] {
  return findBySubmittedId(app).all(messageId, address);
}

const removeWords = statement<unknown, [string]>(`
  UPDATE email_reports SET reason = '', excerpt = ''
  WHERE email_seq IN (SELECT value FROM json_each(?))`);

/** Part of a change: removes the words of the reports about these mails. */
export function forgetReports(app: App, mails: readonly number[]): void {
  removeWords(app).run(JSON.stringify(mails));
}

export function createLateReports(deps: {
  db: Db;
  usage: Pick<UsageCounter, "addQueued">;
  recordEvent: (event: EventInput) => void;
  suppressBounced: SuppressBounced;
}) {
  const { sqlite } = deps.db;
  const effects = createReportEffects(deps);
  const findBySeq = sqlite.prepare<ReportedMail, [number]>(`
    SELECT ${MAIL_COLUMNS}
    FROM emails JOIN messages ON messages.seq = emails.message_seq WHERE emails.seq = +?`);
  const insert = sqlite.prepare<{ seq: number }, [Row]>(`
    INSERT INTO email_reports (email_seq, kind, received_at, form, class, status_code, reason,
                               reporting_mta, excerpt)
    VALUES ($emailSeq, $kind, $receivedAt, $form, $class, $statusCode, $reason, $reportingMta,
            $excerpt)
    ON CONFLICT (email_seq, kind) DO NOTHING RETURNING seq`);
  // A bounce comes first, because it may follow no complaint.
  const storedReports = sqlite.prepare<Pick<Row, "kind" | "class" | "reason" | "form">, [number]>(`
    SELECT kind, class, reason, form FROM email_reports WHERE email_seq = +? ORDER BY kind`);
  const findInterrupted = sqlite.prepare<{ seq: number }, []>(`
    SELECT seq FROM emails
    WHERE campaign_seq IS NULL AND next_at IS NOT NULL AND ${INTERRUPTED}
    UNION ALL
    SELECT seq FROM emails
    WHERE campaign_seq IN (SELECT seq FROM campaigns) AND next_at IS NOT NULL AND ${INTERRUPTED}`);

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

  /** Applies the reports that are stored about a mail. */
  function applyStored(emailSeq: number, at: number): void {
    const reports = storedReports.all(emailSeq);
    const mail = reports.length === 0 ? null : findBySeq.get(emailSeq);
    if (mail === null) return;
    for (const { kind, class: replyClass, reason, form } of reports) {
      const by = reporterOf(form, kind);
      if (kind === "DELIVERY") effects.deliver(mail, at);
      if (kind === "COMPLAINT") {
        effects.complain(mail, { feedbackType: feedbackTypeOf(reason), at, by });
      }
      if (kind === "BOUNCE" && replyClass !== null) {
        effects.bounce(mail, { class: replyClass, reason, at, by });
      }
    }
  }

  return {
    /**
     * Part of a change. Returns null if the report is known already, or if the mail cannot bounce,
     * for instance because it was never sent.
     */
    bounce(mail: ReportedMail, replyClass: ReplyClass, report: StoredReport): BounceEffect | null {
      if (!effects.canBounce(mail)) return null;
      if (!store(mail, report, { kind: "BOUNCE", class: replyClass })) return null;
      const { at, form } = report;
      const reason = report.reason.slice(0, LONGEST_REASON);
      const by = reporterOf(form, "BOUNCE");
      return effects.bounce(mail, { class: replyClass, reason, at, by });
    },

    /**
     * Part of a change. Returns false if the complaint is known already. A mail that bounced keeps
     * its state.
     */
    complain(
      mail: ReportedMail,
      feedbackType: string,
      report: Omit<StoredReport, "reason" | "statusCode">,
    ): boolean {
      const reason = `${COMPLAINT_REASON}${feedbackType}`;
      const row = { ...report, reason, statusCode: null };
      if (!store(mail, row, { kind: "COMPLAINT", class: null })) return false;
      const { at, form } = report;
      effects.complain(mail, { feedbackType, at, by: reporterOf(form, "COMPLAINT") });
      return true;
    },

    /**
     * Part of a change. Returns false if the delivery is known already. It is stored only if it may have
     * to be applied later, so that the usual report needs no row.
     */
    deliver(
      mail: ReportedMail,
      report: Pick<StoredReport, "form" | "reportingMta" | "at">,
    ): boolean {
      let isNew = false;
      if (!effects.isAcceptanceKnown(mail)) {
        const row = { ...report, reason: DELIVERED, statusCode: null, excerpt: "" };
        isNew = store(mail, row, { kind: "DELIVERY", class: null });
      }
      return effects.deliver(mail, report.at) || isNew;
    },

    /** Part of the change that records the outcome of an attempt, after it was recorded. */
    applyStored,

    /**
     * Part of a change, before mail is leased: applies the reports about mails that an earlier process
     * had leased. Whether these mails were accepted is unknown otherwise.
     */
    applyInterrupted(at: number): void {
      for (const { seq } of findInterrupted.all()) {
        const mail = findBySeq.get(seq);
        if (mail !== null) effects.accept(mail, at);
        applyStored(seq, at);
      }
    },
  };
}

/** The form of a report that a relay sent, such as `webhook: POSTMARK`. */
export function webhookForm(provider: string): string {
  return `${WEBHOOK_FORM}${provider}`;
}

function reporterOf(form: string, kind: Row["kind"]): Reporter {
  if (form.startsWith(WEBHOOK_FORM)) return "webhook";
  return kind === "COMPLAINT" ? "arf" : "dsn";
}

/** The reason is empty if the contact was deleted before. */
function feedbackTypeOf(reason: string): string {
  return reason.startsWith(COMPLAINT_REASON) ? reason.slice(COMPLAINT_REASON.length) : "other";
}

/** Whether the data of `email.bounced` says that a report announced the bounce of a sent mail. */
export function isReportedLater(data: unknown): boolean {
  return typeof data === "object" && data !== null && "reportedBy" in data;
}
